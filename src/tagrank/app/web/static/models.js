// The models that are kept; one of them answers.
import "./page.js";
import { attempt, get, post } from "./api.js";
import { count, element, figure, find, say, showEmpty, table, when } from "./dom.js";
import { measureName, ofHundred, qualityLines } from "./quality.js";
import { watchTraining } from "./training.js";

async function show() {
  const found = await attempt(() => get("/api/models"));
  if (!found) return;
  const { models } = found;
  const names = [...new Set(models.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].slice(0, 4);
  for (const id of ["models", "details", "compared"]) find(id).hidden = models.length === 0;
  find("empty").hidden = true;
  const [sentence, measured] = qualityLines(models.find(({ current }) => current));
  find("quality").textContent = sentence;
  find("measured").textContent = measured;
  if (models.length === 0) return showEmpty("No model yet", "The first model is trained on the existing tags.");
  find("models").replaceChildren(table(["Model", "", "Trained", "Right of 100", "Found of 100", "Decisions"], models.map(makeRow)));
  find("compared").textContent = comparison(models);
  const heads = ["Model", ...names, "Seconds", "Gap", "Method"];
  find("measures").replaceChildren(table(heads, models.map((model) => measureRow(model, names))));
  return find("measure-words").replaceChildren(...names.map((name) => element("p", {}, measureName(name))));
}

/** On what all of them were measured. */
function comparison(models) {
  const older = models.some(({ is_compared }) => !is_compared) ? " Older models cannot be measured like this any more." : "";
  return "Right: of 100 predicted tags. Found: of 100 true tags. All models were measured on the same pictures, which they were not "
    + `trained on, with the tags that model ${models[0].number} learned from.${older}`;
}

const number = (value, write) => (typeof value === "number" ? write(value) : "–");

function makeRow({ number: n, made, quality, is_compared, decisions, current }) {
  const share = (value) => (is_compared ? ofHundred(value) : "–");
  return [
    String(n), current ? element("span", { class: "tag found" }, "in use") : useButton(n), when(made),
    share(quality?.right), share(quality?.found), number(decisions, count),
  ];
}

function measureRow({ number: n, method, metrics, is_compared, seconds, gap }, names) {
  return [
    String(n), ...names.map((name) => (is_compared ? figure(metrics?.[name]) : "–")),
    number(seconds, (value) => value.toFixed(1)), number(gap, (value) => value.toExponential(1)),
    element("span", { class: "method" }, method ?? "–"),
  ];
}

function useButton(n) {
  const use = async () => {
    await post(`/api/models/${n}/use`);
    say(`Model ${n} is in use now.`);
    await show();
  };
  return element("button", { type: "button", "aria-label": `Use model ${n}`, click: () => attempt(use) }, "Use");
}

show();
watchTraining({ finished: show });
