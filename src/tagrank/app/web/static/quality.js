// What a model is worth: the sentence, and measures in words.
import { element, figure, table } from "./dom.js";

const MEASURES = {
  "Image-AUC": "how often a right tag ranks above a wrong tag of the same picture; 0.5 is guessing",
  "Image-MAP": "mean precision of the tags from the top of the ranking down, for each picture",
};

/** The sentence of a model, and how it was measured. */
export function qualityLines(model) {
  if (!model) return ["", ""];
  if (!model.quality) return ["The next training measures the quality of its tags.", ""];
  const when = model.is_compared ? "" : " Measured when it was trained, and not since.";
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
  return table(["Metric", "Value"], Object.entries(metrics).map(([name, value]) => [measureName(name), figure(value)]));
}
