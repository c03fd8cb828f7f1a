"""Methods that factorize features and tags together."""

import re

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

LARGEST = 200  # dimensions that are searched


def weights(n: int, d: int, m: int) -> float:
    """Of one that keeps weights of columns and tags, their slopes and copies, and the tags of all rows."""
    return 4.0 * (7 * (d + m) * 2 * LARGEST + 2 * n * m)


def dimensions(usual: int) -> Parameter:
    """Of the space, with those that are taken if nothing is said."""
    return Parameter("n_components", POSITIVE_COUNT, str(usual), "Dimensions of the space.")


def read_device(text: str) -> str:
    """A name and, of several devices, a number: cuda:1."""
    if not re.fullmatch(r"[a-z]+(:\d+)?", text):
        raise ValueError(text)
    return text


DEVICE = Values("the name of a device of torch, such as cpu or cuda", read_device)
STEPS = (
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
            dimensions(100),
            *STEPS,
        ),
        space={"beta": (3e-4, 1e-3, 3e-3, 1e-2), "n_components": (50, LARGEST)},
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
                "alpha", BELOW_ONE, "0.99", "Weight of making features; the rest is that of making tags."
            ),
            Parameter("beta", POSITIVE, "0.01", "Weight of the squares of codes and of all weights."),
            dimensions(40),
            *STEPS,
        ),
        space={"alpha": (0.9, 0.99), "beta": (1e-5, 1e-3, 1e-2), "n_components": (40, 140)},
        memory=weights,
    ),
)
