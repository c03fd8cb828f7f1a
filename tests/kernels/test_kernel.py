"""Kernels add, multiply, scale, look at views and normalise as their Gram matrices do."""

import numpy as np
import pytest
from sklearn.base import clone

from tagrank.kernels import (
    ChiSquared,
    Gaussian,
    Hellinger,
    Intersection,
    Linear,
    Polynomial,
    kernel_from_dict,
)
from tagrank.kernels.gram import gram


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    return {"gist": rng.standard_normal((25, 6)), "sift": rng.exponential(size=(25, 9))}


def test_a_weighted_sum_over_views(views):
    kernel = 0.5 * Gaussian().on("gist") + ChiSquared().on("sift")
    expected = 0.5 * Gaussian()(views["gist"]) + ChiSquared()(views["sift"])
    np.testing.assert_allclose(kernel(views), expected, rtol=1e-12)
    fitted = kernel.fit(views)
    part = {name: values[:4] for name, values in views.items()}
    np.testing.assert_allclose(fitted(part, views), expected[:4], rtol=1e-12)
    assert repr(kernel) == "0.5 * Gaussian().on('gist') + ChiSquared().on('sift')"


def test_terms_carry_their_weights():
    gaussian, linear, hellinger = Gaussian(0.5), Linear(), Hellinger()
    kernel = 2 * (0.5 * gaussian + linear) + hellinger
    assert kernel.terms == ((1.0, gaussian), (2.0, linear), (1.0, hellinger))
    assert gaussian.terms == ((1.0, gaussian),)


def test_arithmetic_equals_that_of_gram_matrices(views):
    X = views["sift"]
    a, b, c = Gaussian(0.2), Intersection(), Hellinger()
    np.testing.assert_allclose((3 * a * b + c)(X), 3 * a(X) * b(X) + c(X), rtol=1e-12)
    np.testing.assert_allclose((a * (b + c))(X), a(X) * (b(X) + c(X)), rtol=1e-12)
    np.testing.assert_allclose((np.float64(0.25) * a)(X), 0.25 * a(X), rtol=1e-12)
    np.testing.assert_allclose((a * 0.25)(X), 0.25 * a(X), rtol=1e-12)
    np.testing.assert_array_equal((0 * a)(X), np.zeros((25, 25)))


def test_columns_of_an_array(views):
    X = views["sift"]
    np.testing.assert_allclose(Linear().on(slice(2, 5))(X), X[:, 2:5] @ X[:, 2:5].T)
    np.testing.assert_allclose(Linear().on([1, 3])(X), X[:, [1, 3]] @ X[:, [1, 3]].T)
    np.testing.assert_allclose(Linear().on(4)(X), np.outer(X[:, 4], X[:, 4]))


def test_unit_diagonal(views):
    X = views["sift"].copy()
    X[3] = 0
    K = Intersection()(X)
    roots = np.sqrt(K.diagonal())
    roots[3] = 1
    np.testing.assert_allclose(Intersection().unit_diagonal()(X), K / np.outer(roots, roots), rtol=1e-12)


def test_unit_trace_is_fixed_by_the_training_rows(views):
    X = views["gist"]
    kernel = Polynomial(2).unit_trace()
    fitted = kernel.fit(X)
    assert np.trace(kernel(X)) == pytest.approx(1)
    trace = np.trace(Polynomial(2).fit(X)(X))
    np.testing.assert_allclose(fitted(X[:3], X[:5]), Polynomial(2).fit(X)(X[:3], X[:5]) / trace)
    assert np.isfinite(kernel(np.zeros((3, 2)))).all()


def test_unit_trace_of_small_integers_does_not_overflow():
    X = np.full((4, 3), 200, np.uint8)
    assert np.trace(Linear().unit_trace()(X)) == pytest.approx(1)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_must_not_be_negative(weight):
    with pytest.raises(ValueError, match="weight of a kernel must be a non-negative number"):
        weight * Linear()


def test_views_that_do_not_exist(views):
    with pytest.raises(KeyError, match=r"needs the view 'hue'; the data has \['gist', 'sift'\]"):
        Linear().on("hue")(views)
    with pytest.raises(TypeError, match="needs a mapping of views"):
        Linear().on("hue")(views["gist"])
    with pytest.raises(TypeError, match="must both be"):
        Linear().on("gist")(views, views["gist"])
    with pytest.raises(ValueError, match="gist has 25, sift has 24"):
        Linear().on("gist")({"gist": views["gist"], "sift": views["sift"][1:]})


def test_nested_parameters_can_be_searched():
    kernel = clone(Gaussian().on("gist"))
    assert kernel.get_params()["kernel__gamma"] is None
    assert kernel.set_params(kernel__gamma=0.5) == Gaussian(0.5).on("gist")
    with pytest.raises(ValueError, match="has the parameters"):
        kernel.set_params(width=3)
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        Gaussian().set_params(gamma=-1)


def test_a_sum_fixes_all_widths_and_adds_its_terms_in_one_go():
    rng = np.random.default_rng(4)
    views = {"a": rng.random((30, 5)), "b": rng.standard_normal((30, 3))}
    kernel = 0.3 * ChiSquared().on("a") + 0.7 * Gaussian().on("b") + Linear().on("b")
    fitted, K = kernel.fit_gram(views)
    assert fitted == kernel.fit(views)
    np.testing.assert_allclose(K, gram(fitted, views), rtol=1e-12, atol=1e-14)
    out = np.empty((30, 30), np.float32)
    assert kernel.fit_gram(views, out=out, dtype=np.float32)[1] is out
    np.testing.assert_allclose(out, K, rtol=1e-5, atol=1e-6)


def test_a_whole_power(views):
    kernel = (0.5 * Gaussian().on("gist") + 0.5 * ChiSquared().on("sift")) ** 3
    inner = kernel.kernel.fit(views)
    np.testing.assert_allclose(kernel(views), gram(inner, views) ** 3, rtol=1e-12)
    fitted = kernel.fit(views)
    np.testing.assert_allclose(
        gram(fitted, views, {view: X[:4] for view, X in views.items()}), kernel(views)[:, :4], rtol=1e-9
    )
    assert kernel_from_dict(fitted.to_dict()) == fitted
    assert repr(Gaussian() ** 2) == "Gaussian() ** 2"
    assert clone(kernel) == kernel
    for exponent in (0, -1, 0.5):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            Gaussian() ** exponent
