"""What a step changes in the coefficients of one sample, in short: most of them stay as they are."""

from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}


@njit(cache=True)
def find_moves(new, current, where, moved):
    """Which entries change and by how much; `current` becomes `new`. Returns their number."""
    n_moved = 0
    for label in range(new.shape[0]):
        change = new[label] - current[label]
        where[n_moved], moved[n_moved] = label, change
        n_moved += change != 0
        current[label] = new[label]
    return n_moved


@njit(cache=True, fastmath=FAST)
def square_of_moves(moved, n_moved):
    total = moved.dtype.type(0)
    for k in range(n_moved):
        total += moved[k] * moved[k]
    return total
