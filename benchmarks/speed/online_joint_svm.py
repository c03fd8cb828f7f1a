"""OnlineJointSVM on a stream: one million rows of 500 features, 100 labels, one pass, constant memory.

The stream is drawn in chunks while it is learned, and never held. Times are those of `partial_fit` alone. The
peer is scikit-learn's SGDClassifier, one for each label, on the first chunks of the same stream; its time is
scaled to the whole.
"""

import resource

import numpy as np
from sklearn.linear_model import SGDClassifier

from tagrank import image_auc
from tagrank.estimators import OnlineJointSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.text import show

MINUTES = 3
QUICK = {"samples": 600, "chunk": 300, "peer_samples": 300}
N_FEATURES, N_LABELS, N_FACTORS = 500, 100, 20


def run(*, samples=1_000_000, chunk=10_000, peer_samples=10_000):
    X_test, Y_test = next(draw_chunks(2_000, 2_000, stream=1))
    OnlineJointSVM().partial_fit(X_test[:200], Y_test[:200])
    peer_seconds = train_peer(peer_samples, chunk) * samples / peer_samples
    print(f"SGDClassifier, label by label: {peer_seconds:.0f} s (scaled from {peer_samples:,} rows)")
    lines = []
    for average in (True, False):
        model, seconds, memory = OnlineJointSVM(average=average), 0.0, []
        for X, Y in draw_chunks(samples, chunk):
            seconds += best_time(model.partial_fit, X, Y, repeats=1).seconds
            memory.append(megabytes())
        line = {
            "average": average,
            "samples": model.n_seen_,
            "seconds": seconds,
            "updates": model.n_updates_,
            "megabytes_after_first_chunks": memory[min(3, len(memory) - 1)],
            "megabytes_at_the_end": memory[-1],
            "auc_on_other_rows": float(image_auc(Y_test, model.decision_function(X_test))),
            "peer_seconds_scaled": peer_seconds,
            "ratio": peer_seconds / seconds,
        }
        show(line, *line)
        lines.append(line)
    yield lines


def draw_chunks(n_samples, chunk, *, stream=0):
    """Float32 rows with hidden factors, and labels that depend on them, each 2 to 10 % positive.

    Streams of other numbers have the same law and other rows.
    """
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((N_FACTORS, N_FEATURES), dtype=np.float32)
    weights = rng.standard_normal((N_FACTORS, N_LABELS), dtype=np.float32) / np.sqrt(N_FACTORS)
    limits = np.quantile(_signal(rng, 20_000, weights)[1], 1 - rng.uniform(0.02, 0.1, N_LABELS), axis=0)
    limits, rng = limits.diagonal(), np.random.default_rng([0, stream])
    for start in range(0, n_samples, chunk):
        size = min(chunk, n_samples - start)
        factors, signal = _signal(rng, size, weights)
        X = factors @ mixing + 2 * rng.standard_normal((size, N_FEATURES), dtype=np.float32)
        yield X, (signal > limits).astype(np.int8)


def _signal(rng, size, weights):
    factors = rng.standard_normal((size, N_FACTORS), dtype=np.float32)
    return factors, factors @ weights + 0.5 * rng.standard_normal((size, N_LABELS), dtype=np.float32)


def megabytes():
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train_peer(n_samples, chunk):
    """Seconds of one SGDClassifier for each label."""
    machines = [SGDClassifier(random_state=0) for _ in range(N_LABELS)]

    def learn(X, Y):
        for label, machine in enumerate(machines):
            machine.partial_fit(X, Y[:, label], classes=[0, 1])

    return sum(best_time(learn, X, Y, repeats=1).seconds for X, Y in draw_chunks(n_samples, chunk))
