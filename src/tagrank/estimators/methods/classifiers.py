"""Methods that rank or classify by max-margin, one tag at a time or all together, at once or from streams."""

from tagrank.estimators.methods.method import (
    AVERAGE,
    BELOW_ONE,
    CENTER,
    COSTS,
    DEVICE,
    ENGINE,
    FLAG,
    LANDMARKS,
    LARGE_COSTS,
    POSITIVE,
    POSITIVE_COUNT,
    SMALL_COSTS,
    Method,
    Parameter,
    coefficients,
    matrix_or,
    one_of,
)

RANKING = (
    Method(
        "label-ranker",
        "tagrank.estimators.ranking:LabelRanker",
        "ranking",
        "MLR-L1",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009",
        "Ranks present tags above absent ones, with a threshold of its own for every picture.",
        "The order of tags; the default.",
        "n^2, m^0.6",
        parameters=(LANDMARKS, DEVICE),
        space=COSTS,
    ),
    Method(
        "incomplete-label-ranker",
        "tagrank.estimators.ranking:IncompleteLabelRanker",
        "ranking",
        "MLR-GL",
        "Bucak, Jin, Jain: Multi-label Learning with Incomplete Class Assignments, CVPR 2011; Bucak: "
        "dissertation, Michigan State University, 2014, chapter 5",
        "Ranks tags of pictures that miss some true tags: the errors of a missing tag count as a group.",
        "Pictures that have only some of their true tags.",
        "n^2, m^0.6 to m^1.2",
        parameters=(
            LANDMARKS,
            DEVICE,
            Parameter(
                "solver",
                one_of("exact", "paper"),
                "exact",
                "Solve the problem itself, or a modified one with the algorithm of the dissertation.",
            ),
            Parameter(
                "eta",
                POSITIVE,
                "half the number of tags",
                "For solver=paper: weight of the modified regularizer; tune it like C.",
            ),
        ),
        space=SMALL_COSTS,
        differs="The published algorithm solves a modified problem: solver=paper.",
    ),
    Method(
        "pairwise-ranker",
        "tagrank.estimators.ranking:PairwiseRanker",
        "ranking",
        "all pairs",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009, equation 2",
        "Uses all pairs of a present and an absent tag, which label-ranker approximates; slow.",
        "Comparisons with label-ranker on small data.",
        "n^2, pairs of a present and an absent tag",
        parameters=(
            LANDMARKS,
            DEVICE,
            Parameter(
                "pairs",
                one_of("all", "lowest"),
                "all",
                "All pairs, or only those with the lowest present tag, which is as fast as label-ranker.",
            ),
        ),
        space=COSTS,
        known_as=("Rank-SVM",),
        differs="Rank-SVM divides the loss of a picture by its number of pairs; here they are added up.",
    ),
)


CLASSIFICATION = (
    Method(
        "one-vs-all",
        "tagrank.estimators.one_vs_all:OneVsAllSVM",
        "classification",
        "OVA SVM",
        "Rifkin, Klautau: In Defense of One-Vs-All Classification, JMLR 5, 2004",
        "One support vector machine per tag, all trained together.",
        "A yes or no for each tag.",
        "n^2, m^0.6",
        parameters=(
            LANDMARKS,
            ENGINE,
            DEVICE,
        ),
        space=COSTS,
        known_as=(
            "binary relevance",
            "BR",
            "OVA",
            "one-vs-rest",
        ),
        differs="Binary relevance may use any classifier per tag; here it is a support vector machine.",
    ),
    Method(
        "one-vs-all-logistic",
        "tagrank.estimators.one_vs_all:OneVsAllLogistic",
        "classification",
        "OVA logistic",
        "Yu, Huang, Lin: Dual coordinate descent methods for logistic regression and maximum entropy models, "
        "Machine Learning 85, 2011",
        "One logistic regression per tag, all trained together; its scores are log-odds.",
        "A probability for each tag; texts.",
        "n^2, m",
        parameters=(
            LANDMARKS,
            ENGINE,
            DEVICE,
        ),
        space=LARGE_COSTS,
        known_as=("logistic regression",),
    ),
    Method(
        "prior-margin",
        "tagrank.estimators.prior_margin:PriorMarginClassifier",
        "classification",
        "M3L",
        "Hariharan, Zelnik-Manor, Vishwanathan, Varma: Large Scale Max-Margin Multi-Label Classification "
        "with Priors, ICML 2010",
        "One support vector machine per tag, linked by prior knowledge of which tags go together.",
        "Tags with few examples but known relations.",
        "n^2, m^2",
        parameters=(
            Parameter(
                "prior",
                matrix_or("correlation", "identity"),
                "correlation",
                "Which tags go together: taken from the training data, none, or a matrix in a file.",
            ),
        ),
        space=COSTS,
    ),
)


JOINT = (
    Method(
        "joint-svm",
        "tagrank.estimators.joint.joint_svm:JointSVM",
        "joint",
        "JSVM",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "One support vector machine for all tags together: by far the fastest to train.",
        "Many tags and little time.",
        "n^2, hardly with m",
        parameters=(
            Parameter(
                "output_kernel",
                matrix_or("linear", "odds-ratio", "poly2", "poly3"),
                "linear",
                "Similarity of pictures by their tags; a matrix has the similarities of tags.",
            ),
            CENTER,
            Parameter(
                "decoding",
                one_of("direct", "transfer"),
                "direct",
                "Score each tag directly, or transfer the tags of training pictures with similar tags.",
            ),
            Parameter(
                "n_neighbors", POSITIVE_COUNT, "10", "For decoding=transfer: the number of training pictures."
            ),
        ),
        space=COSTS,
        differs="The frequency of each tag is subtracted first; center=false is the published form.",
    ),
)


ONLINE = (
    Method(
        "online-ranker",
        "tagrank.estimators.online.online_ranker:OnlineRanker",
        "online",
        "MMP",
        "Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003",
        "A perceptron over pairs of tags in the wrong order; it can continue with new pictures.",
        "Streams of rows, linear models.",
        "n m, one pass",
        parameters=(
            Parameter(
                "pairs",
                one_of("uniform", "worst"),
                "uniform",
                "Which pairs share an update: all pairs in the wrong order, or the worst one.",
            ),
            Parameter(
                "step",
                one_of("loss", "constant"),
                "loss",
                "Size of an update: the share of pairs in the wrong order, or 1.",
            ),
            AVERAGE,
        ),
        memory=coefficients,
        differs="It predicts with mean weights; average=false is the published form.",
    ),
    Method(
        "online-joint-svm",
        "tagrank.estimators.online.online_joint_svm:OnlineJointSVM",
        "online",
        "JSVM-Per",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "A perceptron for all tags together; it can continue with new pictures.",
        "Streams of rows with any kernel.",
        "n m, one pass; with a kernel n times the pictures kept",
        parameters=(
            Parameter(
                "margin", BELOW_ONE, "0.1", "The model learns from pictures with a smaller margin than this."
            ),
            AVERAGE,
            CENTER,
            Parameter(
                "form",
                one_of("primal", "dual"),
                "primal",
                "Move the model, or one number for each picture: the published dual perceptron.",
            ),
            Parameter("step", POSITIVE, "1", "For form=dual: size of an update."),
            Parameter("shuffle", FLAG, "true", "Visit pictures in random order; false keeps their order."),
        ),
        differs="It predicts with mean weights, subtracts frequencies and shuffles pictures; as "
        "published: average=false center=false shuffle=false.",
    ),
)
METHODS = (*RANKING, *CLASSIFICATION, *JOINT, *ONLINE)
