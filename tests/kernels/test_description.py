"""Kernels by name, and descriptions that a stranger may have written."""

import pytest

from tagrank.kernels import ChiSquared, Gaussian, Kernel, Linear, Polynomial, kernel_from_dict, make_kernel


def test_names_and_gamma():
    assert make_kernel("rbf") == Gaussian()
    assert make_kernel("chi2", gamma=0.5) == ChiSquared(0.5)
    assert make_kernel("poly", gamma=2) == Polynomial(gamma=2)
    assert make_kernel("linear", gamma=0.5) == Linear()
    kernel = Gaussian(0.5)
    assert make_kernel(kernel) is kernel


def test_wrong_names():
    with pytest.raises(ValueError, match=r"kernel must be one of 'linear', .* got 'rbff'"):
        make_kernel("rbff")
    with pytest.raises(TypeError, match="kernel must be a Kernel, a list of them, or one of"):
        make_kernel(3)
    with pytest.raises(ValueError, match="set gamma on the kernel itself"):
        make_kernel(Gaussian(), gamma=0.5)


def deeply_nested():
    description = Linear().to_dict()
    for _ in range(100):
        description = {"kind": "UnitDiagonal", "params": {"kernel": description}}
    return description


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "Popen", "params": {"args": "ls"}},
        {"kind": "Gaussian"},
        {"kind": "Gaussian", "params": {"gamma": -1}},
        {"kind": "Gaussian", "params": {"gamma": "1"}},
        {"kind": "Gaussian", "params": {"width": 1}},
        {"kind": "Gaussian", "params": [1]},
        {"kind": ["Gaussian"], "params": {}},
        {"kind": "Polynomial", "params": {"degree": "3"}},
        {"kind": "ChiSquared", "params": {"whole_vector": "no"}},
        {"kind": "Sum", "params": {"kernels": [], "weights": []}},
        {"kind": "Sum", "params": {"kernels": [1], "weights": [1]}},
        {"kind": "Sum", "params": {"kernels": [{"kind": "Linear", "params": {}}], "weights": []}},
        {"kind": "UnitTrace", "params": {"kernel": 3}},
        {"kind": "OnView", "params": {"kernel": {"kind": "Linear", "params": {}}, "view": 1.5}},
        {"slice": [1, 2, 3, 4]},
        [],
        None,
        deeply_nested(),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_bad_description_is_refused_with_a_sentence(description):
    with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
        kernel_from_dict(description)


def test_a_kernel_of_ones_own_cannot_be_described():
    class Mine(Kernel):
        def compute(self, X, Z):
            return X @ Z.T

    with pytest.raises(TypeError, match="Mine is not one of tagrank's kernels"):
        Mine().to_dict()
