"""A stack of kernels from rows: in memory while it is small, in files on disk when it is not."""

import shutil
import tempfile
import weakref
from pathlib import Path

import numpy as np

from tagrank.kernels.gram import float_type, n_rows, sliceable
from tagrank.kernels.stack.checks import check_kernels, check_named_gram, check_names, kernel_titles
from tagrank.kernels.stack.files import open_stack, write_matrices
from tagrank.kernels.stack.kernel_stack import KernelStack
from tagrank.memory import available_memory

LARGEST_IN_MEMORY = 2 * 2**30  # bytes of all matrices together; more go to disk
LARGEST_SHARE = 0.25  # of the memory that is free


def stack_of_kernels(kernels, X, *, names=None, dtype=None, folder=None, n_jobs=None, progress=None):
    """Every kernel fitted to the rows `X`, and the stack of their Gram matrices.

    Above `LARGEST_IN_MEMORY` bytes, or a quarter of the free memory, the matrices are float32 files in a
    temporary folder, which goes when the stack and all its parts are gone. One matrix is in memory meanwhile.

    Parameters
    ----------
    kernels : list of Kernel
    X : array or sparse matrix of shape (n, n_features), or mapping of views to such
    names : list of str, optional
    dtype : float32 or float64, optional
        By default that of `X`; in files float32.
    folder : path, optional
        A new folder that keeps the matrices, whatever their size; `open_stack` opens it again.
    n_jobs : int, optional
        Number of threads; all cores by default.
    progress : function of (number of kernels done, number of kernels, what is being done), optional

    Returns
    -------
    fitted : list of Kernel
    stack : KernelStack
    """
    kernels, X = check_kernels(kernels), sliceable(X)
    titles, names = kernel_titles(names, len(kernels)), check_names(names, len(kernels))
    fitted = []

    def matrices(dtype, out=None):
        for j, kernel in enumerate(kernels):
            if progress is not None:
                progress(j, len(kernels), "comparing")
            kernel, K = kernel.fit_gram(X, out=out, dtype=dtype, n_jobs=n_jobs)
            fitted.append(kernel)
            yield check_named_gram(K, titles[j])

    n_samples = n_rows(X)
    if folder is None and _fits_memory(len(kernels) * n_samples**2 * float_type(X, dtype).itemsize):
        return fitted, KernelStack(list(matrices(float_type(X, dtype))), names, trusted=True)
    dtype = np.dtype(np.float32) if dtype is None else float_type(X, dtype)
    written = matrices(dtype, np.empty((n_samples, n_samples), dtype))
    return fitted, _stack_in_files(written, folder, names=names, n_samples=n_samples, dtype=dtype)


def raise_stack(stack, power):
    """The stack of all kernels to a power, entry by entry; in files where it is too large for memory."""
    raised = (stack.kernel(j) ** power for j in range(stack.n_kernels))
    if _fits_memory(stack.n_kernels * stack.n_samples**2 * stack.dtype.itemsize):
        return KernelStack(list(raised), stack.names, trusted=True)
    return _stack_in_files(raised, None, names=stack.names, n_samples=stack.n_samples, dtype=stack.dtype)


def _stack_in_files(written, folder, *, names, n_samples, dtype):
    """A stack of matrices that come one by one, in a folder or in a temporary one."""
    place = _TemporaryFolder() if folder is None else None
    target = place.path / "stack" if folder is None else Path(folder)
    try:
        write_matrices(
            written, target, names=names, n_samples=n_samples, dtype=dtype, keep=folder is not None
        )
    except BaseException:
        if place is not None:
            place.remove()
        raise
    stack = open_stack(target, check=False)
    stack.keep_alive(place)
    return stack


class _TemporaryFolder:
    """A folder that is removed with this object, or when Python ends."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="tagrank-kernels-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _fits_memory(n_bytes):
    return n_bytes <= min(LARGEST_IN_MEMORY, LARGEST_SHARE * available_memory())
