"""One-vs-all support vector machines whose scores are made log-odds, label by label."""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.estimators.calibration.calibration import fit_platt, prior_probabilities
from tagrank.estimators.calibration.held_out import honest_states
from tagrank.estimators.classification.one_vs_all import OneVsAllSVM
from tagrank.estimators.log_odds import LogOdds
from tagrank.estimators.max_margin import WORTH_THREADS
from tagrank.estimators.transformations.sigmoid_scores import SigmoidScores
from tagrank.resources import limited_threads

N_FOLDS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class PlattSVM(LogOdds, SigmoidScores, OneVsAllSVM):
    """One support vector machine per label, and a sigmoid that makes its scores log-odds (Platt).

    Trains as `OneVsAllSVM` does, once on everything and once without each third of the samples. The scores of
    the samples left out fix ``slope_l >= 0`` and ``offset_l`` of every label by maximum likelihood, see
    `tagrank.estimators.calibration.calibration`; the score of a label is ``slope_l f_l(x) + offset_l``, and
    ``1 / (1 + exp(-score))`` its probability. Unknown labels are left out of both. Weights of samples count
    in the machines; the sigmoids count all samples of positive weight alike.

    The certificate is that of the machine trained on everything, before the sigmoid. Where nothing could be
    held out (one sample, or training was stopped) scores are those of the machine.

    Parameters are those of `OneVsAllSVM` without `fit_intercept`, for the sigmoid has an offset of its own;
    `max_seconds` limits each of the four trainings. `random_state` also seeds the thirds.

    Attributes
    ----------
    slope_ : array, shape (n_labels,)
    dual_coef_, coef_ : as in `OneVsAllSVM`, times `slope_`
    intercept_ : array, shape (n_labels,), the offsets

    Other attributes are those of `OneVsAllSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import PlattSVM
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> Y = np.hstack([X > 0, X < 0.5]).astype(float)
    >>> PlattSVM(random_state=0).fit(X, Y).predict_proba([[0.9]]).round(1).tolist()
    [[1.0, 0.1]]
    """

    # the sigmoid has an offset
    fit_intercept: bool = field(default=False, init=False)

    @property
    def dual_solution_(self):
        return self._before_sigmoid

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        super()._solve(problem, start=start, callback=callback, stop=stop)
        with limited_threads(self.n_jobs if problem.size >= WORTH_THREADS else 1):
            states, scores = self._hold_out(problem, stop)
        if states.any():
            self._put_sigmoid(fit_platt(states, scores, prior_probabilities(np.sign(problem.bounds))))
        else:
            self.slope_ = np.ones(states.shape[1])
        return self

    def _hold_out(self, problem, stop):
        """States and scores (n_samples, n_labels) by machines that did not see the sample."""
        from tagrank.solvers.dual_ascent import solve_dual

        folds, scores = [], np.zeros(problem.bounds.shape)
        for train, test in self._folds(len(scores)):
            part = replace(problem, bounds=problem.bounds[train], data=_cut(problem, train))
            solution = solve_dual(part.data, self._loss(), **self._settings(part, None, stop))
            if solution.stopped_by in ("stop", "interrupt"):
                break
            scores[test] = _score(problem, solution, train, test)
            folds.append((train, test))
        return honest_states(np.sign(problem.bounds), folds), scores

    def _folds(self, n_samples):
        order = check_random_state(self.random_state).permutation(n_samples)
        parts = [np.sort(part) for part in np.array_split(order, N_FOLDS)] if n_samples > 1 else []
        return [(np.setdiff1d(order, part), part) for part in parts if len(part)]


def _cut(problem, rows):
    """What the engine reads of some rows."""
    return problem.data[rows] if problem.kind == "rows" else problem.data[np.ix_(rows, rows)]


def _score(problem, solution, train, test):
    if problem.kind == "rows":
        return safe_sparse_dot(problem.data[test], solution.weights, dense_output=True)
    return problem.data[np.ix_(test, train)] @ solution.coefficients
