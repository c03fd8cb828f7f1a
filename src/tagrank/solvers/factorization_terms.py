"""The data terms of factorizations, for rows X (n, d) and labels T (n, m) of zeros and ones.

**Online**: features and labels of a sample are made from one code h, which is found for each. With P (d, r)
and Q (m, r), the mean over n samples of

    min_h  alpha |x - P h|^2 + (1 - alpha) |t - Q h|^2 + beta |h|^2

plus beta (|P|^2 + |Q|^2), which the steps add (`batch_descent.py`). The code of a sample is in closed form,

    h = (alpha P'P + (1 - alpha) Q'Q + beta I)^-1 (alpha P'x + (1 - alpha) Q't)

where rows of Q for unknown labels are left out, and the slope for P and Q is that with h held fixed. To score
labels, the term of the labels is dropped: h = (alpha P'P + beta I)^-1 alpha P'x, and the scores are Q h.
P stands above Q in one array of shape (d + m, r).

**Two-way**: features and labels are each coded and decoded, and labels decoded from features. With encoders W
and decoders D of features (d, r) and labels (m, r), the mean over n samples of

    alpha |X - X Wx Dx'|^2 + (1 - alpha) |T - T Wt Dt'|^2 + delta |T - X Wx Dt'|^2

plus beta (|Wx|^2 + |Dx|^2 + |Wt|^2 + |Dt|^2), which the steps add. Unknown labels are left out of the last
two residuals, and are zero where labels are coded. All matrices stand in one array of shape (d + m, 2 r):
encoders to the left, decoders to the right, features above labels.

Where all is known, no residual is formed. With codes Z and a decoder D,

    |X - Z D'|^2 = |X|^2 - 2 <Z, X D> + <Z'Z, D'D>

costs r^2 for each row and each column in the place of r for each entry, and reads what a sparse X stores.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.arrays import beside, namespace_of

CURVATURE_ROUNDS = 10
NUDGE = 1e-2  # of the length of the weights: differences of slopes in single precision


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


@dataclass(frozen=True)
class TwoWay:
    """The data terms, summed over a batch."""

    alpha: float
    delta: float

    n_blocks = 2  # of n_components columns each

    def start(self, n_features, n_labels, n_components, rng):
        """Random weights that keep the lengths of what they code and decode."""
        weights = rng.standard_normal((n_features + n_labels, 2 * n_components)).astype(np.float32)
        weights[:n_features, :n_components] /= np.sqrt(n_features)
        weights[n_features:, :n_components] /= np.sqrt(n_labels)
        weights[:, n_components:] /= np.sqrt(n_components)
        return weights

    def slope(self, weights, batch):
        """Value, and half the slope of the data terms, shaped as the weights."""
        d, r, rest = batch.X.shape[1], weights.shape[1] // 2, 1 - self.alpha
        Dx, Dt = weights[:d, r:], weights[d:, r:]
        XW, TW = batch.X @ weights[:d], batch.T @ weights[d:]
        Z, Zt, TD, ZZ = XW[:, :r], TW[:, :r], TW[:, r:], XW[:, :r].T @ XW[:, :r]
        inner, targets = self.alpha * (Dx.T @ Dx), self.alpha * XW[:, r:]
        xp = namespace_of(weights)
        slope = xp.empty_like(weights)
        if batch.known is None:
            labels, ZZt = Dt.T @ Dt, Zt.T @ Zt
            inner, targets = inner + self.delta * labels, targets + self.delta * TD
            slope_Z, slope_Zt = Z @ inner - targets, rest * (Zt @ labels - TD)
            slope[d:, r:] = Dt @ (self.delta * ZZ + rest * ZZt) - batch.T.T @ (self.delta * Z + rest * Zt)
            value = rest * ((ZZt * labels).sum() - 2 * (Zt * TD).sum())
        else:
            across, along = ((code @ Dt.T - batch.T) * batch.known for code in (Z, Zt))
            slope_Z, slope_Zt = Z @ inner - targets + self.delta * (across @ Dt), rest * (along @ Dt)
            slope[d:, r:] = self.delta * (across.T @ Z) + rest * (along.T @ Zt)
            value = self.delta * (across**2).sum() + rest * (along**2).sum()
            value = value - (self.delta + rest) * batch.squares_T
        slope[:d] = batch.X.T @ xp.concatenate((slope_Z, -self.alpha * Z), 1)
        slope[:d, r:] += Dx @ (self.alpha * ZZ)
        slope[d:, :r] = batch.T.T @ slope_Zt
        value = value + (ZZ * inner).sum() - 2 * (Z * targets).sum()
        return value + self.of_nothing(batch), slope

    def curvature(self, weights, batch):
        """Half the largest curvature, by power iteration on differences of slopes."""
        norm, (_, here) = namespace_of(weights).linalg.norm, self.slope(weights, batch)
        nudge, direction, largest = NUDGE * float(norm(weights)), here, 0.0
        for _ in range(CURVATURE_ROUNDS):
            length = float(norm(direction))
            if length == 0:
                break
            _, there = self.slope(weights + (nudge / length) * direction, batch)
            direction = (there - here) / nudge
            largest = float(norm(direction))
        return largest

    def of_nothing(self, batch):
        """The data terms where all weights are zero."""
        return self.alpha * batch.squares_X + (1 - self.alpha + self.delta) * batch.squares_T

    def coders(self, weights, n_features):
        """What codes features (n_features, n_components) and decodes labels (n_labels, n_components)."""
        n_components = weights.shape[1] // 2
        return weights[:n_features, :n_components], weights[n_features:, n_components:]
