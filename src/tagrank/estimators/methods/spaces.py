"""Methods with a space that features and tags share."""

from tagrank.estimators.methods.method import (
    BELOW_ONE,
    DEVICE,
    FLAG,
    FLOAT,
    LANDMARKS,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_COUNT,
    Method,
    Parameter,
    Values,
    one_of,
)
from tagrank.estimators.methods.neighbours import ALPHA, FILLED, regressions

AVERAGED = "An unknown tag counts as the mean of the known ones; a picture without known tags is ignored."
LARGEST = 200  # dimensions that are searched


def weights(n: int, d: int, m: int) -> float:
    """Of one that keeps weights of columns and tags, their slopes and copies, and the tags of all rows."""
    return 4.0 * (7 * (d + m) * 2 * LARGEST + 2 * n * m)


def dimensions(usual: int) -> Parameter:
    """Of the space, with those that are taken if nothing is said."""
    return Parameter("n_components", POSITIVE_COUNT, str(usual), "Dimensions of the space.")


STEPS = (
    Parameter("step", POSITIVE, "from the curvature at the start", "Size of the first steps."),
    Parameter("decay", NOT_NEGATIVE, "0.02", "Steps of pass k are divided by 1 + decay k."),
    Parameter("momentum", BELOW_ONE, "0.9", "Share of a step that is added to the next one."),
    Parameter("batch_size", POSITIVE_COUNT, "256", "Number of pictures per step."),
    Parameter(
        "validation_fraction",
        BELOW_ONE,
        "0",
        "Share of the pictures held out to decide when to stop; 0 for none.",
    ),
    Parameter(
        "patience",
        POSITIVE_COUNT,
        "10",
        "Stop after this many passes without progress on the held-out pictures.",
    ),
    Parameter("normalize", FLAG, "true", "Divide every row by its length."),
    DEVICE,
)
FACTORIZATION = (
    Method(
        "two-way-factorization",
        "tagrank.estimators.factorization:TwoWayFactorization",
        "factorization",
        "TWMMF",
        "Vanegas, Beltran, González: Two-way Multimodal Online Matrix Factorization for Multi-label "
        "Annotation, ICPRAM 2015",
        "Encodes features and tags in one space, and decodes tags from the code of the features.",
        "Many rows and many tags, streams, linear models.",
        "n, m",
        parameters=(
            Parameter("alpha", BELOW_ONE, "0.1", "Weight of reconstructing the features."),
            Parameter("delta", POSITIVE, "1", "Weight of predicting tags from features."),
            Parameter("beta", NOT_NEGATIVE, "0.001", "Weight of the squares of all weights."),
            dimensions(100),
            *STEPS,
        ),
        space={"beta": (3e-4, 1e-3, 3e-3, 1e-2), "n_components": (50, LARGEST)},
        memory=weights,
        differs="Rows have unit length and a constant column; normalize=false omits the first.",
    ),
    Method(
        "online-factorization",
        "tagrank.estimators.factorization:OnlineFactorization",
        "factorization",
        "OMMF",
        "Otálora-Montenegro, Pérez-Rubiano, González: Online Matrix Factorization for Space Embedding "
        "Multilabel Annotation, CIARP 2013",
        "Reconstructs features and tags from one code, and predicts tags from the code of the features.",
        "Streams, to compare with two-way-factorization.",
        "n, m",
        parameters=(
            Parameter("alpha", BELOW_ONE, "0.99", "Weight of reconstructing features; the rest is for tags."),
            Parameter("beta", POSITIVE, "0.01", "Weight of the squares of codes and of all weights."),
            dimensions(40),
            *STEPS,
        ),
        space={"alpha": (0.9, 0.99), "beta": (1e-5, 1e-3, 1e-2), "n_components": (40, 140)},
        memory=weights,
        differs="Rows have unit length and a constant column; normalize=false omits the first.",
    ),
)


def _read_amount(text: str) -> float:
    value = float(text)
    if 0 < value < 1:
        return value
    if value >= 1 and value == int(value):
        return int(value)
    raise ValueError(text)


AMOUNT = Values("a whole number of at least 1, or a share between 0 and 1", _read_amount)
SHARE = Values("a share above 0 and up to 1", _read_amount)


def components(default: str, whole: str = "tags") -> Parameter:
    about = f"Dimensions of the space, or their share of the {whole}; at most their number."
    return Parameter("n_components", AMOUNT, default, about)


def factors(n: int, d: int, m: int) -> float:
    """Of a factorization with as many parts as there are tags."""
    return FLOAT * (n * (3 * d + 4 * m) + m * (d + m))


SHARES = {"n_components": (0.1, 0.2, 0.5, 0.9)}
SHARED_SPACES = (
    Method(
        "label-space-transform",
        "tagrank.estimators.shared_spaces.regressions_onto_codes:LabelSpaceTransform",
        "shared space",
        "PLST",
        "Tai, Lin: Multilabel Classification with Principal Label Space Transformation, "
        "Neural Computation 24, 2012",
        "Regression onto the principal components of the tags, and back.",
        "Many tags that go together; noise in rare tags is removed.",
        "n^3, m",
        parameters=(LANDMARKS, components("0.5"), ALPHA),
        space=SHARES,
        unknown=FILLED,
        memory=regressions,
        differs="The paper rounds decoded values at one half; here they are the scores.",
    ),
    Method(
        "canonical-correlation",
        "tagrank.estimators.shared_spaces.canonical_correlation:CanonicalCorrelation",
        "shared space",
        "CCA",
        "Sun, Ji, Ye: Canonical Correlation Analysis for Multilabel Classification, "
        "IEEE Transactions on Pattern Analysis and Machine Intelligence 33, 2011",
        "Regression onto the combinations of tags that pictures explain best, and back.",
        "Many tags that occur in a few combinations only.",
        "n^3, m^3",
        parameters=(
            LANDMARKS,
            components("0.5"),
            Parameter("label_penalty", POSITIVE, "1", "Regularization of rare tags in the combinations."),
            Parameter(
                "classifier",
                one_of("none", "svm"),
                "none",
                "Decode the scores, or train support vector machines in the space, as published.",
            ),
            Parameter("cost", POSITIVE, "1", "Penalty for violated tags of the support vector machines."),
            ALPHA,
        ),
        space={**SHARES, "label_penalty": (0.1, 1.0, 10.0)},
        unknown=FILLED,
        memory=regressions,
        differs="Scores are decoded; classifier=svm trains machines on the projections, as published.",
    ),
    Method(
        "compressed-sensing",
        "tagrank.estimators.shared_spaces.regressions_onto_codes:CompressedSensing",
        "shared space",
        "CS",
        "Hsu, Kakade, Langford, Zhang: Multi-Label Prediction via Compressed Sensing, NIPS 2009",
        "Regression onto random projections of the tags, which are decoded as sparse vectors.",
        "Comparison: the first method of its kind.",
        "n^3, m; an answer m^2",
        parameters=(
            LANDMARKS,
            components("0.5"),
            Parameter("decoding", one_of("omp", "cosamp"), "omp", "Algorithm that finds the sparse vectors."),
            ALPHA,
        ),
        space={"n_components": (0.2, 0.5, 0.9), "decoding": ("cosamp", "omp")},
        unknown=FILLED,
        memory=regressions,
        differs="Tags that are not decoded are scored, too, by what each would explain.",
    ),
    Method(
        "shared-subspace",
        "tagrank.estimators.shared_spaces.regressions_onto_codes:SharedSubspace",
        "shared space",
        "MLLS",
        "Ji, Tang, Yu, Ye: Extracting Shared Subspace for Multi-label Classification, KDD 2008",
        "Regression with a smaller penalty in a subspace that all tags share.",
        "Tags that depend on the same few properties of pictures.",
        "n^3, m^3",
        parameters=(
            LANDMARKS,
            components("0.5"),
            Parameter("within", SHARE, "0.1", "Penalty in the subspace, as a share of alpha."),
            ALPHA,
        ),
        space={"n_components": (0.1, 0.3, 0.9), "within": (0.03, 0.1, 0.3)},
        unknown=FILLED,
        memory=regressions,
    ),
    Method(
        "asymmetric-factorization",
        "tagrank.estimators.shared_spaces.nonnegative:AsymmetricFactorization",
        "shared space",
        "ANMF",
        "Caicedo, BenAbdallah, Gonzalez, Nasraoui: Multimodal representation, indexing, automated annotation "
        "and retrieval of image collections via non-negative matrix factorization, Neurocomputing 76, 2012",
        "Nonnegative parts of the tags, onto which pictures are mapped afterwards.",
        "Counts and histograms; parts that can be read.",
        "n d, n m",
        parameters=(components("0.5"),),
        space={"n_components": (0.1, 0.3, 0.9)},
        unknown=AVERAGED,
        memory=factors,
        differs="It minimizes squared errors, the paper a divergence.",
    ),
    Method(
        "mixed-factorization",
        "tagrank.estimators.shared_spaces.nonnegative:MixedFactorization",
        "shared space",
        "MNMF",
        "Caicedo, BenAbdallah, Gonzalez, Nasraoui: Multimodal representation, indexing, automated annotation "
        "and retrieval of image collections via non-negative matrix factorization, Neurocomputing 76, 2012",
        "Nonnegative parts of pictures and tags together.",
        "Counts and histograms; parts that can be read.",
        "n d, n m",
        parameters=(
            components("0.5"),
            Parameter("balance", SHARE, "0.5", "Weight of the pictures relative to the tags."),
        ),
        space={"n_components": (0.1, 0.3, 0.9), "balance": (0.1, 0.5, 0.9)},
        unknown=AVERAGED,
        memory=factors,
        differs="It minimizes squared errors, the paper a divergence.",
    ),
    Method(
        "margin-embedding",
        "tagrank.estimators.shared_spaces.margin_embedding:MarginEmbedding",
        "shared space",
        "MME",
        "Park, Choi: Max-Margin Embedding for Multi-Label Learning, Pattern Recognition Letters 34, 2013",
        "Pictures and tags in one space, where the tags of a picture are closer by a margin.",
        "Comparison: a margin instead of least squares.",
        "n^2, m^2, some rounds",
        parameters=(
            components("0.5"),
            Parameter("cost", POSITIVE, "1", "Cost of a violated tag."),
            Parameter("max_rounds", POSITIVE_COUNT, "5", "Maximum number of rounds."),
        ),
        space={"n_components": (0.1, 0.3, 0.9), "cost": (0.01, 0.1, 1.0)},
        differs="Our own form: the text of the paper was not available.",
    ),
)
METHODS = (*FACTORIZATION, *SHARED_SPACES)
