"""How scores of all labels are answered: as a matrix, or in one dimension for one-dimensional y."""

import numpy as np

from tagrank.estimators.targets import encode_like
from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc


class AnswersMixin:
    """decision_function, predict and score of an estimator that knows the scores of all labels.

    A subclass has `classes_` and `_one_dimensional` once fitted, and writes ``_scores_of_all(X)``, scores of
    shape (n_samples, n_labels), and ``choose(scores)``: which labels such scores make present, 0 or 1.
    """

    def decision_function(self, X):
        """Scores of all labels, shape (n_samples, n_labels).

        For one-dimensional y with two classes, shape (n_samples,): the lead of the second over the first.
        """
        scores = self._scores_of_all(X)
        if self._one_dimensional and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X):
        """Labels present, ints of shape (n_samples, n_labels); for one-dimensional y the best class."""
        scores = self._scores_of_all(X)
        if self._one_dimensional:
            return self.classes_[np.argmax(scores, axis=1)]
        return self.choose(scores)

    def score(self, X, y):
        """Image-based AUC: the share of (present, absent) label pairs in the right order, unknown masked."""
        states = encode_like(y, self.classes_, self._one_dimensional)
        return image_auc(labels_from_states(states), self._scores_of_all(X))
