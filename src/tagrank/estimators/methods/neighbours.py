"""Methods that take over the tags of similar pictures."""

from tagrank.estimators.methods.method import FLOAT, Method
from tagrank.estimators.parameters import POSITIVE, POSITIVE_COUNT, Parameter, one_of

VOTES = "Left out: neighbours of whom it is unknown have no vote."
NEIGHBORS = {"n_neighbors": (5, 10, 20, 50)}


def neighbors(default: str) -> Parameter:
    """How many are asked."""
    return Parameter("n_neighbors", POSITIVE_COUNT, default, "How many similar pictures are asked.")


def votes(n: int, d: int, m: int) -> float:
    """A copy of the rows for the search, and some numbers for each label of each row."""
    return FLOAT * (n * d + 5 * n * m) + 2**28


METHODS = (
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
                "All neighbours count alike, or nearer ones more.",
            ),
        ),
        space={**NEIGHBORS, "voting": ("equal", "similarity")},
        unknown=VOTES,
        memory=votes,
    ),
    Method(
        "bayesian-neighbors",
        "tagrank.estimators.neighbours.bayesian_neighbors:BayesianNeighbors",
        "neighbours",
        "ML-kNN",
        "Zhang, Zhou: ML-kNN: A Lazy Learning Approach to Multi-Label Learning, Pattern Recognition 40, 2007",
        "The probability of a tag, given how many of the most similar pictures have it.",
        "Probabilities from neighbours; few frequent tags.",
        "n^2, m",
        parameters=(
            neighbors("10"),
            Parameter("smoothing", POSITIVE, "1", "What is added to every count."),
        ),
        space={**NEIGHBORS, "smoothing": (0.1, 1.0)},
        unknown="Left out: neighbours of whom it is unknown do not count, the others count for them.",
        memory=votes,
    ),
)
