// Where nothing is left to look at: either all is decided, or the model is still learning.
import { get, pause } from "./api.js";
import { showEmpty } from "./dom.js";

/** Say which of the two it is; `again` is called when the model has learned. */
export async function showNothing(title, text, links, again) {
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
