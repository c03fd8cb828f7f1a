"""The product of two Gram matrices, and tiles of products with sparse rows."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.kernels.gram_product import multiply_gram, multiply_tile


@pytest.mark.parametrize("n_samples", [1, 40, 1100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_product(n_samples, dtype, n_jobs):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(n_samples, 7)), rng.normal(size=(n_samples, 3))
    K, L, scale = X @ X.T, Z @ Z.T, rng.uniform(0.1, 1, n_samples)
    scale[0] = 0
    product = multiply_gram(K, lambda rows, columns: L[rows, columns], scale.astype(dtype), n_jobs=n_jobs)
    assert product.dtype == dtype
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(product, K * L * np.outer(scale, scale), rtol=0, atol=tolerance)
    np.testing.assert_allclose(product, product.T, rtol=0, atol=tolerance)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("other", [0.0, 1.0])
def test_what_is_not_finite_is_found(value, other):
    K = np.ones((600, 600))
    K[550, 20] = K[20, 550] = value

    def constant(rows, columns):
        return np.full((rows.stop - rows.start, columns.stop - columns.start), other)

    with pytest.raises(ValueError, match="K must be finite"):
        multiply_gram(K, constant, np.ones(600))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_of_products_with_sparse_rows(dtype):
    rng = np.random.default_rng(0)
    X = sparse.random_array((50, 30), density=0.2, rng=rng, format="csr", dtype=dtype)
    W = rng.normal(size=(30, 90)).astype(dtype)
    tile = slice(7, 31), slice(3, 88)
    np.testing.assert_allclose(multiply_tile(X, W, *tile), (X @ W)[tile], rtol=0, atol=1e-5)
