// The start page: progress, queues, the model and its training.
import "./page.js";
import { attempt, get } from "./api.js";
import { interval } from "./charts.js";
import { bar, count, element, figure, find, link, several, when, words } from "./dom.js";
import { watchTraining } from "./training.js";

async function show() {
  const found = await attempt(() => get("/api/overview"));
  if (!found) return;
  const { archive, progress, queues, model, training } = found;
  find("name").replaceChildren(words(archive.name));
  find("name").classList.remove("loading");
  find("summary").textContent = `${several(archive.pictures, "picture")}, ${count(archive.tagged)} of them tagged, ${several(archive.tags, "tag")}.`;
  showFirstSteps(archive, model, training);
  showProgress(progress, archive);
  showQueues(queues);
  showModel(model);
}

function showFirstSteps({ pictures, tagged }, model, training) {
  const steps = [];
  if (pictures === 0) steps.push(["There is no picture in this folder yet. Put some in, then scan it.", link("/archive", "Scan")]);
  else if (tagged === 0) steps.push(["Look at a few pictures and type their tags. Three pictures of a tag are enough for first proposals.", link("/review?queue=untagged", "Type the first tags")]);
  else if (!model && training.state === "running") steps.push(["The first model is being trained on the tags that are there. Proposals come with it.", null]);
  else if (!model) steps.push(["Train the first model on the tags that are there. Proposals come with it.", link("#learning", "To the model")]);
  find("first").hidden = steps.length === 0;
  find("steps").replaceChildren(...steps.map(([text, action]) => element("li", {}, element("p", {}, text), action)));
}

function showProgress(progress, archive) {
  find("progress").hidden = archive.pictures === 0;
  find("decisions").replaceChildren(count(progress.decisions), element("small", {}, `${count(progress.yes)} yes, ${count(progress.no)} no, ${count(progress.skip)} skipped`));
  find("reviewed").replaceChildren(`${Math.floor(100 * progress.share_reviewed)} %`, element("small", {}, `${count(progress.reviewed)} of ${count(archive.pictures)}`), bar(progress.share_reviewed));
  find("complete").replaceChildren(count(progress.tags_complete), element("small", {}, `of ${count(archive.tags)}`), bar(progress.tags_complete / Math.max(1, archive.tags)));
  const { missing } = progress;
  if (missing) find("missing").replaceChildren(`≈ ${count(Math.round(missing.estimate))}`, element("small", {}, `between ${count(Math.round(missing.low))} and ${count(Math.round(missing.high))}`), interval(missing));
  else find("missing").replaceChildren("–", element("small", {}, "once there is a model"));
}

function showQueues(queues) {
  find("queues").hidden = queues.length === 0;
  find("queue-list").replaceChildren(...queues.map(({ name, title, about, count: n }) => element("li", { class: n ? "queue" : "queue none" },
    element("h3", {}, title), element("p", { class: "big" }, n === null ? "–" : count(n)), element("p", { class: "quiet" }, about),
    element("p", { class: "targets" }, ...targets(name)))));
}

function targets(queue) {
  if (queue === "tag") return [link("/tags", "Choose a tag")];
  return [link(`/wall?queue=${encodeURIComponent(queue)}`, "By tag"), link(`/review?queue=${encodeURIComponent(queue)}`, "By picture")];
}

function showModel(model) {
  find("learning").hidden = false;
  find("model-line").replaceChildren(...(model ? [element("b", {}, `Model ${model.number}`), ` · ${when(model.made)}`] : ["There is no model yet."]));
  find("model-method").textContent = model?.method ?? "";
  find("model-metrics").replaceChildren(...Object.entries(model?.metrics ?? {}).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, figure(value)))));
}

show();
watchTraining({ finished: show });
