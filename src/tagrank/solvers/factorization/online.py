"""Online factorization: features and labels of a sample are made from one code, which is found for each.

For rows X (n, d) and labels T (n, m) of zeros and ones, P (d, r) and Q (m, r), the mean over n samples of

    min_h  alpha |x - P h|^2 + (1 - alpha) |t - Q h|^2 + beta |h|^2

plus beta (|P|^2 + |Q|^2), which the steps add. The code of a sample is in closed form,

    h = (alpha P'P + (1 - alpha) Q'Q + beta I)^-1 (alpha P'x + (1 - alpha) Q't)

where rows of Q for unknown labels are left out, and the slope for P and Q is that with h held fixed. To score
labels, the term of the labels is dropped: h = (alpha P'P + beta I)^-1 alpha P'x, and the scores are Q h.
P stands above Q in one array of shape (d + m, r).
"""

from dataclasses import dataclass

import numpy as np

from tagrank.arrays import beside, namespace_of


@dataclass(frozen=True)
class Online:
    """The data terms, summed over a batch."""

    alpha: float
    beta: float

    n_blocks = 1  # of n_components columns each

    def start(self, n_features, n_labels, n_components, rng):
        """Random weights, as long as the codes that they ask for: there the two penalties are alike."""
        weights = rng.standard_normal((n_features + n_labels, n_components))
        return (weights * (n_components**0.25 / np.sqrt(weights.size))).astype(np.float32)

    def slope(self, weights, batch):
        """Value, and half the slope of the data terms, shaped as the weights."""
        d, rest = batch.X.shape[1], 1 - self.alpha
        P, Q = weights[:d], weights[d:]
        right, H = self._codes(P, Q, batch)
        HH, slope = H.T @ H, namespace_of(weights).empty_like(weights)
        slope[:d] = self.alpha * (P @ HH - batch.X.T @ H)
        if batch.known is None:
            slope[d:] = rest * (Q @ HH - batch.T.T @ H)
        else:
            slope[d:] = rest * (((H @ Q.T - batch.T) * batch.known).T @ H)
        # what the best codes take off, which they solve for
        return self.of_nothing(batch) - (right * H).sum(), slope

    def curvature(self, weights, batch):
        """At least half the largest curvature: that with the codes held fixed."""
        _, H = self._codes(weights[: batch.X.shape[1]], weights[batch.X.shape[1] :], batch)
        return max(self.alpha, 1 - self.alpha) * namespace_of(H).linalg.norm(H, 2) ** 2

    def of_nothing(self, batch):
        """The data terms where all weights are zero."""
        return self.alpha * batch.squares_X + (1 - self.alpha) * batch.squares_T

    def coders(self, weights, n_features):
        """What codes features (n_features, n_components) and decodes labels (n_labels, n_components)."""
        P = weights[:n_features]
        return self.alpha * namespace_of(P).linalg.solve(self._inner(P), P.T).T, weights[n_features:]

    def _inner(self, P):
        return self.alpha * (P.T @ P) + self.beta * beside(np.eye(P.shape[1]), P, P.dtype)

    def _codes(self, P, Q, batch):
        """The right sides of the equations of the codes, and the codes."""
        solve, rest = namespace_of(P).linalg.solve, 1 - self.alpha
        right = self.alpha * (batch.X @ P) + rest * (batch.T @ Q)
        if batch.known is None:
            return right, solve(self._inner(P) + rest * (Q.T @ Q), right.T).T
        own = (batch.known[:, :, None] * Q).swapaxes(1, 2) @ Q
        return right, solve(self._inner(P) + rest * own, right[:, :, None])[:, :, 0]
