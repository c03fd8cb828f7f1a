"""One support vector machine for all tags together."""

from tagrank.estimators.methods.method import CENTER, COSTS, Method
from tagrank.estimators.parameters import POSITIVE_COUNT, Parameter, matrix_or, one_of

METHODS = (
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
                "How alike pictures are by their tags; a matrix holds similarities of tags.",
            ),
            CENTER,
            Parameter(
                "decoding",
                one_of("direct", "transfer"),
                "direct",
                "Score each tag, or take over those of training pictures with similar tags.",
            ),
            Parameter(
                "n_neighbors", POSITIVE_COUNT, "10", "For decoding=transfer: how many training pictures."
            ),
        ),
        space=COSTS,
    ),
)
