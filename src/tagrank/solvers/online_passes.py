"""Passes over all samples for rules that learn from one sample after another."""

from tagrank.arrays import row_blocks
from tagrank.solvers.ending import Ending

BLOCK = 128  # samples whose answers are computed at once


def learn_in_passes(learn, n_samples, *, max_iter, rng, stop=None):
    """Visit all samples in random order until a pass changes nothing, `max_iter` passes at most.

    `learn` learns from the samples of some indices and returns how many changed the model. Once `stop`
    answers true, the training ends after the block at hand. Returns whole passes and what ended them: "no
    updates", "max_iter" or "stop".
    """
    ending = Ending(stop=stop)
    for n_iter in range(max_iter):
        n_updates, order = 0, rng.permutation(n_samples)
        for block in row_blocks(n_samples, BLOCK):
            if ending.reason():
                return n_iter, "stop"
            n_updates += learn(order[block])
        if n_updates == 0:
            return n_iter + 1, "no updates"
    return max_iter, "max_iter"
