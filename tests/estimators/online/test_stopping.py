"""A stream estimator that is asked to stop answers with what it has learned so far."""

import numpy as np
import pytest


@pytest.mark.parametrize("n_blocks", [0, 1, 4])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fit_stops_between_blocks(Online, kernel, n_blocks):
    model = Online(**({"kernel": kernel} if "kernel" in Online().get_params() else {}))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(300, 3)) > 0).astype(float)
    size = model.get_params().get("batch_size", 128)
    n_batches = -(-300 // size)
    answers = iter([False] * n_blocks + [True])
    model.fit(X, Y, stop=lambda: next(answers))
    assert model.n_iter_ == n_blocks // n_batches
    assert model.n_seen_ == 300 * (n_blocks // n_batches) + size * (n_blocks % n_batches)
    assert np.all(np.isfinite(model.decision_function(X)))
