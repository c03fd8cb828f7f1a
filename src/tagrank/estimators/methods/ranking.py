"""Methods that rank the tags of a picture."""

from tagrank.estimators.methods.method import COSTS, SMALL_COSTS, Method
from tagrank.estimators.parameters import POSITIVE, Parameter, one_of

METHODS = (
    Method(
        "label-ranker",
        "tagrank.estimators.ranking.label_ranker:LabelRanker",
        "ranking",
        "MLR-L1",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009",
        "Ranks present tags above absent ones, with a threshold of its own for every picture.",
        "The order of tags; the usual choice.",
        "n^2, m^0.6",
        space=COSTS,
    ),
    Method(
        "incomplete-label-ranker",
        "tagrank.estimators.ranking.incomplete_label_ranker:IncompleteLabelRanker",
        "ranking",
        "MLR-GL",
        "Bucak, Jin, Jain: Multi-label Learning with Incomplete Class Assignments, CVPR 2011; Bucak: "
        "dissertation, Michigan State University, 2014, chapter 5",
        "Ranks tags where pictures lack some that are true: errors of a forgotten tag count as a group.",
        "Pictures that carry only some of their true tags.",
        "n^2, m^0.6 to m^1.2",
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
        space=SMALL_COSTS,
    ),
    Method(
        "pairwise-ranker",
        "tagrank.estimators.ranking.pairwise_ranker:PairwiseRanker",
        "ranking",
        "all pairs",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009, equation 2",
        "Ranks by all pairs of a present and an absent tag: what label-ranker approximates; slow.",
        "Comparisons with label-ranker on small data.",
        "n^2, pairs of a present and an absent tag",
        parameters=(
            Parameter(
                "pairs",
                one_of("all", "lowest"),
                "all",
                "All pairs, or only those with the lowest present tag, which is as fast as label-ranker.",
            ),
        ),
        space=COSTS,
    ),
)
