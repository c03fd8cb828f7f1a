"""The Gram matrix of a joint problem and the scores of its samples: one coefficient and one score each."""

from tagrank.solvers.gram_scores import GramScores


class JointGram(GramScores):
    """As `GramScores` of one label: there most of a visit goes into the block's corner of the matrix."""

    block_size = 96
    nearest = None  # a pass takes little more time than looking for them

    def __init__(self, K, dtype):
        super().__init__(K, 1, dtype)
