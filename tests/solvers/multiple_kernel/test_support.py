"""Weights that are searched on the samples with coefficients, and proved on all."""

import numpy as np
import pytest

from tagrank.solvers.multiple_kernel import solve_kernels, support


@pytest.fixture
def parts(monkeypatch):
    """The numbers of samples of all parts that were searched."""
    sizes = []

    def search(part, *arguments, **options):
        sizes.append(part.stack.n_samples)
        return support_search(part, *arguments, **options)

    support_search = support.search
    monkeypatch.setattr(support, "search", search)
    return sizes


def easy_case(plain_stack, n_samples=300, seed=0):
    """Two clear clusters: few samples lie near the border."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n_samples) < 0.5, 1.0, -1.0)
    blocks = [signs[:, None] * shift + rng.normal(size=(n_samples, 3)) for shift in (2.0, 1.0, 0.0)]
    return plain_stack([rows @ rows.T / 3 for rows in blocks]), signs[:, None]


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_the_optimum_is_that_of_all_samples(norm, plain_stack, losses, parts):
    stack, bounds = easy_case(plain_stack)
    exact = solve_kernels(stack, losses["hinge"], bounds, norm=norm, tol=1e-6, solver="silp")
    assert not parts
    solution = solve_kernels(stack, losses["hinge"], bounds, norm=norm, tol=1e-5)
    assert parts
    assert max(parts) < 0.6 * len(bounds)
    assert solution.converged
    assert solution.dual <= exact.primal
    assert exact.dual <= solution.primal
    assert solution.primal == pytest.approx(exact.primal, rel=2e-5)


def test_samples_that_were_left_out_come_back(plain_stack, losses, parts, monkeypatch):
    """A first training that looks at nothing: all samples that matter are found later."""
    stack, bounds = easy_case(plain_stack)
    start = np.zeros(bounds.shape)
    start[0] = bounds[0]
    monkeypatch.setattr(support.SupportProblem, "_train", _without_first_training(parts))
    solution = solve_kernels(stack, losses["hinge"], bounds, tol=1e-5, start=start)
    assert parts[0] == 1
    assert parts == sorted(parts)
    assert solution.converged
    exact = solve_kernels(stack, losses["hinge"], bounds, tol=1e-6, solver="silp")
    assert solution.primal == pytest.approx(exact.primal, rel=2e-5)


def _without_first_training(parts):
    train = support.SupportProblem._train

    def quick(self, data, max_iter):
        return train(self, data, max_iter if parts else 0)

    return quick


def test_many_samples_with_coefficients_are_searched_as_they_are(make_case, losses, parts):
    case = make_case()
    assert solve_kernels(case.stack, losses["ranking"], case.bounds.copy()).converged
    assert not parts


def test_large_parts_are_not_copied(plain_stack, losses, parts, monkeypatch):
    stack, bounds = easy_case(plain_stack)
    monkeypatch.setattr(support, "PART_MEGABYTES", 1e-3)
    assert solve_kernels(stack, losses["hinge"], bounds).converged
    assert not parts


def test_ends_inside_a_part_leave_a_certificate(plain_stack, losses, parts):
    stack, bounds = easy_case(plain_stack)
    for max_iter in (2, 3, 4):
        solution = solve_kernels(stack, losses["hinge"], bounds, tol=1e-9, max_iter=max_iter)
        assert (solution.stopped_by, solution.n_iter) == ("max_iter", max_iter)
        assert 0 <= solution.gap < 1
    parts.clear()
    solution = solve_kernels(stack, losses["hinge"], bounds, tol=1e-9, stop=lambda: len(parts) > 0)
    assert solution.stopped_by == "stop"
    assert 0 <= solution.gap < 1
