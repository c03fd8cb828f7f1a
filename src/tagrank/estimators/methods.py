"""The methods by name: what each is, where it comes from, and what can be set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagrank.errors import ArgumentError
from tagrank.estimators.parameters import (
    BELOW_ONE,
    FLAG,
    POSITIVE,
    POSITIVE_COUNT,
    Parameter,
    matrix_or,
    one_of,
)
from tagrank.suggestions import did_you_mean


@dataclass(frozen=True)
class Method:
    """One way to learn.

    Attributes
    ----------
    name : what to write behind ``--method``
    estimator : the class in `tagrank.estimators`
    acronym, paper : what the literature calls it, and where it is described
    about : what it does, in a sentence
    has_kernel : whether it compares pictures, by a kernel and with a cost C
    parameters : those that it does not share with the others
    """

    name: str
    estimator: str
    acronym: str
    paper: str
    about: str
    has_kernel: bool = True
    parameters: tuple[Parameter, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        return {**vars(self), "parameters": [parameter.to_dict() for parameter in self.parameters]}


AVERAGE = Parameter("average", FLAG, "true", "Predict with the mean of the weights over all pictures seen.")
CENTER = Parameter("center", FLAG, "true", "Take off how frequent each tag is; false is the published form.")
METHODS = (
    Method(
        "label-ranker",
        "LabelRanker",
        "MLR-L1",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009",
        "Ranks present tags above absent ones, with a threshold of its own for every picture.",
    ),
    Method(
        "incomplete-label-ranker",
        "IncompleteLabelRanker",
        "MLR-GL",
        "Bucak, Jin, Jain: Multi-label Learning with Incomplete Class Assignments, CVPR 2011; Bucak: "
        "dissertation, Michigan State University, 2014, chapter 5",
        "Ranks tags where pictures lack some that are true: errors of a forgotten tag count as a group.",
        parameters=(
            Parameter(
                "solver",
                one_of("exact", "paper"),
                "exact",
                "Solve the problem, or a modified one by the steps of the dissertation.",
            ),
            Parameter(
                "eta",
                POSITIVE,
                "half the number of tags",
                "For solver=paper: weight of the modified regulariser; to be tuned like C.",
            ),
        ),
    ),
    Method(
        "pairwise-ranker",
        "PairwiseRanker",
        "all pairs",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009, equation 2",
        "Ranks by all pairs of a present and an absent tag: what label-ranker approximates; slow.",
        parameters=(
            Parameter(
                "pairs",
                one_of("all", "lowest"),
                "all",
                "All pairs, or only those with the lowest present tag, which is as fast as label-ranker.",
            ),
        ),
    ),
    Method(
        "online-ranker",
        "OnlineRanker",
        "MMP",
        "Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003",
        "A perceptron over pairs of tags in wrong order, which can go on learning from new pictures.",
        has_kernel=False,
        parameters=(
            Parameter(
                "pairs",
                one_of("uniform", "worst"),
                "uniform",
                "Who shares an update: all pairs in wrong order, or the worst one.",
            ),
            Parameter(
                "step",
                one_of("loss", "constant"),
                "loss",
                "Size of an update: the share of pairs in wrong order, or one.",
            ),
            AVERAGE,
        ),
    ),
    Method(
        "one-vs-all",
        "OneVsAllSVM",
        "OVA SVM",
        "Rifkin, Klautau: In Defense of One-Vs-All Classification, JMLR 5, 2004",
        "One support vector machine per tag, all trained together.",
    ),
    Method(
        "prior-margin",
        "PriorMarginClassifier",
        "M3L",
        "Hariharan, Zelnik-Manor, Vishwanathan, Varma: Large Scale Max-Margin Multi-Label Classification "
        "with Priors, ICML 2010",
        "One support vector machine per tag, tied together by which tags are known to go together.",
        parameters=(
            Parameter(
                "prior",
                matrix_or("correlation", "identity"),
                "correlation",
                "Which tags go together: as in the training data, none, or as a matrix says.",
            ),
        ),
    ),
    Method(
        "joint-svm",
        "JointSVM",
        "JSVM",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "One support vector machine for all tags together: by far the fastest to train.",
        parameters=(
            Parameter(
                "output_kernel",
                matrix_or("linear", "odds-ratio", "poly2", "poly3"),
                "linear",
                "How alike pictures are by their tags; a matrix holds similarities of tags.",
            ),
            CENTER,
            Parameter(
                "decoding",
                one_of("direct", "transfer"),
                "direct",
                "Score each tag, or take over those of training pictures with similar tags.",
            ),
            Parameter(
                "n_neighbors", POSITIVE_COUNT, "10", "For decoding=transfer: how many training pictures."
            ),
        ),
    ),
    Method(
        "online-joint-svm",
        "OnlineJointSVM",
        "JSVM-Per",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "A perceptron for all tags together, which can go on learning from new pictures.",
        parameters=(
            Parameter(
                "margin",
                BELOW_ONE,
                "0.1",
                "A picture whose tags are met by less is learned from.",
            ),
            AVERAGE,
            CENTER,
        ),
    ),
    Method(
        "label-frequency",
        "LabelFrequency",
        "",
        "baseline",
        "Gives every picture the same ranking: the most frequent tags first.",
        has_kernel=False,
    ),
)


def methods(name: str | None = None) -> list[Method]:
    """All methods that `train` knows, or only the one of this name."""
    return list(METHODS) if name is None else [find_method(name)]


def find_method(name: str) -> Method:
    """The method called `name`, or an error that lists them."""
    names = [method.name for method in METHODS]
    if name not in names:
        raise ArgumentError(f"no method {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")
    return METHODS[names.index(name)]


def read_parameters(method: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a method from their texts, as `train` takes them.

    Parameters
    ----------
    method : a name from `methods`
    texts : name of each parameter, in which ``-`` may stand for ``_``, to what it is to be
    """
    known = {parameter.name: parameter for parameter in find_method(method).parameters}
    values = {}
    for written, text in texts.items():
        name = written.replace("-", "_")
        if name not in known:
            raise ArgumentError(
                f"method {method!r} has no parameter {written!r} of its own{did_you_mean(name, known)}; "
                f"it has: {', '.join(known) or 'none'}"
            )
        values[name] = known[name].read(text)
    return values
