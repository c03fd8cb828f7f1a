"""Methods that make other problems of the tags, and the baseline."""

from tagrank.estimators.methods.method import (
    COSTS,
    DEVICE,
    ENGINE,
    FLOAT,
    LANDMARKS,
    POSITIVE,
    POSITIVE_COUNT,
    Method,
    Parameter,
    coefficients,
)


def _similarities_and_a_fold(n: int, d: int, m: int) -> float:
    return FLOAT * n * (3 * n + 4 * m)


def _similarities_and_sets(n: int, d: int, m: int) -> float:
    most_sets = min(n, 2 ** min(m, 60))
    return FLOAT * n * (2 * n + 3 * most_sets + 3 * m)


def _bins_and_weights(n: int, d: int, m: int) -> float:
    return n * d + FLOAT * (8 * n * m + 4 * 256 * m)


def _similarities_and_cuts(n: int, d: int, m: int) -> float:
    # about a hundred cuts and as many products, of 32 tags at a time
    return FLOAT * n * (2 * n + 6 * m + 6_400)


TRANSFORMATIONS = (
    Method(
        "platt-svm",
        "tagrank.estimators.transformations.sigmoid_svms:PlattSVM",
        "transformations",
        "Platt",
        "Platt: Probabilistic Outputs for Support Vector Machines, in: Advances in Large Margin Classifiers, "
        "1999",
        "One support vector machine per tag; a sigmoid on held-out pictures turns its scores into log-odds.",
        "A probability for each tag; comparisons with the literature.",
        "n^2, m^0.6",
        parameters=(
            LANDMARKS,
            ENGINE,
            DEVICE,
        ),
        space=COSTS,
        memory=_similarities_and_a_fold,
    ),
    Method(
        "label-powerset",
        "tagrank.estimators.transformations.label_powerset:LabelPowerset",
        "transformations",
        "LP",
        "Tsoumakas, Katakis: Multi-Label Classification: An Overview, IJDWM 3, 2007; pruning: Read, "
        "Pfahringer, Holmes: Multi-label Classification Using Ensembles of Pruned Sets, ICDM 2008",
        "Treats every set of tags in the training data as a class, and predicts the probability of each.",
        "Few tags in few, frequent combinations, where the whole set must be right.",
        "n^2, number of distinct tag sets",
        parameters=(
            Parameter("cost", POSITIVE, "10", "C of the logistic regressions."),
            Parameter("min_count", POSITIVE_COUNT, "1", "Tag sets with fewer pictures are not classes."),
        ),
        space={"cost": (1.0, 3.0, 10.0, 30.0, 100.0)},
        unknown="Completed as in the most frequent known tag set that agrees, or else treated as absent.",
        memory=_similarities_and_sets,
    ),
    Method(
        "boosted-stumps",
        "tagrank.estimators.transformations.boosted_stumps:BoostedStumps",
        "transformations",
        "BoosTexter",
        "Schapire, Singer: BoosTexter: A Boosting-based System for Text Categorization, Machine Learning 39, "
        "2000",
        "Adds up rules on single columns: above a threshold or not, or present or not.",
        "Columns of different kinds and scales, few of which matter; texts as words.",
        "n m, number of columns, rounds",
        parameters=(Parameter("n_rounds", POSITIVE_COUNT, "200", "Maximum number of rules."),),
        space={"n_rounds": (50, 100, 200, 400, 800)},
        memory=_bins_and_weights,
        known_as=("AdaBoost.MH",),
        differs="The columns of the paper are words; here dense columns are cut at thresholds, too.",
    ),
    Method(
        "ranking-area-svm",
        "tagrank.estimators.transformations.sigmoid_svms:RankingAreaSVM",
        "transformations",
        "SVM-perf",
        "Joachims: A Support Vector Method for Multivariate Performance Measures, ICML 2005; Training Linear "
        "SVMs in Linear Time, KDD 2006",
        "One support vector machine per tag for the area under its ROC curve.",
        "Finding the pictures of a tag: each tag ranks all pictures.",
        "n^2, m",
        space={"C": (1.0, 10.0, 100.0, 1000.0, 10_000.0)},
        memory=_similarities_and_cuts,
        differs="A sigmoid makes the scores of tags comparable; the paper ranks pictures only.",
    ),
)


BASELINES = (
    Method(
        "label-frequency",
        "tagrank.estimators.label_frequency:LabelFrequency",
        "baselines",
        "",
        "baseline",
        "Gives every picture the same ranking: the most frequent tags first.",
        "The baseline that every other method must beat.",
        "n m",
        memory=coefficients,
    ),
)
METHODS = (*TRANSFORMATIONS, *BASELINES)
