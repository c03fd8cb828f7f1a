"""A stack of kernels from rows: in memory while it is small, in files on disk when it is not.

A folder has one plain .npy file a kernel, mapped into memory, and ``stack.json``, which holds names, sizes
and checksums; files are called by number, so that it can lead nowhere else. A folder appears when it is
whole: it is filled under a hidden name beside its place.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.array_files import map_npy, write_npy
from tagrank.arrays import row_blocks, rows_within
from tagrank.files import FileError, name_culprit, naming, open_text
from tagrank.kernels.gram import float_type, n_rows, run_tiles, sliceable
from tagrank.kernels.stack import KernelStack
from tagrank.kernels.stack_checks import check_kernels, check_named_gram, check_names, kernel_titles
from tagrank.resources import available_memory
from tagrank.validation import check_count

LARGEST_IN_MEMORY = 2 * 2**30  # bytes of all matrices together; more go to disk
LARGEST_SHARE = 0.25  # of the memory that is free
FORMAT = 1
INDEX = "stack.json"
DTYPES = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}
LARGEST_INDEX = 2**24  # bytes
FULL = (errno.ENOSPC, errno.EDQUOT)


def stack_of_kernels(kernels, X, *, names=None, dtype=None, folder=None, n_jobs=None, progress=None) -> Any:
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


def save_stack(stack, folder) -> None:
    """Write every kernel of `stack`, whose rows and columns must be the same samples, to a new `folder`.

    A folder that holds something already is an error, and after an error nothing is left.

    Parameters
    ----------
    stack : KernelStack or LowRankStack
    folder : a folder that does not exist yet, or is empty
    """
    stack.diagonals()  # says so if rows and columns differ
    matrices = (stack.kernel(j) for j in range(stack.n_kernels))
    write_matrices(matrices, folder, names=stack.names, n_samples=stack.n_samples, dtype=stack.dtype)


def open_stack(folder, *, check=True) -> Any:
    """The stack that `save_stack` wrote to `folder`, read from disk only where it is used.

    With `check` the files are read once, to compare checksums and to look for what is no Gram matrix: about a
    second for a gigabyte. Without, only their sizes are compared.

    Parameters
    ----------
    folder : where `save_stack` wrote the stack
    check : bool, default True
        Read all files once, compare their checksums and make sure that they are Gram matrices.
    """
    folder = Path(folder)
    names, n_samples, dtype, checksums = _read_index(folder / INDEX)
    paths = [_path_of(folder, j) for j in range(len(names))]
    matrices = [map_npy(path, ((n_samples, n_samples), dtype)) for path in paths]
    if check:
        actual = run_tiles(_checksum_of, paths)
        for path, checksum, expected in zip(paths, actual, checksums, strict=True):
            if checksum != expected:
                raise FileError(path, "has changed since it was written; make the stack of kernels again")
    with naming(folder):
        return KernelStack(matrices, names, trusted=not check)


def write_matrices(matrices, folder, *, names, n_samples, dtype, keep=True):
    """Write an iterable of matrices to a new `folder`, one at a time; `keep` it through a power failure."""
    folder = Path(os.path.abspath(folder))
    n_bytes = len(names) * n_samples**2 * dtype.itemsize
    with _full_disk_explained(folder, n_bytes), _fresh_folder(folder) as fresh:
        if n_bytes > shutil.disk_usage(fresh).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        checksums = [_write_matrix(_path_of(fresh, j), K, dtype, keep) for j, K in enumerate(matrices)]
        kernels = [
            {"name": name, "blake2b": checksum} for name, checksum in zip(names, checksums, strict=True)
        ]
        index = {"format": FORMAT, "n_samples": n_samples, "dtype": dtype.name, "kernels": kernels}
        with _new_file(fresh / INDEX, keep) as file:
            file.write(json.dumps(index, indent=1).encode())


def _path_of(folder, number):
    return folder / f"{number}.npy"


def _write_matrix(path, K, dtype, keep):
    """Write one matrix by blocks of rows; returns the checksum of the file."""
    blocks = row_blocks(len(K), rows_within(K.shape[1], itemsize=dtype.itemsize, megabytes=8))
    with _new_file(path, keep) as file:
        summed = _SummedFile(file)
        write_npy(summed, K.shape, dtype, (K[block] for block in blocks))
    return summed.checksum.hexdigest()


@contextmanager
def _new_file(path, keep):
    with open(path, "xb") as file:
        yield file
        file.flush()
        if keep:
            os.fsync(file.fileno())


class _SummedFile:
    """Takes the checksum of what is written: a large matrix is not read again for it."""

    def __init__(self, file):
        self._file, self.checksum = file, _new_checksum()

    def write(self, piece):
        self.checksum.update(piece)
        return self._file.write(piece)


def _new_checksum():
    return hashlib.blake2b(digest_size=16)


def _checksum_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _new_checksum).hexdigest()


@contextmanager
def _fresh_folder(folder):
    """A hidden folder to fill, which gets the name `folder` when the block ends without an error."""
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir() or any(folder.iterdir())):
        raise FileError(folder, "exists already; remove it, or name another folder")
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        fresh.mkdir()
        yield fresh
        if folder.is_dir():
            folder.rmdir()
        os.rename(fresh, folder)
    except BaseException as error:
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, OSError):
            name_culprit(error, fresh, folder)
        raise


@contextmanager
def _full_disk_explained(folder, n_bytes):
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        free = shutil.disk_usage(folder.parent).free
        raise OSError(
            errno.ENOSPC,
            f"the kernels need {n_bytes:,} bytes on disk and {free:,} are free; make room, or name a folder "
            "on another disk",
            str(folder),
        ) from None


def _read_index(path):
    """Names, number of samples, dtype and checksums, with nothing else than that in them."""
    with naming(path), open_text(path, max_bytes=LARGEST_INDEX) as stream:
        try:
            index = json.load(stream)
        except (ValueError, RecursionError):
            raise ValueError("is not JSON, or damaged") from None
        if not isinstance(index, dict) or index.get("format") != FORMAT:
            raise ValueError(f"is not a stack of kernels of format {FORMAT}")
        try:
            kernels = [(kernel["name"], kernel["blake2b"]) for kernel in index["kernels"]]
            n_samples, dtype = check_count("n_samples", index["n_samples"]), DTYPES[index["dtype"]]
        except (KeyError, TypeError):
            raise ValueError("has no names, checksums, n_samples or dtype") from None
        names, checksums = zip(*kernels, strict=True) if kernels else ((), ())
        return names, n_samples, dtype, checksums
