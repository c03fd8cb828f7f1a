"""Every loss keeps the contract of `tagrank.losses.loss`, and none of them escapes these checks."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import tagrank.losses
from tagrank.losses.loss import Loss
from tagrank.solvers.dual_ascent import LOSSES as BY_NAME
from tagrank.solvers.dual_ascent import load_loss

LOSSES = sorted(
    {
        thing
        for module in pkgutil.iter_modules(tagrank.losses.__path__, "tagrank.losses.")
        for thing in vars(importlib.import_module(module.name)).values()
        if inspect.isclass(thing) and issubclass(thing, Loss) and thing.__module__ != Loss.__module__
    },
    key=lambda loss: loss.__name__,
)
every_loss = pytest.mark.parametrize("kind", LOSSES)


@pytest.fixture
def bounds():
    rng = np.random.default_rng(0)
    states = rng.choice([-1, 0, 1], size=(30, 5), p=[0.5, 0.2, 0.3])
    states[0], states[1], states[2] = 1, -1, 0
    return states * rng.uniform(0.5, 2, size=states.shape)


def test_losses_are_found():
    assert len(LOSSES) >= 5


def test_the_engine_knows_every_loss_by_name():
    assert sorted(load_loss(name).__name__ for name in BY_NAME) == [loss.__name__ for loss in LOSSES]


@every_loss
def test_all_that_a_loss_must_have_is_there(kind):
    assert not inspect.isabstract(kind)
    for name in Loss.__abstractmethods__:
        expected = [p for p in inspect.signature(getattr(Loss, name)).parameters if p != "self"]
        assert [p for p in inspect.signature(getattr(kind, name)).parameters if p != "self"] == expected


@every_loss
def test_coefficients_become_feasible_in_place_and_feasible_ones_stay(kind, bounds):
    start = np.random.default_rng(1).normal(scale=10, size=bounds.shape)
    coefficients = start.copy()
    loss = kind(bounds, coefficients)
    assert loss.coefficients is coefficients
    assert np.all(coefficients * bounds >= 0)
    assert not np.array_equal(coefficients, start)
    once = coefficients.copy()
    kind(bounds, coefficients)
    np.testing.assert_allclose(coefficients, once, rtol=1e-12, atol=1e-12)
    loss.repair(coefficients)
    np.testing.assert_allclose(coefficients, once, rtol=1e-12, atol=1e-12)


@every_loss
def test_without_kernel_the_gap_is_closed(kind, bounds):
    """Scores are zero there, and every loss is met by its coefficients."""
    coefficients = np.array(kind.without_kernel(bounds))
    loss = kind(bounds, np.zeros(bounds.shape))
    sums, thresholds = loss.measure(bounds, coefficients, np.zeros(bounds.shape[::-1]))
    np.testing.assert_allclose(sums[0], sums[1], atol=1e-12)
    assert not sums[2].any()
    assert thresholds is None or thresholds.shape == (2, len(bounds))


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_the_part_of_a_sample_in_the_gap_is_never_negative(kind, seed, bounds):
    rng = np.random.default_rng(seed)
    coefficients, scores = rng.normal(size=bounds.shape), rng.normal(scale=2, size=bounds.shape[::-1])
    loss = kind(bounds, coefficients)
    sums, _ = loss.measure(bounds, coefficients, scores)
    assert np.all(sums[0] - sums[1] + sums[2] >= -1e-12)
