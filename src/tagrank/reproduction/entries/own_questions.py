"""Questions of ours, which no paper has."""

from tagrank.reproduction.declarations import OURS, Table

TABLES = (
    Table(
        "comparison",
        "ours",
        "LabelRanker, one-vs-all SVMs and label frequency on public sets with their official parts.",
        OURS,
        "29 metrics and three rules of prediction of each.",
        experiment="comparison",
    ),
    Table(
        "automatic-choice",
        "ours",
        "What `Annotator()` chooses by itself, against logistic regression, on 14 sets.",
        OURS,
        "Where the choice is below its peer, the page says by how much.",
        experiment="automatic_choice",
    ),
    Table(
        "honest-probability",
        "ours",
        "Training tags hidden on purpose: is a probability what it claims?",
        OURS,
        "The page says how far off claims and the estimated completeness are.",
        experiment="honest_probability",
    ),
    Table(
        "missing-tags",
        "ours",
        "How many hidden tags `missing` finds, against cleanlab and label frequency.",
        OURS,
        "The page says who finds most, and how many.",
        experiment="missing_tags",
    ),
)
