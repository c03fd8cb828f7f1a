"""Kernels of Caltech 101 are those that the page names, and answers say what the lines of results say."""

import numpy as np
import pytest

from tagrank import Collection, draw_pictures
from tagrank.features import FEATURES
from tagrank.kernels import Gaussian, KernelStack
from tagrank_papers.experiments import caltech_classes, caltech_solvers
from tagrank_papers.protocols import caltech_pictures

N_CLASSES, A_CLASS = 3, 6


@pytest.fixture
def pictures(monkeypatch):
    """Drawn pictures of three classes, with pyramids only: words take long to learn."""
    drawn = draw_pictures(N_CLASSES * A_CLASS, size=48).view("pictures")
    Y = np.repeat(np.eye(N_CLASSES), A_CLASS, axis=0)
    whole = Collection({"pictures": drawn}, Y, tags=["anchor", "bonsai", "camera"])
    monkeypatch.setattr(caltech_pictures, "load_dataset", lambda name: whole)
    monkeypatch.setattr(caltech_pictures, "BAGS", {})
    monkeypatch.setattr(caltech_pictures, "WHOLE", ("lbp",))
    monkeypatch.setattr(caltech_pictures, "PRODUCTS", ("phog",))
    opened = caltech_pictures.open_pictures("caltech101")
    opened.draw(0, 4)
    return opened


def test_every_published_kernel_is_told_of_once():
    numbers = [
        number
        for numbers, *_ in caltech_pictures.PUBLISHED_KERNELS
        for some in numbers.split(", ")
        for number in range(int(some.split("-")[0]), int(some.split("-")[-1]) + 1)
    ]
    assert sorted(numbers) == list(range(1, 49))


def test_the_levels_of_a_pyramid_are_its_whole_row():
    (picture,) = draw_pictures(1, size=48).view("pictures")
    for name, (levels, width) in caltech_pictures.PYRAMIDS.items():
        assert FEATURES[name](picture).shape == (width * sum(4**level for level in range(levels)),)


def test_levels_and_products_are_kernels_of_training_and_test_pictures(pictures):
    data = pictures.part(2)
    names = data.stack.names
    assert len(names) == 4 + 4 + 3 + 1 + 3 + 1
    assert data.stack.shape == (6, 6)
    assert data.test.shape == (12, 6)
    assert (data.Y.sum(axis=0) == 2).all()
    assert (data.truth.sum(axis=0) == 4).all()
    levels = [data.stack.kernel(j) for j, name in enumerate(names) if name.startswith("phog, ")]
    assert np.allclose(levels[-1], np.prod(levels[:-1], axis=0))
    whole = pictures.part(4)
    for j in range(len(names)):
        K = whole.stack.kernel(j)
        assert np.allclose(K, K.T, atol=1e-6)
        assert np.allclose(K.diagonal(), 1)
        # the first two of each class are the same pictures
        first = np.flatnonzero(np.arange(12) % 4 < 2)
        assert np.array_equal(K[np.ix_(first, first)], data.stack.kernel(j))
    assert pictures.places(("camera", "anchor")) == [2, 0]


def test_training_pictures_are_not_among_those_for_the_test(pictures):
    data = pictures.part(4)
    for j in range(data.stack.n_kernels):
        assert data.test.kernel(j).max() < 1 - 1e-6


def test_wider_kernels_are_those_of_a_larger_width():
    X = np.random.default_rng(0).normal(size=(12, 3))
    stack = KernelStack([Gaussian(0.5)(X), Gaussian(2.0)(X)])
    wider = caltech_solvers.widen(stack, [1], (1.5, 2.0))
    assert wider.n_kernels == 4
    assert np.allclose(wider.kernel(2), Gaussian(2.0 / 1.5)(X))
    assert np.allclose(wider.kernel(3), Gaussian(1.0)(X))


def test_a_solver_is_told_of_one_class_at_a_time():
    *_, results = caltech_solvers.run(**caltech_solvers.QUICK)
    lines = results["lines"]
    assert {line["label"] for line in lines} == set(range(len(caltech_solvers.CLASSES)))
    assert all(len(line["active"]) >= line["rounds"] > 1 for line in lines if line["solver"] != "smo")
    assert all(line["rounds"] <= caltech_solvers.ROUNDS for line in lines if line["solver"] != "smo")


def test_cells_that_were_not_measured_are_empty():
    *_, results = caltech_classes.run(**caltech_classes.QUICK)
    figures = caltech_classes.answer("mkl-table2.4", results).figures
    assert figures.columns == ("10 a class", "20 a class")
    assert figures.rows["MKL-SIP, p = 1"][1] == figures.rows["MKL-SMO, p = 2"][0] == ""
    assert "±" in figures.rows["Average"][0]
    assert "±" not in figures.rows["Average"][1]
