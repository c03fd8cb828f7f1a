"""How much unknown labels help: python unknown_labels.py [plot.svg]

Of the labels that are present in training a growing share is hidden. One model takes them for absent, as most
software does; the other is told that they are unknown, and learns from the rest.
"""

import sys

import numpy as np

from tagrank.data import hide_labels
from tagrank.estimators import LabelRanker
from tagrank.metrics import image_auc

plot = sys.argv[1] if len(sys.argv) > 1 else "unknown_labels.svg"

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 20))
strength = X @ rng.normal(size=(20, 12)) + rng.normal(size=(900, 12))
Y = (strength > np.quantile(strength, 0.7, axis=0)).astype(float)
Y[Y.sum(axis=1) == 0, 0] = 1
train, test = slice(0, 300), slice(300, None)

hidden_shares = [0.0, 0.2, 0.4, 0.6]
curves = {"absent": [], "unknown": []}
for mark, aucs in curves.items():
    for share in hidden_shares:
        seen = hide_labels(Y[train], share, mark=mark, random_state=0)
        ranker = LabelRanker(kernel="linear", C=0.1, tol=1e-2, random_state=0).fit(X[train], seen)
        aucs.append(image_auc(Y[test], ranker.decision_function(X[test])))
    print(f"hidden labels taken for {mark:8}", *(f"{auc:.3f}" for auc in aucs))

lowest, highest = min(map(min, curves.values())), max(map(max, curves.values()))


def across(share):
    """Pixels from the left."""
    return round(70 + 400 * share / hidden_shares[-1])


def down(auc):
    """Pixels from the top."""
    return round(230 - 190 * (auc - lowest) / (highest - lowest))


pieces = [f'<text x="{across(share)}" y="255">{share:.0%}</text>' for share in hidden_shares]
pieces += [f'<text x="20" y="{down(auc)}">{auc:.3f}</text>' for auc in (lowest, highest)]
for mark, colour in (("absent", "#b0413e"), ("unknown", "#1b6ca8")):
    corners = [f"{across(x)},{down(y)}" for x, y in zip(hidden_shares, curves[mark], strict=True)]
    pieces += [
        f'<polyline fill="none" stroke="{colour}" stroke-width="3" points="{" ".join(corners)}"/>',
        f'<text x="480" y="{down(curves[mark][-1])}" fill="{colour}">{mark}</text>',
    ]
with open(plot, "w", encoding="utf-8") as file:
    file.write(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 570 290" font-family="sans-serif">'
        '<rect width="570" height="290" fill="white"/>'
        '<text x="20" y="22" font-weight="bold">AUC when hidden labels are taken for absent or unknown</text>'
        '<text x="200" y="278">share of labels hidden</text>' + "\n".join(pieces) + "</svg>"
    )
print(f"open {plot}")
