"""What goes around an estimator and learns from its scores of samples that it did not see."""

from sklearn.utils import ClassifierTags, get_tags

from tagrank.estimators.base import ESTIMATOR, LabelEstimator, stores
from tagrank.estimators.calibration.held_out import hold_out, train_copy
from tagrank.estimators.compared_rows import PlainRows, compare_rows
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS
from tagrank.estimators.targets import encode_targets
from tagrank.validation import check_rows, check_same_length


def check_estimator(estimator):
    """Raise a TypeError unless `estimator` can be copied and trained."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"estimator must be an estimator such as LabelRanker(), got {estimator!r}")


class AroundEstimator(LabelEstimator):
    """A subclass has the parameters `estimator`, `cv`, `random_state` and `n_jobs`, and writes `fit`."""

    stored = stores(estimator_=ESTIMATOR)
    unstored_parameters = (*LabelEstimator.unstored_parameters, "estimator", "cv", "random_state")

    def compare(self, X):
        if not isinstance(X, PlainRows):
            check_rows("X", X)
        return compare_rows(self.estimator, X)

    def _take_compared(self, X, y):
        """Rows compared with each other, and Targets, of `fit`."""
        self._check_parameters()
        targets, rows = encode_targets(y), self.compare(X)
        check_same_length(X=range(len(rows)), y=targets.states)
        return rows, targets

    def _hold_out(self, rows, y, sample_weight, stop):
        """States and held-out scores, see `hold_out`."""
        folds = {"cv": self.cv, "random_state": self.random_state, "n_jobs": self.n_jobs}
        return hold_out(self.estimator, rows, y, sample_weight, **folds, stop=stop)

    def _train_on_everything(self, rows, y, sample_weight, **asked):
        self.estimator_ = train_copy(self.estimator, rows, y, sample_weight, **asked)
        self._know_rows()

    def _know_rows(self):
        for name in KNOWN_OF_ROWS:
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.no_validation = inner.no_validation
        # scikit-learn reads these of whatever has predict_proba; it is no classifier for all that
        tags.classifier_tags = ClassifierTags()
        return tags
