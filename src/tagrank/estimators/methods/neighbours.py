"""Methods by regression and by nearest neighbours."""

from tagrank.estimators.methods.method import (
    BELOW_ONE,
    FLOAT,
    LANDMARKS,
    POSITIVE,
    POSITIVE_COUNT,
    Method,
    Parameter,
    one_of,
)

FILLED = "Filled in by ridge regression on the known ones; a picture without known tags is ignored."


def regressions(n: int, d: int, m: int) -> float:
    """Of one that centres and factors similarities, and takes steps where tags are unknown."""
    return FLOAT * n * (3 * n + 10 * m)


ALPHA = Parameter("alpha", POSITIVE, "by leave-one-out", "Penalty on the size of the weights.")
REGRESSION = (
    Method(
        "ridge-regression",
        "tagrank.estimators.ridge_regression:RidgeRegression",
        "regression",
        "ridge",
        "Rifkin, Yeo, Poggio: Regularized Least-Squares Classification, Advances in Learning Theory, 2003",
        "Least squares for all tags at once; leave-one-out cross-validation chooses the penalty.",
        "A quick, strong first model for many tags; nothing to tune.",
        "n^3, m",
        parameters=(
            LANDMARKS,
            ALPHA,
        ),
        memory=regressions,
        known_as=("RLS",),
    ),
)


VOTES = "Ignored: neighbours whose label is unknown have no vote."
NEIGHBORS = {"n_neighbors": (5, 10, 20, 50)}


def neighbors(default: str) -> Parameter:
    """How many are asked."""
    return Parameter("n_neighbors", POSITIVE_COUNT, default, "Number of similar pictures that vote.")


def votes(n: int, d: int, m: int) -> float:
    """A copy of the rows, some numbers for each label of each row, blocks, and distances that folds share."""
    return FLOAT * (n * d + 5 * n * m) + 2**28 + min(2**30, 80 * n * n)


def propagation(n: int, d: int, m: int) -> float:
    """Beside this, 200 neighbours of each row, and derivatives for each label."""
    return votes(n, d, m) + FLOAT * n * (8 * m + 5 * 200)


NEIGHBOURS = (
    Method(
        "nearest-neighbors",
        "tagrank.estimators.neighbours.nearest_neighbors:NearestNeighbors",
        "neighbours",
        "k-NN",
        "Cover, Hart: Nearest Neighbor Pattern Classification, IEEE Trans. Information Theory 13, 1967",
        "The share of the most similar pictures that have a tag.",
        "A first look without training; many pictures of few kinds.",
        "n, at prediction n",
        parameters=(
            neighbors("10"),
            Parameter(
                "voting",
                one_of("equal", "similarity"),
                "equal",
                "All neighbours count the same, or nearer ones count more.",
            ),
        ),
        space={**NEIGHBORS, "voting": ("equal", "similarity")},
        unknown=VOTES,
        memory=votes,
    ),
    Method(
        "bayesian-neighbors",
        "tagrank.estimators.neighbours.nearest_neighbors:BayesianNeighbors",
        "neighbours",
        "ML-kNN",
        "Zhang, Zhou: ML-kNN: A Lazy Learning Approach to Multi-Label Learning, Pattern Recognition 40, 2007",
        "The probability of a tag, given how many of the most similar pictures have it.",
        "Probabilities from neighbours; few frequent tags.",
        "n^2, m",
        parameters=(
            neighbors("10"),
            Parameter("smoothing", POSITIVE, "1", "Added to every count (smoothing)."),
        ),
        space={**NEIGHBORS, "smoothing": (0.1, 1.0)},
        unknown="Ignored: neighbours whose label is unknown do not count, and the others count for them.",
        memory=votes,
    ),
    Method(
        "label-transfer",
        "tagrank.estimators.neighbours.label_transfer:LabelTransfer",
        "neighbours",
        "JEC",
        "Makadia, Pavlovic, Kumar: A New Baseline for Image Annotation, ECCV 2008",
        "Copies the tags of the most similar picture, then some tags of the next ones.",
        "A baseline of the literature on pictures.",
        "n, at prediction n",
        parameters=(
            neighbors("5"),
            Parameter("n_transferred", POSITIVE_COUNT, "5", "Number of tags per picture."),
            Parameter(
                "distance_unit",
                one_of("mean", "largest"),
                "mean",
                "Divide distances of each set of features by their mean, or the largest, as published.",
            ),
            Parameter(
                "weighting",
                one_of("kernel", "lasso"),
                "kernel",
                "All sets of features count the same, or by weights learned from pairs of pictures.",
            ),
            Parameter(
                "n_shared", POSITIVE_COUNT, "4", "Number of tags that alike pictures share, for the lasso."
            ),
            Parameter("sparsity", POSITIVE, "0.001", "Penalty of the weights of the lasso."),
        ),
        space={"n_neighbors": (2, 5, 10, 20)},
        unknown="Ignored: an unknown tag is not copied and does not count for its frequency.",
        memory=votes,
        differs="Distances are divided by their mean; distance_unit=largest is the published form.",
    ),
    Method(
        "tag-propagation",
        "tagrank.estimators.neighbours.tag_propagation:TagPropagation",
        "neighbours",
        "TagProp",
        "Guillaumin, Mensink, Verbeek, Schmid: TagProp: Discriminative Metric Learning in Nearest Neighbor "
        "Models for Image Auto-Annotation, ICCV 2009",
        "Tags of similar pictures, weighted by learned distances, and a curve for each tag.",
        "Pictures with several sets of features; probabilities from neighbours.",
        "n^2, n m",
        parameters=(
            neighbors("200"),
            Parameter(
                "variant",
                one_of("sigma-ML", "sigma-SD", "ML", "SD"),
                "sigma-ML",
                "A weight for each distance (ML) or one for their mean (SD), with or without curves of tags.",
            ),
            Parameter(
                "targets",
                one_of("smoothed", "labels"),
                "smoothed",
                "Smoothed tags and rising curves, or tags as they are, as published.",
            ),
            Parameter(
                "neighborhood",
                one_of("turns", "mean"),
                "turns",
                "Similar pictures by each distance in turn, as published, or by the mean of them.",
            ),
        ),
        space={"n_neighbors": (50, 100, 200)},
        unknown="Ignored in the likelihood; a neighbour with an unknown label counts with its frequency.",
        memory=propagation,
        known_as=("sigma-ML",),
        differs="Targets are smoothed and curves rise; targets=labels is the published form.",
    ),
    Method(
        "label-completion",
        "tagrank.estimators.label_completion:LabelCompletion",
        "neighbours",
        "FastTag",
        "Chen, Zheng, Weinberger: Fast Image Tagging, ICML 2013",
        "Least squares onto tags that are completed by other tags, all in closed form.",
        "Many tags, some of which are missing.",
        "n^3, m^3",
        parameters=(
            LANDMARKS,
            ALPHA,
            Parameter(
                "dropout", BELOW_ONE, "0.5", "Share of the tags that the other tags must be able to restore."
            ),
            Parameter("reconstruction", POSITIVE, "1", "How closely completed tags follow the given ones."),
            Parameter("n_layers", POSITIVE_COUNT, "1", "Number of times that tags are completed."),
            Parameter(
                "rare_recall",
                BELOW_ONE,
                "none, all tags",
                "Complete only tags with at most this recall a further time.",
            ),
        ),
        space={"alpha": (0.01, 0.1, 1.0), "dropout": (0.1, 0.5), "reconstruction": (1.0, 10.0)},
        unknown=FILLED,
        memory=regressions,
        differs="One layer; n_layers and rare_recall are the layers and the steps for rare tags.",
    ),
    Method(
        "relevance-model",
        "tagrank.estimators.neighbours.relevance_model:RelevanceModel",
        "neighbours",
        "MBRM",
        "Feng, Manmatha, Lavrenko: Multiple Bernoulli Relevance Models for Image and Video Annotation, CVPR "
        "2004",
        "The mean of a tag over all pictures, where similar pictures count more.",
        "A baseline of the literature on pictures.",
        "n, at prediction n m",
        parameters=(
            Parameter(
                "bandwidth",
                POSITIVE,
                "0.2",
                "Width of the neighbourhood: how near pictures must be to count.",
            ),
            Parameter("smoothing", BELOW_ONE, "0.1", "Weight of the frequency of a tag."),
            Parameter(
                "n_regions",
                POSITIVE_COUNT,
                "1",
                "Number of parts of a picture that its row consists of.",
            ),
        ),
        space={"bandwidth": (0.1, 0.15, 0.2, 0.3), "smoothing": (0.01, 0.1, 0.3)},
        unknown=VOTES,
        memory=votes,
        differs="One part per picture; n_regions says how many, as published.",
    ),
)
METHODS = (*REGRESSION, *NEIGHBOURS)
