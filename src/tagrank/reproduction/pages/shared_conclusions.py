"""What the dissertation found about shared weights of kernels, and what we see of it."""

import numpy as np

from tagrank.reproduction.entries import find_table
from tagrank.reproduction.text import markdown_table

GROWING_TOLERANCE = 5e-2  # where labels grow; the stochastic method takes minutes to a smaller gap
PUBLISHED = {  # names in table 6.2
    "SK-SVM": "SK-SVM",
    "AVG-SVM": "AVG",
    "MKL L1": "MKL-L1",
    "MKL L2": "MKL-L2",
    "ML-MKL-Sum": "ML-MKL-Sum",
    "ML-MKL-SA": "ML-MKL-SA",
    "SK-MLR": "SK-MLR",
    "AVG-MLR": "AVG-MLR",
    "MK-MLR": "MK-MLR",
}
COMPARED = """
## Beside the published conclusions

Published: image AUC on ESP Game (2,500 training pictures, 200 labels, 186 kernels, table 6.2) and share of
kernels without a weight (5,000 pictures, table 6.9); beside them ours on {data}:

{table}

- *Sharing the weights does not cost quality; it matches one-vs-all MKL* (tables 3.1, 6.1). {shared}
- *Shared weights train faster* (tables 3.3, 3.4). {faster}
- *Ranking is better than one-vs-all, MK-MLR the best of all in image AUC* (tables 6.2, 6.6). {ranking}
- *MK-MLR "clearly outperforms SK-MLR and AVG-MLR"* on ESP Game, and hardly on MIR Flickr. {learned}
- *One-vs-all MKL is sparse for each label, but all labels together need nearly all kernels; MK-MLR and
  ML-MKL-Sum do not; ML-MKL-SA is not sparse, because its weights are means* (table 6.9). {sparse}
- *"The kernel weights learned by ML-MKL-Sum vary significantly, particularly at the beginning"*, those of
  ML-MKL-SA less (figures 3.5, 3.6). {stable}
- *The cost of ML-MKL-SA grows below linear with the number of labels, m^(1/3) (ln m)^(1/2).* {growth}
"""


def compare_published(results, names):
    """The published figures beside ours, and one item for each conclusion."""
    several = {
        name: {line["method"]: line for line in results["lines"] if line["data"] == name} for name in names
    }
    moved = {line["method"]: line["moved"] for line in results["followed"]}
    exponents = {method: find_exponent(results["grown"], method) for method in method_names(results["grown"])}
    seconds = (
        f"{some['MKL L1']['seconds']:.1f} and {some['ML-MKL-Sum']['seconds']:.1f} ({name})"
        for name, some in several.items()
    )
    quality = "image_auc", "image_map"
    return COMPARED.format(
        data=names[0],
        table=_table(several[names[0]]),
        shared=_differences(several, "ML-MKL-Sum", "MKL L1", ("category_map", "image_auc")),
        faster=f"Seconds of training, MKL L1 and ML-MKL-Sum: {'; '.join(seconds)}.",
        ranking=f"{_differences(several, 'MK-MLR', 'ML-MKL-Sum', quality)} {_best(several)}",
        learned=_differences(several, "MK-MLR", "AVG-MLR", quality),
        sparse=_sparse(several[names[0]]),
        stable=f"How far they went: {', '.join(f'{method} {value:.1f}' for method, value in moved.items())}.",
        growth=f"Our exponents: {', '.join(f'{method} {value:.2f}' for method, value in exponents.items())}.",
    )


def _table(lines):
    aucs, sparsities = (find_table(f"mk-mlr-table6.{number}").published for number in (2, 9))
    column = aucs.columns.index("200")
    rows = []
    for method, name in PUBLISHED.items():
        line, sparsity = lines[method], sparsities.rows.get("AVG-SVM" if name == "AVG" else name)
        rows.append(
            [
                method,
                f"{float(aucs.rows[name][column]):.1f}",
                f"{float(sparsity[0]):.0f} %" if sparsity else "",
                f"{line['image_auc']:.1f}",
                f"{100 * (1 - line['active'] / line['n_kernels']):.0f} %",
            ]
        )
    header = ["", "published AUC", "published sparsity", "our AUC", "our sparsity"]
    return markdown_table(header, rows, numbers=True)


def _sparse(lines):
    alone, n_kernels = lines["MKL L1"], lines["MKL L1"]["n_kernels"]
    others = ", ".join(f"{name} {lines[name]['active']}" for name in ("ML-MKL-Sum", "MK-MLR", "ML-MKL-SA"))
    return (
        f"Of {n_kernels} kernels MKL L1 uses {alone['active_a_label']:.1f} a label and {alone['active']} in "
        f"all; {others}."
    )


def _differences(several, first, second, keys):
    words = {"image_auc": "image AUC", "image_map": "image MAP", "category_map": "category MAP"}
    parts = []
    for name, some in several.items():
        values = ", ".join(f"{words[key]} {some[first][key] - some[second][key]:+.2f}" for key in keys)
        parts.append(f"{values} ({name})")
    return f"{first} against {second}, in points: {'; '.join(parts)}."


def _best(several):
    best = {name: max(some, key=lambda method: some[method]["image_auc"]) for name, some in several.items()}
    return f"Best in image AUC: {', '.join(f'{method} ({name})' for name, method in best.items())}."


def method_names(lines):
    return list(dict.fromkeys(line["method"] for line in lines))


def find_exponent(grown, method):
    """e of seconds ~ labels^e, by least squares on the logarithms, where the gap was reached."""
    some = [line for line in grown if line["method"] == method and line["gap"] <= GROWING_TOLERANCE]
    sizes, seconds = ([line[key] for line in some] for key in ("n_labels", "seconds"))
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(some) > 1 else float("nan")
