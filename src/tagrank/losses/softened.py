"""Losses with slopes and curvatures everywhere, for Newton steps on the primal problem.

With bounds B (+C for a present label, -C for an absent one, 0 unknown), scores F and margins m = sign(B) F:

    loss      |B| e log(1 + exp(x)),  x = (o - m) / e
    share     u = 1 / (1 + exp(-x)), between 0 and 1
    slope     -B u;  B u is a feasible coefficient of the dual problem
    curvature |B| u (1 - u) / e

With the offset o = 0 and the temperature e = 1 this is the logistic loss. With o = 1 it is above the hinge
loss |B| max(0, 1 - m) by |B| e log 2 at most, and the coefficients B u are feasible for the dual of the hinge
loss itself: at every temperature they prove how far away its optimum is. e may differ from label to label.

Arrays have the shape (n_labels, n_samples): what belongs to one label lies side by side. Sums are those of
one block of samples, over the samples, for each label:

    measured   loss, unsoftened loss, dual term (|B| u, or |B| times the entropy of u), curvature

The same formulas stand here twice: compiled for numpy, and as operations of any array library.
"""

import numpy as np

from tagrank.arrays import namespace_of
from tagrank.losses.exponentials import exp, log
from tagrank.resources import compiled, share_out

FAST = {"contract", "nsz", "arcp", "reassoc"}  # nan must be seen
LOGISTIC, HINGE = 0.0, 1.0  # offsets
ENOUGH_ENTRIES = 5000  # of samples and labels, for a thread to be worth its start
FARTHEST = 40.0  # exp(-40) is as good as zero; smaller numbers would slow products of float32 down


def measure(bounds, cost, scores, offset, temperatures):
    """Coefficients and curvatures (n_labels, n_samples), and the sums that are measured (4, n_labels).

    Parameters
    ----------
    bounds : array, shape (n_labels, n_samples), for C = 1
    cost : float, C
    scores : floats of the same shape
    offset : LOGISTIC or HINGE
    temperatures : array, shape (n_labels,), of the type of the scores
    """
    if namespace_of(scores) is np:
        coefficients, curvatures = np.empty_like(scores), np.empty_like(scores)
        numbers = scores.dtype.type(cost), scores.dtype.type(offset)
        sums = np.zeros((4, len(scores)))
        share_out(
            _measure, len(scores), bounds, scores, *numbers, temperatures, coefficients, curvatures, sums,
            least=_enough(scores),
        )  # fmt: skip
        return coefficients, curvatures, sums
    xp = namespace_of(scores)
    temperatures = temperatures[:, None]
    size, misses = cost * xp.abs(bounds), offset - xp.sign(bounds) * scores
    x = misses / temperatures
    e = xp.exp(-xp.abs(x))
    high = 1 / (1 + e)
    low = e * high
    shares = xp.where(x > 0, high, low)
    softened = size * temperatures * (xp.clip(x, 0, None) + xp.log1p(e))
    if offset == HINGE:
        true, dual = size * xp.clip(misses, 0, None), size * shares
    else:
        # -u log u - (1 - u) log(1 - u) = log(1 + e) + |x| e / (1 + e)
        true, dual = softened, size * (xp.log1p(e) + xp.abs(x) * low)
    curvatures = size * high * low / temperatures
    # sums of millions of numbers need more digits than the numbers
    parts = (softened, true, dual, curvatures)
    sums = xp.stack([xp.sum(part, 1, dtype=xp.float64) for part in parts])
    return cost * bounds * shares, curvatures, sums


def losses(bounds, cost, scores, changes, steps, offset, temperatures):
    """Sums (n_labels,) of the softened losses at scores + steps * changes, see `measure`."""
    if namespace_of(scores) is np:
        numbers = scores.dtype.type(cost), scores.dtype.type(offset)
        sums = np.zeros(len(scores))
        share_out(
            _losses, len(scores), bounds, scores, changes, steps, *numbers, temperatures, sums,
            least=_enough(scores),
        )  # fmt: skip
        return sums
    xp = namespace_of(scores)
    misses = offset - xp.sign(bounds) * (scores + steps[:, None] * changes)
    x = misses / temperatures[:, None]
    softened = temperatures[:, None] * (xp.clip(x, 0, None) + xp.log1p(xp.exp(-xp.abs(x))))
    return cost * xp.sum(xp.abs(bounds) * softened, 1, dtype=xp.float64)


def _enough(scores):
    """Labels that are worth a thread."""
    return max(1, ENOUGH_ENTRIES // max(1, scores.shape[1]))


@compiled()
def _measure(bounds, scores, cost, offset, temperatures, coefficients, curvatures, sums, start, stop):
    for k in range(start, stop):
        temperature = temperatures[k]
        _bend_label(bounds[k], scores[k], cost, offset, temperature, coefficients[k], curvatures[k])
        parts = _sum_label(bounds[k], scores[k], cost, offset, temperature)
        sums[0, k], sums[1, k], sums[2, k], sums[3, k] = parts


@compiled(fastmath=FAST, error_model="numpy")
def _bend_label(bounds, scores, cost, offset, temperature, coefficients, curvatures):
    kind = scores.dtype.type
    zero, one, farthest, inverse = kind(0), kind(1), kind(FARTHEST), kind(1) / temperature
    for i in range(len(scores)):
        bound = kind(bounds[i])
        x = (offset - (scores[i] if bound > zero else -scores[i])) * inverse
        e = exp(-min(abs(x), farthest))
        high = one / (one + e)
        low = e * high
        coefficients[i] = cost * bound * (high if x > zero else low)
        curvatures[i] = cost * abs(bound) * high * low * inverse


@compiled(fastmath=FAST, error_model="numpy")
def _sum_label(bounds, scores, cost, offset, temperature):
    """Apart from `_bend_label`: in one loop the compiler would take one entry at a time."""
    kind = scores.dtype.type
    zero, one, farthest, inverse = kind(0), kind(1), kind(FARTHEST), kind(1) / temperature
    beyond = missed = pressed = shared = bent = 0.0
    for i in range(len(scores)):
        bound = kind(bounds[i])
        size = abs(bound)
        miss = offset - (scores[i] if bound > zero else -scores[i])
        far = min(abs(miss * inverse), farthest)
        e = exp(-far)
        high = one / (one + e)
        low = e * high
        beyond += size * log(1 + np.float64(e))
        missed += size * max(miss, zero)
        pressed += size * far * low
        shared += size * (high if miss > zero else low)
        bent += size * high * low
    softened = temperature * beyond + missed
    parts = (softened, missed, shared) if offset > zero else (softened, softened, beyond + pressed)
    return cost * parts[0], cost * parts[1], cost * parts[2], cost * inverse * bent


@compiled()
def _losses(bounds, scores, changes, steps, cost, offset, temperatures, sums, start, stop):
    for k in range(start, stop):
        sums[k] = _losses_of_label(bounds[k], scores[k], changes[k], steps[k], cost, offset, temperatures[k])


@compiled(fastmath=FAST, error_model="numpy")
def _losses_of_label(bounds, scores, changes, step, cost, offset, temperature):
    kind = scores.dtype.type
    zero, farthest, inverse = kind(0), kind(FARTHEST), kind(1) / temperature
    beyond = missed = 0.0
    for i in range(len(scores)):
        bound = kind(bounds[i])
        score = scores[i] + step * changes[i]
        miss = offset - (score if bound > zero else -score)
        e = exp(-min(abs(miss * inverse), farthest))
        beyond += cost * abs(bound) * log(1 + np.float64(e))
        missed += cost * abs(bound) * max(miss, zero)
    return temperature * beyond + missed
