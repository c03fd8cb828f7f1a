"""Max-margin label ranking over pairs of labels: what `LabelRanker` approximates."""

from dataclasses import dataclass, replace

import numpy as np

from tagrank.estimators.ranking.label_ranker import LabelRanker
from tagrank.validation import check_choice


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseRanker(LabelRanker):
    """Ranks labels by all pairs of a present and an absent one, or by the lowest present label.

    The problem that `LabelRanker` (MLR-L1) approximates, for comparison; its optimum is never below that of
    LabelRanker with the same costs. Per sample, with c the costs of its labels, k present and l absent:

    - pairs="all": ``sum_kl sqrt(c_k c_l) max(0, 2 - f_k + f_l)``; memory and time grow with the pairs;
    - pairs="lowest": ``sum_l c_l max(0, 2 - min_k f_k + f_l)``, which costs no more than LabelRanker. In the
      dual only the absent labels are bounded; the value lies between the two others.

    Parameters
    ----------
    pairs : {"all", "lowest"}

    Other parameters and attributes are those of `LabelRanker`.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import LabelRanker, PairwiseRanker
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Y = np.hstack([X > 0, X < 0.5])
    >>> rankers = [LabelRanker(), PairwiseRanker(pairs="lowest"), PairwiseRanker(pairs="all")]
    >>> values = [ranker.fit(X, Y).primal_objective_ for ranker in rankers]
    >>> values == sorted(values)
    True
    """

    pairs: str = "all"

    def _loss(self):
        from tagrank.losses.pairwise import Pairwise
        from tagrank.losses.ranking import Ranking

        return {"all": Pairwise, "lowest": Ranking}[self.pairs]

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("pairs", self.pairs, ("all", "lowest"))

    def _pose(self, X, y, sample_weight):
        problem = super()._pose(X, y, sample_weight)
        if self.pairs == "lowest":
            problem = replace(problem, bounds=_free_present(problem.bounds))
        return problem


def _free_present(bounds):
    """Bounds of present labels so large that balance with the absent ones never lets them be reached."""
    absent = np.maximum(-bounds, 0).sum(axis=1, keepdims=True)
    return np.where(bounds > 0, np.maximum(bounds, absent), bounds)
