"""Sweeps over a block of samples, compiled for a GPU: the hinge loss, one label a warp.

Loaded only where Triton is installed, which comes with torch for CUDA.
"""

import triton
import triton.language as tl

ENOUGH = 0.1  # a label is swept again until its largest gap falls below this share of the first


def sweep_hinge(bounds, coefficients, corner, scores, least_gap, n_sweeps):
    """New coefficients (n_labels, n_rows) of a block by exact steps, as `Hinge.sweep_block` takes them.

    Parameters
    ----------
    bounds, coefficients, scores : arrays on a GPU, shape (n_labels, n_rows), their rows side by side
    corner : array there, shape (n_rows, n_rows), their similarities
    least_gap : a coefficient whose part of the gap is not larger stays as it is
    n_sweeps : at most
    """
    n_labels, n_rows = scores.shape
    slack = 1 - scores * bounds.sign()
    gaps = bounds.abs() * slack.clamp(min=0) - coefficients.abs() * slack
    diagonal = corner.diagonal()
    is_active = (gaps > least_gap) & (diagonal > 0)
    # what stays as it is has no room
    low = bounds.clamp(max=0).where(is_active, coefficients).contiguous()
    high = bounds.clamp(min=0).where(is_active, coefficients).contiguous()
    inverses = (1 / diagonal).where(diagonal > 0, diagonal.new_zeros(())).contiguous()
    new = coefficients.contiguous().clone()
    _sweep_label[(n_labels,)](
        bounds.contiguous(), low, high, new, corner.contiguous(), inverses, scores.contiguous(),
        n_rows, least_gap, n_sweeps, ENOUGH, triton.next_power_of_2(n_rows), num_warps=1,
    )  # fmt: skip
    return new


@triton.jit
def _sweep_label(
    bounds, low, high, new, corner, inverses, scores,
    n_rows, least_gap, n_sweeps, enough, WIDTH: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, WIDTH)
    inside = at < n_rows
    first_of_label = tl.program_id(0).to(tl.int64) * n_rows
    own = tl.load(scores + first_of_label + at, mask=inside, other=0.0)
    mine = tl.load(new + first_of_label + at, mask=inside, other=0.0)
    sweep = 0
    go_on = n_sweeps > 0
    first = 0.0 * tl.sum(own)
    while go_on:
        largest = 0.0 * first
        for position in range(n_rows):
            b = position if sweep % 2 == 0 else n_rows - 1 - position
            row = tl.load(corner + b.to(tl.int64) * n_rows + at, mask=inside, other=0.0)
            bound = tl.load(bounds + first_of_label + b)
            least = tl.load(low + first_of_label + b)
            most = tl.load(high + first_of_label + b)
            inverse = tl.load(inverses + b)
            here = at == b
            score = tl.sum(tl.where(here, own, 0.0))
            old = tl.sum(tl.where(here, mine, 0.0))
            miss = tl.where(bound > 0, 1.0, -1.0) - score
            taken = tl.minimum(tl.maximum(old + miss * inverse, least), most)
            change = taken - old
            slack = tl.where(bound > 0, miss, -miss)
            gap = tl.abs(bound) * tl.maximum(slack, 0.0) - tl.abs(old) * slack
            largest = tl.maximum(largest, tl.where(change != 0, gap, 0.0))
            mine = tl.where(here, taken, mine)
            own += change * row
        first = tl.where(sweep == 0, largest, first)
        sweep += 1
        go_on = (sweep < n_sweeps) & (largest > tl.maximum(least_gap, enough * first))
    tl.store(new + first_of_label + at, mine, mask=inside)
