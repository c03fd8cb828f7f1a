"""Max-margin label ranking for incomplete labels."""

from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

from tagrank.errors import warn
from tagrank.estimators.ranking.label_ranker import LabelRanker
from tagrank.resources import limited_threads
from tagrank.validation import check_choice, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class IncompleteLabelRanker(LabelRanker):
    """Ranks labels where some that are present were not given (MLR-GL).

    Minimises ``1/2 sum_l |f_l|^2 + C sum_i sum_l |max(0, 1 - f_k(x_i) + f_l(x_i))|``, where the norm runs
    over the labels k that sample i has, and l over those it has not: a group for each absent label. The
    norm of a group, unlike its sum, grows slowly with what is already violated, so that a label that was
    only forgotten does less harm. With weights the loss of a group is ``sqrt(c_l sum_k c_k violation_k^2)``.

    Absent labels (0) may be present without anybody having said so; labels known to be unknown are nan, and
    take part in no group.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a group. There are as many groups as absent labels, so that the same C presses harder than in
        `LabelRanker`.
    solver : {"exact", "paper"}
        "exact" solves the problem and certifies it. "paper" takes the closed-form steps of the dissertation,
        which solve a *modified* problem; `duality_gap_` then tells how far its solution is from the optimum
        of the problem above, and `converged_` only that the coefficients stand still.
    eta : float, optional, for solver="paper"
        Weight of the modified regulariser; half the number of labels by default, the least for which the
        modified problem is sure to be concave. It works like a second cost, and wants to be tuned like one.

    Other parameters and attributes are those of `LabelRanker`.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import IncompleteLabelRanker
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> ranker = IncompleteLabelRanker(kernel="linear").fit(X, tags)
    >>> ranker.classes_[np.argsort(-ranker.decision_function([[0.0, 0.8]]))[0, :2]].tolist()
    ['sea', 'boat']
    """

    solver: str = "exact"
    eta: float | None = None

    def _loss(self):
        from tagrank.losses.group_ranking import GroupRanking

        return GroupRanking

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("solver", self.solver, ("exact", "paper"))
        if self.eta is not None:
            check_positive("eta", self.eta)

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        if self.solver == "exact":
            return super()._solve(problem, start=start, callback=callback, stop=stop)
        from tagrank.solvers.group_steps import solve_paper

        eta = problem.bounds.shape[1] / 2 if self.eta is None else float(self.eta)
        with limited_threads(self.n_jobs):
            solution = solve_paper(problem.data, **self._settings(problem, callback, stop), eta=eta)
        self._store(problem, solution)
        if not solution.converged:
            warn(
                f"after {solution.n_iter} passes of solver='paper' the coefficients still change by more "
                f"than tol={self.tol:g} ({solution.stopped_by}): raise max_iter or eta, or loosen tol",
                ConvergenceWarning,
            )
        return self
