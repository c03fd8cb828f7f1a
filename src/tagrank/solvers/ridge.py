"""Ridge regression onto many targets at once, in closed form.

    min over f, b    sum_i |y_i - f(x_i) - b|^2 + alpha |f|^2

The intercept b is free: with rows, similarities and targets centred, W = (X'X + alpha I)^-1 X'Y or, where
there are fewer samples than columns or only similarities, W = X'A with A = (K + alpha I)^-1 Y. One Cholesky
factorization serves all targets.

With K = Q diag(s) Q' the fitted values are H Y, H = 11'/n + Q diag(s / (s + alpha)) Q', and a model that
never saw sample i misses it by r_i / (1 - H_ii), r = Y - H Y: one decomposition gives all models of all
penalties that leave one sample out, without a single further fit.
"""

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh


def ridge_on(data, kind):
    """The problem on rows (n_samples, n_features), kind "rows", or on their similarities, kind "gram"."""
    return RidgeOnRows(data) if kind == "rows" else RidgeOnGram(data)


class RidgeOnRows:
    """Rows X (n_samples, n_features), dense or sparse, under the linear kernel.

    Functions are given by their weights (n_features, n_targets).
    """

    def __init__(self, X):
        self.means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        self.is_sparse = sparse.issparse(X)
        # a sparse matrix stays one: what centring takes off is of rank one
        self.X = X.astype(np.float64) if self.is_sparse else X - self.means
        self._shifted = None
        self._on_gram = None

    @property
    def n_samples(self):
        return self.X.shape[0]

    def take(self, rows):
        """The same problem on some of the samples."""
        return RidgeOnRows(self.X[rows])

    def solve(self, Y, alpha):
        """The weights for centred targets Y (n_samples, n_targets)."""
        if self.n_samples < self.X.shape[1]:
            return self.transposed(self.on_fewest().solve(Y, alpha))
        if self._shifted is None or self._shifted.alpha != alpha:
            self._shifted = Shifted(self.moments(), alpha)
        return self._shifted.solve(self.transposed(Y))

    def on_fewest(self):
        """The same problem with coefficients of samples or of columns, whichever are fewer."""
        if self.n_samples >= self.X.shape[1]:
            return self
        if self._on_gram is None:
            self._on_gram = RidgeOnGram.of_centred(self.gram())
        return self._on_gram

    def residuals(self, Y, alpha):
        """What the regression onto targets (n_samples, n_targets) leaves of them."""
        Y = Y - Y.mean(axis=0)
        return Y - self.scores(self.solve(Y, alpha))

    def squared_lengths(self, A):
        """Of the functions X'A for the centred rows, (n_targets,)."""
        return np.sum(self.transposed(A) ** 2, axis=0)

    def scores_by_part(self, weights, rows):
        """Of all samples, centred, by functions that a part of the samples gave."""
        return self.scores(weights)

    def work(self, n_samples):
        """Operations of a regression on a part of the samples, about."""
        n_columns = self.X.shape[1]
        fewest = min(n_samples, n_columns)
        return n_samples * n_columns * fewest + fewest**3 / 3

    def work_of_step(self):
        """Operations of one more regression onto a target, about."""
        return 2 * self.X.shape[1] * (2 * self.n_samples + self.X.shape[1])

    def gram(self):
        """Inner products of the centred rows."""
        K = _dense(self.X @ self.X.T)
        return centred(K) if self.is_sparse else K

    def moments(self):
        """Inner products of the centred columns."""
        S = _dense(self.X.T @ self.X)
        return S - self.n_samples * np.outer(self.means, self.means) if self.is_sparse else S

    def transposed(self, A):
        """X'A for the centred rows."""
        product = self.X.T @ A
        return product - np.outer(self.means, A.sum(axis=0)) if self.is_sparse else product

    def scores(self, weights):
        """Of the training samples, centred."""
        product = self.X @ weights
        return product - self.means @ weights if self.is_sparse else product

    def inner(self, weights, others):
        """Inner products of functions, (n_targets, n_others)."""
        return weights.T @ others

    def offsets(self, weights):
        """The mean of each function over the samples as they were before centring."""
        return self.means @ weights

    def spectrum(self):
        """Orthonormal columns (n_samples, rank) and eigenvalues (rank,) of the centred Gram matrix."""
        if self.n_samples <= self.X.shape[1]:
            return decompose(self.gram())
        vectors, values = decompose(self.moments())
        return self.scores(vectors) / np.sqrt(values), values


class RidgeOnGram:
    """Similarities K (n_samples, n_samples).

    Functions are given by their coefficients (n_samples, n_targets), which sum to zero.
    """

    def __init__(self, K):
        self._hold(centred(K), K.mean(axis=0, dtype=np.float64))

    @classmethod
    def of_centred(cls, K):
        """Similarities that are centred already."""
        ridge = cls.__new__(cls)
        ridge._hold(K, np.zeros(len(K)))
        return ridge

    def _hold(self, K, means):
        self.K, self.means, self._shifted = K, means, None

    @property
    def n_samples(self):
        return len(self.K)

    def take(self, rows):
        return RidgeOnGram(self.K[np.ix_(rows, rows)])

    def solve(self, Y, alpha):
        if self._shifted is None or self._shifted.alpha != alpha:
            self._shifted = Shifted(self.K, alpha)
        return self._shifted.solve(Y)

    def on_fewest(self):
        return self

    def residuals(self, Y, alpha):
        return alpha * self.solve(Y - Y.mean(axis=0), alpha)

    def squared_lengths(self, A):
        return np.sum(A * self.scores(A), axis=0)

    def scores_by_part(self, coefficients, rows):
        return self.K[:, rows] @ coefficients

    def work(self, n_samples):
        return n_samples**3 / 3

    def work_of_step(self):
        return 2 * self.n_samples**2

    def scores(self, coefficients):
        return self.K @ coefficients

    def inner(self, coefficients, others):
        return coefficients.T @ self.scores(others)

    def offsets(self, coefficients):
        return self.means @ coefficients

    def spectrum(self):
        return decompose(self.K)


def centred(K):
    """Similarities of samples whose mean, in the space of the kernel, is the origin."""
    means = K.mean(axis=0, dtype=np.float64)
    centred = K - means.astype(K.dtype)
    centred -= (means - means.mean()).astype(K.dtype)[:, None]
    return centred


class Shifted:
    """A semidefinite matrix with alpha on its diagonal, factored, in its own precision if that will do."""

    def __init__(self, matrix, alpha):
        self.alpha = alpha
        shifted = matrix.copy()
        shifted.flat[:: len(shifted) + 1] += alpha
        try:
            self.factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            if matrix.dtype == np.float64:
                raise ValueError(
                    f"alpha={alpha:.3g} is too small: with it on the diagonal these similarities are not "
                    "positive definite; choose a larger one"
                ) from None
            self.factor = Shifted(matrix.astype(np.float64), alpha).factor

    def solve(self, targets):
        """(matrix + alpha I)^-1 targets."""
        return cho_solve(self.factor, targets.astype(self.factor[0].dtype, copy=False), check_finite=False)


def decompose(matrix):
    """Eigenvectors, and eigenvalues that are positive but for rounding, of a semidefinite matrix."""
    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    kept = values > len(values) * np.finfo(values.dtype).eps * values.max(initial=0)
    return vectors[:, kept], values[kept]


def leave_one_out(spectrum, Y, alphas):
    """For each penalty the scores of each sample by the model of all others, given centred targets Y."""
    vectors, values = spectrum
    Y = Y.astype(vectors.dtype, copy=False)
    squares, projected = vectors**2, vectors.T @ Y
    for alpha in alphas:
        shares = values / (values + values.dtype.type(alpha))
        left = 1 - 1 / len(Y) - squares @ shares
        residuals = Y - vectors @ (shares[:, None] * projected)
        yield Y - residuals / np.maximum(left, np.finfo(left.dtype).eps)[:, None]


def _dense(product):
    return product.toarray() if sparse.issparse(product) else product
