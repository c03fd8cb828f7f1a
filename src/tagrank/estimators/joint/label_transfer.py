"""Label transfer: a sample gets the labels of the training samples that the model finds in best agreement."""

from dataclasses import dataclass

import numpy as np


@dataclass
class LabelTransfer:
    """The training samples whose labels may be handed on.

    Parameters
    ----------
    present : array, shape (n_candidates, n_labels), 1 where the label is present
    agreement : array, shape (n_columns, n_candidates); what is known of a sample times it are the weights
    n_neighbors : int, how many of them at most
    reads_scores : bool, whether a sample comes as its direct scores, or as its similarities with the support
        vectors
    """

    present: np.ndarray
    agreement: np.ndarray
    n_neighbors: int
    reads_scores: bool

    @classmethod
    def learn(cls, output, vectors, states, weights, *, n_neighbors):
        """From label vectors and states (n_samples, n_labels) and the samples' weights in the model."""
        tells = np.any(states != 0, axis=1)
        tells |= not tells.any()  # nothing to hand on, but somebody must
        present, candidates = (states[tells] > 0).astype(np.float64), vectors[tells]
        if output.has_features:
            return cls(present, output.scaled(candidates).T, n_neighbors, True)
        support = np.flatnonzero(weights)
        agreement = weights[support, None] * output(vectors[support], candidates)
        return cls(present, agreement.astype(np.float32), n_neighbors, False)

    def __call__(self, columns):
        """Weighted means of the labels of the best candidates, (n_samples, n_labels), between 0 and 1.

        Only candidates of positive weight count; if there is none, the best one does.
        """
        weights = columns @ self.agreement
        n_kept = min(self.n_neighbors, weights.shape[1])
        best = np.argpartition(-weights, n_kept - 1, axis=1)[:, :n_kept]
        kept = np.maximum(np.take_along_axis(weights, best, axis=1), 0)
        none = ~np.any(kept > 0, axis=1)
        best[none, 0], kept[none, 0] = np.argmax(weights[none], axis=1), 1.0
        kept /= kept.sum(axis=1, keepdims=True)
        return np.einsum("ik,ikl->il", kept, self.present[best])
