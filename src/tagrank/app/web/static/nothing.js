// Where nothing is left to look at: the page says why, and goes on by itself when a model has learned.
import { get, pause } from "./api.js";
import { link, showEmpty } from "./dom.js";

const start = () => link("/", "Start");
const untagged = () => link("/review?queue=untagged", "Untagged pictures");
// why the server says that there is nothing: title, sentence, where to go
const REASONS = {
  pictures: () => ["No pictures yet", "This folder has no pictures. Add some, then scan it.", link("/archive", "Scan")],
  filters: () => ["No pictures found", "No picture matches these filters.", link("/pictures", "All pictures"), start()],
  tags: () => ["No proposals yet", "No picture has a tag. Tag a few pictures: three pictures per tag are enough for the first proposals.",
    link("/review?queue=untagged", "Type the first tags")],
  model: () => ["No proposals yet", "There is no model yet. Train it on the existing tags to get proposals.", link("/#learning", "To the model")],
  decided: () => ["All done", "Nothing is left to decide in this queue.", start(), untagged()],
};

/** Say why there is nothing; `again` is called when the model has learned. */
export async function showNothing(reason, again) {
  const [title, text, ...links] = (REASONS[reason] ?? REASONS.decided)();
  showEmpty(title, text, ...links);
  let training = await get("/api/training");
  if (training.state !== "running") return;
  showEmpty("The model is learning", "Proposals appear here as soon as it is done.");
  while (training.state === "running") {
    await pause(1);
    training = await get("/api/training");
  }
  again();
}
