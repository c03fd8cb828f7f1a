"""What a step changes in the coefficients of one sample, as a short list: most labels stay as they are."""

from numba import njit

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}


@njit(cache=True)
def take_changes(new, current, where, changed):
    """Which entries change and by how much; `current` becomes `new`. Returns their number."""
    n_changed = 0
    for label in range(new.shape[0]):
        change = new[label] - current[label]
        where[n_changed], changed[n_changed] = label, change
        n_changed += change != 0
        current[label] = new[label]
    return n_changed


@njit(cache=True, fastmath=FAST)
def sum_of_squares(changed, n_changed):
    total = changed.dtype.type(0)
    for k in range(n_changed):
        total += changed[k] * changed[k]
    return total
