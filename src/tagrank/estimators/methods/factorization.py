"""Methods that factorize features and tags together."""

from tagrank.estimators.methods.method import Method
from tagrank.estimators.parameters import (
    BELOW_ONE,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_COUNT,
    Parameter,
    Values,
)

N_COMPONENTS = 100


def weights(n: int, d: int, m: int) -> float:
    """Of one that keeps weights of columns and tags, their slopes and copies, and the tags of all rows."""
    return 4.0 * (7 * (d + m) * 2 * N_COMPONENTS + 2 * n * m)


DEVICE = Values("the name of a device of torch, such as cpu or cuda", str)
STEPS = (
    Parameter("n_components", POSITIVE_COUNT, str(N_COMPONENTS), "Dimensions of the space."),
    Parameter("step", POSITIVE, "by the curvature where training begins", "Length of the first steps."),
    Parameter("decay", NOT_NEGATIVE, "0.02", "Steps of pass k are divided by 1 + decay k."),
    Parameter("momentum", BELOW_ONE, "0.9", "Share of a step that goes into the next one."),
    Parameter("batch_size", POSITIVE_COUNT, "256", "Pictures whose mean is one step."),
    Parameter(
        "validation_fraction", BELOW_ONE, "0", "Share of the pictures that tell when to stop; 0 for none."
    ),
    Parameter("patience", POSITIVE_COUNT, "10", "Passes without progress on these that end training."),
    Parameter("normalize", FLAG, "true", "Divide every row by its length."),
    Parameter("device", DEVICE, "none, numpy", "Where to compute: a device of torch."),
)
METHODS: tuple[Method, ...] = (
    Method(
        "two-way-factorization",
        "tagrank.estimators.factorization.two_way_factorization:TwoWayFactorization",
        "factorization",
        "TWMMF",
        "Vanegas, Beltran, González: Two-way Multimodal Online Matrix Factorization for Multi-label "
        "Annotation, ICPRAM 2015",
        "Codes features and tags in one space, and reads tags from where the features of a picture lead.",
        "Many rows and many tags, streams, linear models.",
        "n, m",
        parameters=(
            Parameter("alpha", BELOW_ONE, "0.1", "Weight of bringing features back from the space."),
            Parameter("delta", POSITIVE, "1", "Weight of reading tags from features."),
            Parameter("beta", NOT_NEGATIVE, "0.001", "Weight of the squares of all weights."),
            *STEPS,
        ),
        space={"beta": (3e-4, 1e-3, 3e-3, 1e-2), "n_components": (50, 200)},
        memory=weights,
    ),
    Method(
        "online-factorization",
        "tagrank.estimators.factorization.online_factorization:OnlineFactorization",
        "factorization",
        "OMMF",
        "Otálora-Montenegro, Pérez-Rubiano, González: Online Matrix Factorization for Space Embedding "
        "Multilabel Annotation, CIARP 2013",
        "Makes features and tags of a picture from one code, and reads tags from the code of its features.",
        "Streams, to compare with two-way-factorization.",
        "n, m",
        parameters=(
            Parameter(
                "alpha", BELOW_ONE, "0.5", "Weight of making features; the rest is that of making tags."
            ),
            Parameter("beta", POSITIVE, "0.001", "Weight of the squares of codes and of all weights."),
            *STEPS,
        ),
        space={"beta": (1e-3, 1e-2, 1e-1), "alpha": (0.1, 0.5, 0.9)},
        memory=weights,
    ),
)
