"""RidgeRegression on a Gram matrix beside LabelRanker, both for all labels at once.

Whole fits with kernel="precomputed" in float32 and two threads. The ranker stops at a relative duality gap of
5e-3 with C = 1. The penalty of the regression is given, or chosen by leaving samples out.
"""

import numpy as np

from tagrank import LabelRanker, RidgeRegression
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_problem, read_corel5k
from tagrank_papers.text import show

MINUTES = 1
QUICK = {"case": ("drawn",), "samples": 300, "labels": 10, "repeats": 1}


def run(*, case=("drawn", "corel5k"), samples=4500, labels=260, repeats=3):
    ranker = LabelRanker(kernel="precomputed", tol=5e-3, random_state=0, n_jobs=2)
    ranker.fit(*draw_problem(1000, 8))  # compiles
    lines = []
    for name in case:
        K, Y = draw_problem(samples, labels) if name == "drawn" else read_corel5k()
        K = K.astype(np.float32)
        theirs = best_time(ranker.fit, K, Y, repeats=repeats)
        for alpha in (1.0, None):
            ridge = RidgeRegression(alpha=alpha, kernel="precomputed", n_jobs=2)
            seconds, processor_seconds, model = best_time(ridge.fit, K, Y, repeats=repeats)
            line = {
                "case": name,
                "samples": len(K),
                "labels": Y.shape[1],
                "penalty": "chosen" if alpha is None else "given",
                "alpha": model.alpha_,
                "seconds": seconds,
                "processor_seconds": processor_seconds,
                "label_ranker_seconds": theirs.seconds,
                "ratio_to_label_ranker": seconds / theirs.seconds,
            }
            show(line, "case", "penalty", "seconds", "label_ranker_seconds", "ratio_to_label_ranker")
            lines.append(line)
    yield lines
