"""Two-way factorization: features and labels are each coded and decoded, and labels decoded from features.

For rows X (n, d) and labels T (n, m) of zeros and ones, encoders W and decoders D of features (d, r) and
labels (m, r), the mean over n samples of

    alpha |X - X Wx Dx'|^2 + (1 - alpha) |T - T Wt Dt'|^2 + delta |T - X Wx Dt'|^2

plus beta (|Wx|^2 + |Dx|^2 + |Wt|^2 + |Dt|^2), which the steps add (`tagrank.solvers.factorization.descent`).
Unknown labels are left out of the last two residuals, and are zero where labels are coded. All matrices stand
in one array of shape (d + m, 2 r): encoders to the left, decoders to the right, features above labels.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.arrays import namespace_of
from tagrank.solvers.factorization.terms import known_term, masked_term


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
        xp, n_features, n_components = namespace_of(weights), batch.X.shape[1], weights.shape[1] // 2
        above, below = weights[:n_features], weights[n_features:]
        XW, TW = batch.X @ above, batch.T @ below
        Z, XD = XW[:, :n_components], XW[:, n_components:]
        Zt, TD = TW[:, :n_components], TW[:, n_components:]
        codes = [(self.delta, Z), (1 - self.alpha, Zt)]
        ours, (slope_Z,), slope_Dx = known_term(batch.X, above[:, n_components:], [(self.alpha, Z)], XD)
        if batch.known is None:
            theirs, slopes, slope_Dt = known_term(batch.T, below[:, n_components:], codes, TD)
        else:
            theirs, slopes, slope_Dt = masked_term(batch.T, below[:, n_components:], codes, batch.known)
        slope = xp.empty_like(weights)
        slope[:n_features, :n_components] = batch.X.T @ (slope_Z + slopes[0])
        slope[n_features:, :n_components] = batch.T.T @ slopes[1]
        slope[:n_features, n_components:], slope[n_features:, n_components:] = slope_Dx, slope_Dt
        return ours + theirs + self.of_nothing(batch), slope

    def of_nothing(self, batch):
        """The data terms where all weights are zero."""
        return self.alpha * batch.squares_X + (1 - self.alpha + self.delta) * batch.squares_T

    def coders(self, weights, n_features):
        """What codes features (n_features, n_components) and decodes labels (n_labels, n_components)."""
        n_components = weights.shape[1] // 2
        return weights[:n_features, :n_components], weights[n_features:, n_components:]
