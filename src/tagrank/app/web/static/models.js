// The models that are kept; one of them answers.
import "./page.js";
import { attempt, get, post } from "./api.js";
import { count, element, figure, find, say, showEmpty, table, when } from "./dom.js";
import { watchTraining } from "./training.js";

async function show() {
  const found = await attempt(() => get("/api/models"));
  if (!found) return;
  const names = [...new Set(found.models.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].slice(0, 4);
  find("models").hidden = found.models.length === 0;
  find("empty").hidden = true;
  if (found.models.length === 0) showEmpty("No model yet", "The first one is trained on the tags that are there.");
  const heads = ["Model", "", "Made", ...names, "Decisions", "Seconds", "Gap", "Method"];
  find("models").replaceChildren(table(heads, found.models.map((model) => makeRow(model, names))));
}

const number = (value, write) => (typeof value === "number" ? write(value) : "–");

function makeRow({ number: n, made, method, metrics, decisions, seconds, gap, current }, names) {
  return [
    String(n), current ? element("span", { class: "tag found" }, "answers") : useButton(n), when(made),
    ...names.map((name) => figure(metrics?.[name])), number(decisions, count),
    number(seconds, (value) => value.toFixed(1)), number(gap, (value) => value.toExponential(1)),
    element("span", { class: "method" }, method ?? "–"),
  ];
}

function useButton(n) {
  const use = async () => {
    await post(`/api/models/${n}/use`);
    say(`Model ${n} answers now.`);
    await show();
  };
  return element("button", { type: "button", "aria-label": `Use model ${n}`, click: () => attempt(use) }, "Use");
}

show();
watchTraining({ finished: show });
