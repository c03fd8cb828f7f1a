"""Methods that learn from streams."""

from tagrank.estimators.methods.method import AVERAGE, CENTER, Method, coefficients
from tagrank.estimators.parameters import BELOW_ONE, Parameter, one_of

METHODS = (
    Method(
        "online-ranker",
        "tagrank.estimators.online.online_ranker:OnlineRanker",
        "online",
        "MMP",
        "Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003",
        "A perceptron over pairs of tags in wrong order, which can go on learning from new pictures.",
        "Streams of rows, linear models.",
        "n m, one pass",
        parameters=(
            Parameter(
                "pairs",
                one_of("uniform", "worst"),
                "uniform",
                "Who shares an update: all pairs in wrong order, or the worst one.",
            ),
            Parameter(
                "step",
                one_of("loss", "constant"),
                "loss",
                "Size of an update: the share of pairs in wrong order, or one.",
            ),
            AVERAGE,
        ),
        memory=coefficients,
    ),
    Method(
        "online-joint-svm",
        "tagrank.estimators.online.online_joint_svm:OnlineJointSVM",
        "online",
        "JSVM-Per",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "A perceptron for all tags together, which can go on learning from new pictures.",
        "Streams of rows with any kernel.",
        "n m, one pass; with a kernel n times the pictures kept",
        parameters=(
            Parameter("margin", BELOW_ONE, "0.1", "A picture whose tags are met by less is learned from."),
            AVERAGE,
            CENTER,
        ),
    ),
)
