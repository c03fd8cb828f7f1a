"""Products of all label vectors with each other, made of the few entries in which they differ.

Most samples have few of the labels, and so their vectors are v_i = c + d_i with the vector c of a sample that
has none, and a sparse d_i. With a matrix S of label similarities

    v_i' S v_j = d_i' S d_j + s_i + s_j,        s_i = c' S d_i + c' S c / 2,

which is one product of sparse rows (d_i, s_i, 1) with dense columns (S d_j, 1, s_j).
"""

import numpy as np
from scipy import sparse

MOST_STORED = 0.2  # of all entries: with more of them a dense product takes less time
MOST_CANCELLED = 100  # c and d_i may have so many times the square of the length of their sum v_i


def label_products(V, common, similarity, dtype):
    """Products of label vectors scaled to unit length, as a function of two slices (rows, columns).

    Parameters
    ----------
    V : array, shape (n_samples, n_labels); a row of zeros has products of zero
    common : array, shape (n_labels,), what most entries of V are
    similarity : array S, shape (n_labels, n_labels), or None for the identity
    dtype : float32 or float64, of the products

    Returns
    -------
    products : function, or None if dense products take less time or keep more digits
    """
    from tagrank.kernels.sparse_tiles import multiply_tile

    tells = V.any(axis=1)
    differs = (common != V) & tells[:, None]
    if np.count_nonzero(differs) > MOST_STORED * V.size:
        return None
    D = _differences(V, common, differs)
    own = common if similarity is None else similarity @ common
    pulled = D.toarray() if similarity is None else D @ similarity
    shares = D @ own + common @ own / 2
    sizes = np.asarray(D.multiply(pulled).sum(axis=1)).ravel()
    squares = sizes + 2 * shares
    if np.any(tells & (sizes + common @ own >= MOST_CANCELLED * squares)):
        return None
    scale = tells / np.sqrt(np.where(tells, squares, 1.0))
    ends = np.stack([shares, np.ones(len(V))], axis=1)
    left = (sparse.diags_array(scale) @ sparse.hstack([D, ends], format="csr")).astype(dtype)
    right = np.empty((len(common) + 2, len(V)), dtype)
    np.multiply(pulled.T, scale, out=right[:-2], casting="same_kind")
    np.multiply(ends[:, ::-1].T, scale, out=right[-2:], casting="same_kind")
    return lambda rows, columns: multiply_tile(left, right, rows, columns)


def _differences(V, common, differs):
    """V - common where `differs`, in CSR format."""
    where = np.flatnonzero(differs)
    columns = (where % V.shape[1]).astype(np.int32)
    indptr = np.append(0, np.cumsum(np.count_nonzero(differs, axis=1)))
    return sparse.csr_array((V.ravel()[where] - common[columns], columns, indptr), shape=V.shape)
