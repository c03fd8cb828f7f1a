// Where nothing is left to look at: the page says why, and goes on by itself when a model has learned.
import { get, pause } from "./api.js";
import { link, showEmpty } from "./dom.js";

const start = () => link("/", "Start");
const untagged = () => link("/review?queue=untagged", "Untagged pictures");
// why the server says that there is nothing: title, sentence, where to go
const REASONS = {
  pictures: () => ["No pictures yet", "There is no picture in this folder. Put some in, then scan it.", link("/archive", "Scan")],
  filters: () => ["No such picture", "No picture fits these filters.", link("/pictures", "All pictures"), start()],
  tags: () => ["No proposals yet", "No picture has a tag. Look at some and type theirs: three pictures of a tag are enough for first proposals.",
    link("/review?queue=untagged", "Type the first tags")],
  model: () => ["No proposals yet", "There is no model. It is trained on the tags that are there, and proposals come with it.", link("/#learning", "To the model")],
  decided: () => ["Nothing left here", "Nothing of this queue is left to decide.", start(), untagged()],
};

/** Say why there is nothing; `again` is called when the model has learned. */
export async function showNothing(reason, again) {
  const [title, text, ...links] = (REASONS[reason] ?? REASONS.decided)();
  showEmpty(title, text, ...links);
  let training = await get("/api/training");
  if (training.state !== "running") return;
  showEmpty("The model is learning", "Proposals come as soon as it is done; the page goes on by itself.");
  while (training.state === "running") {
    await pause(1);
    training = await get("/api/training");
  }
  again();
}
