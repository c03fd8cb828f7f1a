// What a model is worth: the sentence, and measures in words.
import { element, figure, table } from "./dom.js";

const MEASURES = {
  "Image-AUC": "how often, in a picture, a right tag stands above a wrong one; 0.5 is guessing",
  "Image-MAP": "how many of the tags are right on the way down the ranking of a picture, on average",
};

/** The sentence of a model, and how it was measured. */
export function qualityLines(model) {
  if (!model) return ["", ""];
  if (!model.quality) return ["What its tags are worth is told after the next training.", ""];
  const when = model.is_compared ? "" : " When it was made; it was not measured again since.";
  return [model.quality.sentence, `${model.quality.measured}${when}`];
}

/** A share as a number of 100. */
export const ofHundred = (share) => (typeof share === "number" ? String(Math.round(100 * share)) : "–");

/** The name of a measure, and in words what it says. */
export function measureName(name) {
  return MEASURES[name] ? element("span", {}, name, element("small", { class: "quiet" }, `: ${MEASURES[name]}`)) : name;
}

/** Measures of one model; they count listed tags as right and all others as wrong. */
export function measureTable(metrics) {
  return table(["Measure", "Value"], Object.entries(metrics).map(([name, value]) => [measureName(name), figure(value)]));
}
