"""Sums over columns of pairs of rows, compiled for a GPU: chi-square distances and intersections.

Loaded only where Triton is installed, which comes with torch for CUDA.
"""

import triton
import triton.language as tl

LEFT, RIGHT = 64, 64  # rows of a tile


def sum_columns(X, Z, is_distance):
    """sum_t (x_t - z_t)^2 / (x_t + z_t), or sum_t min(x_t, z_t), of rows on a GPU, shape (n_x, n_z)."""
    answer = X.new_empty((len(X), len(Z)))
    left, right = X.T.contiguous(), Z.T.contiguous()
    grid = (triton.cdiv(len(X), LEFT), triton.cdiv(len(Z), RIGHT))
    _sum_tile[grid](left, right, answer, len(X), len(Z), X.shape[1], is_distance, LEFT, RIGHT)
    return answer


@triton.jit
def _sum_tile(
    X, Z, answer, n_left, n_right, n_columns,
    is_distance: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * LEFT + tl.arange(0, LEFT)
    j = tl.program_id(1) * RIGHT + tl.arange(0, RIGHT)
    total = tl.zeros((LEFT, RIGHT), answer.dtype.element_ty)
    for t in range(n_columns):
        x = tl.load(X + t * n_left + i, mask=i < n_left, other=0.0)[:, None]
        z = tl.load(Z + t * n_right + j, mask=j < n_right, other=0.0)[None, :]
        if is_distance:
            difference = x - z
            # two empty bins are no distance apart
            total += difference * difference / tl.maximum(x + z, 1e-37)
        else:
            total += tl.minimum(x, z)
    where = i.to(tl.int64)[:, None] * n_right + j[None, :]
    tl.store(answer + where, total, mask=(i < n_left)[:, None] & (j < n_right)[None, :])
