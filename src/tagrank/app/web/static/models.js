// The models that are kept; one of them answers.
import "./page.js";
import { attempt, get, post } from "./api.js";
import { count, element, figure, find, say, showEmpty, when } from "./dom.js";
import { watchTraining } from "./training.js";

async function show() {
  const found = await attempt(() => get("/api/models"));
  if (!found) return;
  const names = [...new Set(found.models.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].slice(0, 4);
  find("models").hidden = found.models.length === 0;
  find("empty").hidden = true;
  if (found.models.length === 0) showEmpty("No model yet", "The first one is trained on the tags that are there.");
  const heads = ["Model", "", "Made", ...names, "Decisions", "Seconds", "Gap", "Method"];
  document.querySelector("#models thead").replaceChildren(element("tr", {}, ...heads.map((name) => element("th", { scope: "col", class: name === "Made" || name === "Method" ? "word" : null }, name))));
  document.querySelector("#models tbody").replaceChildren(...found.models.map((model) => makeRow(model, names)));
}

function makeRow({ number, made, method, metrics, decisions, seconds, gap, current }, names) {
  const use = element("button", { type: "button", "aria-label": `Use model ${number}`, click: () => attempt(async () => {
    await post(`/api/models/${number}/use`);
    say(`Model ${number} answers now.`);
    await show();
  }) }, "Use");
  const cells = [...names.map((name) => figure(metrics?.[name])), decisions === null || decisions === undefined ? "–" : count(decisions),
    typeof seconds === "number" ? seconds.toFixed(1) : "–", typeof gap === "number" ? gap.toExponential(1) : "–"];
  return element("tr", { class: current ? "current" : null },
    element("th", { scope: "row" }, String(number)), element("td", { class: "date" }, current ? element("span", { class: "tag found" }, "answers") : use),
    element("td", { class: "date" }, when(made)), ...cells.map((text) => element("td", {}, text)), element("td", { class: "word method" }, method ?? "–"));
}

show();
watchTraining({ finished: show });
