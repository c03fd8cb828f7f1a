// The start page: progress, queues, the model and its training.
import "./page.js";
import { attempt, get } from "./api.js";
import { interval } from "./charts.js";
import { address, bar, count, element, find, link, several, small, when, words } from "./dom.js";
import { measureTable, qualityLines } from "./quality.js";
import { watchTraining } from "./training.js";

async function show() {
  const found = await attempt(() => get("/api/overview"));
  if (!found) return;
  const { archive, progress, queues, model, training } = found;
  find("name").replaceChildren(words(archive.name));
  find("name").classList.remove("loading");
  const [pictures, tags] = [several(archive.pictures, "picture"), several(archive.tags, "tag")];
  find("summary").textContent = `${pictures}, ${count(archive.tagged)} of them tagged, ${tags}.`;
  const isFirstTraining = !model && training.state === "running";
  showFirstStep(firstStep(archive, model, training));
  // before there is a model its training is all there is to see, and stands on top
  find(model ? "learning-columns" : "first-training").append(find("training"));
  showProgress(progress, archive, model);
  showMissingWhy(progress.missing, queues);
  showQueues(model ? queues : queues.filter(({ count: n }) => n));
  showModel(model);
  find("learning").hidden = isFirstTraining;
}

/** What to do first: a sentence and where to do it; null once there is a model. */
function firstStep({ pictures, tagged }, model, training) {
  if (pictures === 0) return ["This folder has no pictures yet. Add some, then scan it.", link("/archive", "Scan")];
  if (tagged === 0) {
    const text = "Tag a few pictures. Three pictures per tag are enough for the first proposals.";
    return [text, link("/review?queue=untagged", "Type the first tags")];
  }
  if (model) return null;
  const isRunning = training.state === "running";
  const text = isRunning ? "The first model is being trained on the existing tags." : "Train the first model on the existing tags.";
  return [`${text} It makes the first proposals.`, isRunning ? null : link("#learning", "To the model")];
}

function showFirstStep(step) {
  find("first").hidden = step === null;
  if (step) find("steps").replaceChildren(element("p", {}, step[0]), step[1] ?? "");
}

function showProgress({ decisions, yes, no, skip, reviewed, share_reviewed, tags_complete, missing }, { pictures, tags }, model) {
  const fill = (id, ...content) => find(id).replaceChildren(...content);
  const share = `${Math.floor(100 * share_reviewed)} %`;
  find("progress").hidden = pictures === 0 || (!model && decisions === 0);
  fill("decisions", count(decisions), small(`${count(yes)} yes, ${count(no)} no, ${count(skip)} skipped`));
  fill("reviewed", share, small(`${count(reviewed)} of ${count(pictures)}`), bar(share_reviewed));
  fill("complete", count(tags_complete), small(`of ${count(tags)}, with ${find("complete").dataset.answers} decisions and no open proposal`), bar(tags_complete / Math.max(1, tags)));
  if (!missing) return fill("missing", "–", small("once there is a model"));
  const [estimate, low, high] = [missing.estimate, missing.low, missing.high].map((n) => count(Math.round(n)));
  // where little is known of how complete tags are, one number would say too much
  if (missing.is_told === false) return fill("missing", `${low} to ${high}`, small("too early to say more"), interval(missing));
  return fill("missing", `≈ ${estimate}`, small(`between ${low} and ${high}`), interval(missing));
}

/** Why as many tags are not proposed as are missing. */
function showMissingWhy(missing, queues) {
  const proposed = queues.find(({ name }) => name === "missing")?.count ?? 0;
  find("missing-why").hidden = !missing || missing.is_told === false || (proposed === 0 && missing.estimate === 0);
  if (!missing) return;
  const right = Math.min(missing.proposed ?? 0, proposed);
  const rest = Math.max(0, missing.estimate - right);
  const more = rest ? `; about ${count(rest)} more missing tags have a lower probability` : "";
  find("missing-why").textContent =
    `${several(proposed, "tag is", "tags are")} proposed, with a probability of 20 % or more: about ${count(right)} of them ${right === 1 ? "is" : "are"} truly missing${more}.`;
}

function showQueues(queues) {
  find("queues").hidden = queues.length === 0;
  find("queue-list").replaceChildren(...queues.map(({ name, title, about, count: n }) => element(
    "li", { class: n ? "queue" : "queue none" },
    element("h3", {}, title), element("p", { class: "big" }, n === null ? "–" : count(n)),
    element("p", { class: "quiet" }, about), element("p", { class: "targets" }, ...targets(name)))));
}

function targets(queue) {
  if (find("queue-list").dataset.needTag.split(" ").includes(queue)) return [link("/tags", "Choose a tag")];
  if (find("queue-list").dataset.wantAll.split(" ").includes(queue)) return [link(address("/review", { queue }), "By picture")];
  return [link(address("/wall", { queue }), "By tag"), link(address("/review", { queue }), "By picture")];
}

function showModel(model) {
  const line = model ? [element("b", {}, `Model ${model.number}`), ` · ${when(model.made)}`] : ["There is no model yet."];
  find("model-line").replaceChildren(...line);
  const [sentence, measured] = qualityLines(model);
  find("model-quality").textContent = sentence;
  find("model-measured").textContent = measured;
  find("model-details").hidden = !model;
  find("model-method").textContent = model?.method ?? "";
  find("model-metrics").replaceChildren(measureTable(model?.metrics ?? {}));
}

show();
watchTraining({ started: show, finished: show });
