"""Epochs of a descent: shuffled passes over samples, which may end early by what is held out."""

from tagrank.arrays import copy_of, row_blocks
from tagrank.solvers.solution import TracePoint

ROWS = 4096  # held-out samples that are answered at once


def make_epochs(descent, samples, held_out, *, max_iter, decay, batch_size, patience, rng, ending, callback):
    """At most `max_iter` epochs, the step of epoch k divided by 1 + decay k; returns epochs and visits.

    With `held_out` samples (None: none) the weights end as they were when these were answered best, and
    `patience` epochs that do not better this are the last ones.
    """
    best, n_epochs, n_seen, kept = float("inf"), 0, 0, None
    while n_epochs < max_iter and (kept is None or n_epochs - kept[0] < patience):
        order = rng.permutation(len(samples))
        n_visited, loss = descent.learn(
            samples, order, batch_size=batch_size, shrink=1 / (1 + decay * n_epochs), ending=ending
        )
        n_seen += n_visited
        if n_visited < len(samples):
            break
        n_epochs += 1
        if held_out is not None:
            error = answer_error(descent.problem, descent.weights, held_out)
            if error < best:
                best, kept = error, (n_epochs, copy_of(descent.weights))
        if callback is not None:
            # the loss is never negative, and no better bound is known
            callback(TracePoint(n_epochs, ending.seconds, loss, 0.0, 1.0))
    if kept is not None:
        descent.weights = kept[1]
    return n_epochs, n_seen


def answer_error(problem, weights, samples):
    """The mean squared difference of labels and their scores, over the samples."""
    total = 0.0
    for block in row_blocks(len(samples), ROWS):
        batch = samples.take(range(len(samples))[block])
        encoder, decoder = problem.coders(weights, batch.X.shape[1])
        Z = batch.X @ encoder
        if batch.known is None:
            error = ((Z.T @ Z) * (decoder.T @ decoder)).sum() - 2 * (Z * (batch.T @ decoder)).sum()
            total += float(error + batch.squares_T)
        else:
            total += float((((Z @ decoder.T - batch.T) * batch.known) ** 2).sum())
    return total / len(samples)
