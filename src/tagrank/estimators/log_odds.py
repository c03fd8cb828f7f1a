"""Estimators whose scores are log-odds."""

from scipy.special import expit
from sklearn.utils import ClassifierTags


class LogOdds:
    """Stands before a `LabelEstimator` whose scores are log-odds: gives it `predict_proba`."""

    def predict_proba(self, X):
        """Probabilities of all labels, one array of shape (n_samples, n_labels).

        Each label has its own, 0 if it was never present in training; for one-dimensional y they are divided
        by their sum.
        """
        probabilities = expit(self._scores_of_all(X))
        probabilities[:, self.never_positive_] = 0
        if self._one_dimensional:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn reads these of whatever has predict_proba; it is no classifier for all that
        tags.classifier_tags = ClassifierTags()
        return tags
