"""Which array library an array belongs to, walking over its rows in blocks; pandas, when asked for."""

import sys
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np


def namespace_of(array):
    """The array library that owns `array`: numpy, torch or cupy, never a global switch."""
    for name in ("torch", "cupy"):
        library = sys.modules.get(name)
        if library is not None and type(array).__module__.split(".")[0] == name:
            return library
    return np


def need_pandas():
    """pandas, or an ImportError that says how to install it."""
    try:
        import pandas
    except ImportError:
        raise ImportError("DataFrames need pandas: pip install 'tagrank[pandas]'") from None
    return pandas


def to_host(array):
    """`array` as a numpy array, copied from a device if it lives on one."""
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy()
    if hasattr(array, "get") and type(array).__module__.startswith("cupy"):
        return array.get()
    return np.asarray(array)


def beside(values, array, dtype=None):
    """`values` as an array of the library, and on the device, of `array`."""
    xp = namespace_of(array)
    # cupy follows the current device and takes no such argument
    where = {"device": array.device} if xp.__name__ == "torch" else {}
    return xp.asarray(values, dtype=dtype, **where)


def is_elsewhere(array):
    """Whether an array belongs to torch or CuPy."""
    return namespace_of(array) is not np


def part_of(matrix, rows, columns):
    """The entries of a matrix in some rows and columns, given by indices."""
    if is_elsewhere(matrix):
        return matrix[beside(rows, matrix)][:, beside(columns, matrix)]
    return matrix[np.ix_(rows, columns)]


def free_memory_beside(array):
    """Bytes that are free on the GPU that an array lives on; None if it lives on none."""
    xp = namespace_of(array)
    if xp.__name__ == "cupy":
        return float(xp.cuda.Device(array.device.id).mem_info[0] + xp.get_default_memory_pool().free_bytes())
    if xp.__name__ == "torch" and array.device.type == "cuda":
        held = xp.cuda.memory_reserved(array.device) - xp.cuda.memory_allocated(array.device)
        return float(xp.cuda.mem_get_info(array.device)[0] + held)
    return None


def empty_beside(shape, array):
    """An array of the library, type and device of `array`, whose numbers are not set."""
    if hasattr(array, "new_empty"):
        return array.new_empty(shape)
    return namespace_of(array).empty(shape, dtype=array.dtype)


def has_triton(array):
    """Whether Triton compiles code for the device of `array`: CUDA by torch."""
    is_cuda = namespace_of(array).__name__ == "torch" and str(array.device).startswith("cuda")
    return is_cuda and find_spec("triton") is not None


def astype(array, dtype):
    """`array` in another type of its library, itself where it has that type."""
    if array.dtype == dtype:
        return array
    return array.to(dtype) if hasattr(array, "detach") else array.astype(dtype)


@contextmanager
def rounded_products(array):
    """Inside, products of float32 matrices on a GPU of torch may be rounded to 10 bits, which is far faster.

    Good enough for the direction of a step; the length of a step and all that is certified need more.
    """
    xp = namespace_of(array)
    if xp.__name__ != "torch" or array.device.type != "cuda":
        yield
        return
    settings = xp.backends.cuda.matmul
    before, settings.allow_tf32 = settings.allow_tf32, True
    try:
        yield
    finally:
        settings.allow_tf32 = before


def copy_of(array):
    """A copy that shares nothing with `array`, in the same place."""
    return array.clone() if hasattr(array, "clone") else array.copy()


def on_device(values, device):
    """`values` as a torch tensor on a device such as "cpu" or "cuda"; as a numpy array if it is None."""
    if device is None:
        return np.asarray(values)
    try:
        import torch
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"device={device!r} needs torch, which is not installed: pip install 'tagrank[gpu]'; device=None "
            "computes without it",
            name="torch",
        ) from None
    try:
        return torch.asarray(values, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device must name one that torch can use here, got {device!r}: {error}") from None


def written_zeros(shape, dtype=np.float64):
    """Zeros for arrays that several threads read before they write them.

    Pages of np.zeros are faulted in twice then, the second time with a halt of all cores.
    """
    return np.full(shape, 0, dtype)


def row_blocks(n_rows, block_size):
    """Consecutive slices that cover range(n_rows)."""
    for start in range(0, n_rows, block_size):
        yield slice(start, min(start + block_size, n_rows))


def rows_within(n_columns, *, itemsize=8, megabytes=64):
    """How many rows of `n_columns` fit into `megabytes`, at least one."""
    return max(1, int(megabytes * 2**20 // max(1, n_columns * itemsize)))
