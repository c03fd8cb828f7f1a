"""What a kernel is made of: terms, leaves and powers, and names that tell kernels apart."""

import pytest

from tagrank.kernels import ChiSquared, Gaussian, Linear
from tagrank.kernels.structure import leaves_of, names_of, reads_views, split_power, terms_of, views_of


def test_leaves_say_what_they_read():
    kernel = (Gaussian(1.0).on("gist") + ChiSquared().unit_diagonal().on("sift")) * Linear()
    places = [(type(leaf), place) for leaf, place in leaves_of(kernel)]
    assert places == [(Gaussian, "gist"), (ChiSquared, "sift"), (Linear, slice(None))]
    assert views_of(kernel) == {"gist", "sift"}
    assert reads_views(kernel)
    assert not reads_views(Linear() + Gaussian().on([0, 2]))


def test_the_outermost_view_counts():
    assert [place for _, place in leaves_of(Linear().on("inner").on("outer"))] == ["outer"]


def test_terms_of_sums_inside_sums_multiply_their_weights():
    inner = 0.5 * Linear() + 2 * Gaussian(1.0)
    kernel = 3 * (inner + ChiSquared())
    assert [(weight, type(part)) for weight, part in terms_of(kernel)] == [
        (1.5, Linear),
        (6.0, Gaussian),
        (3.0, ChiSquared),
    ]


def test_powers_are_split_off():
    assert split_power(Gaussian(2.0) ** 3) == (Gaussian(2.0), 3)
    assert split_power(Linear()) == (Linear(), 1)


@pytest.mark.parametrize(
    ("kernels", "names"),
    [
        ([Linear().on("a"), Gaussian().on("b") ** 2], ["a", "b"]),
        ([Linear().on("a"), Gaussian().on("a")], ["Linear().on('a')", "Gaussian().on('a')"]),
        ([Linear(), Linear()], ["0: Linear()", "1: Linear()"]),
    ],
)
def test_names_tell_kernels_apart(kernels, names):
    assert names_of(kernels) == names


def test_kernels_know_what_they_compare():
    assert [kernel.compares_vectors for kernel in (Linear(), Gaussian(), ChiSquared())] == [True, True, False]
    assert [kernel.is_euclidean for kernel in (Linear(), Gaussian(), ChiSquared())] == [True, True, False]
