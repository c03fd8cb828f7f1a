"""What there is to choose from: methods by name, and data by name."""

from dataclasses import dataclass

from tagrank.data import find_dataset, list_datasets
from tagrank.data.catalog import data_folders
from tagrank.data.catalog_entries import DatasetEntry
from tagrank.data.scenery.plan import TAGS
from tagrank.data.suggestions import did_you_mean
from tagrank.study.inputs import DRAWN_PICTURES


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
    """

    name: str
    estimator: str
    acronym: str
    paper: str
    about: str
    has_kernel: bool = True


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
    ),
    Method(
        "pairwise-ranker",
        "PairwiseRanker",
        "all pairs",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009, equation 2",
        "Ranks by all pairs of a present and an absent tag: what label-ranker approximates; slow.",
    ),
    Method(
        "online-ranker",
        "OnlineRanker",
        "MMP",
        "Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003",
        "A perceptron over pairs of tags in wrong order, which can go on learning from new pictures.",
        has_kernel=False,
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
    ),
    Method(
        "joint-svm",
        "JointSVM",
        "JSVM",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "One support vector machine for all tags together: by far the fastest to train.",
    ),
    Method(
        "online-joint-svm",
        "OnlineJointSVM",
        "JSVM-Per",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "A perceptron for all tags together, which can go on learning from new pictures.",
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


def methods() -> list[Method]:
    """All methods that `train` knows."""
    return list(METHODS)


def find_method(name: str) -> Method:
    """The method called `name`, or an error that lists them."""
    names = [method.name for method in METHODS]
    if name not in names:
        raise ValueError(f"no method {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")
    return METHODS[names.index(name)]


@dataclass(frozen=True)
class FeatureSet:
    """One way to describe pictures.

    Attributes
    ----------
    name : what to write behind ``--features``
    kernel : the kernel that suits it
    presets : names of the presets that it belongs to
    about : what it describes, in a sentence
    """

    name: str
    kernel: str
    presets: tuple[str, ...]
    about: str


def features() -> list[FeatureSet]:
    """All sets of picture features."""
    from tagrank.features import FEATURES, PRESETS

    return [
        FeatureSet(
            name,
            feature.kernel,
            tuple(preset for preset, names in PRESETS.items() if name in names),
            feature.about,
        )
        for name, feature in FEATURES.items()
    ]


@dataclass(frozen=True)
class Dataset:
    """Data that commands take by name.

    Attributes
    ----------
    name, about : what to write, and what it holds
    n_rows, n_features, n_tags : its size; n_features is None for pictures
    source : where it comes from
    folder : where it was found, or None
    advice : what to put where, if it was not found
    """

    name: str
    about: str
    n_rows: int
    n_features: int | None
    n_tags: int
    source: str
    folder: str | None
    advice: str

    @property
    def is_here(self) -> bool:
        """Whether it can be used now."""
        return not self.advice


def datasets() -> list[Dataset]:
    """All data that can be named: the drawn pictures, then the public sets of the catalog."""
    about = "landscapes, harbours, streets and nights"
    drawn = Dataset(DRAWN_PICTURES, about, 400, None, len(TAGS), "drawn on the spot", None, "")
    return [drawn, *(_dataset(entry) for entry in list_datasets())]


def _dataset(entry: DatasetEntry) -> Dataset:
    folder = find_dataset(entry.name)
    place = data_folders()[0] / entry.folder
    advice = "" if folder else f"put {', '.join(entry.files)} (or .gz) into {place}"
    return Dataset(
        entry.name,
        entry.about,
        entry.n_rows,
        entry.n_features or None,
        entry.n_tags,
        entry.source,
        None if folder is None else str(folder),
        advice,
    )
