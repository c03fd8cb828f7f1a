"""What every method must beat."""

from tagrank.estimators.methods.method import Method, coefficients

METHODS = (
    Method(
        "label-frequency",
        "tagrank.estimators.baselines.label_frequency:LabelFrequency",
        "baselines",
        "",
        "baseline",
        "Gives every picture the same ranking: the most frequent tags first.",
        "What every other method must beat.",
        "n m",
        memory=coefficients,
    ),
)
