"""Stacks to a power."""

import numpy as np
import pytest

from tagrank.kernels import Gaussian, KernelStack
from tagrank.kernels.stack import making


@pytest.mark.parametrize("in_files", [False, True])
def test_every_kernel_is_raised(monkeypatch, in_files):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    grams = [Gaussian(gamma)(rows, rows) for gamma in (0.1, 0.5)]
    if in_files:
        monkeypatch.setattr(making, "LARGEST_IN_MEMORY", 1)
    raised = making.raise_stack(KernelStack(grams, ["wide", "narrow"]), 3)
    assert raised.names == ("wide", "narrow")
    np.testing.assert_allclose(raised.combined([0.3, 0.7]), 0.3 * grams[0] ** 3 + 0.7 * grams[1] ** 3)
    assert (raised._folder is not None) == in_files
