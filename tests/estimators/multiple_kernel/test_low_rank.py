"""Estimators on a block of columns for each kernel, without Gram matrices."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from tagrank.estimators import MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import KernelStack, LowRankStack

EVERY = [MultipleKernelRanker, SharedKernelSVM, MultipleKernelSVM]


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(80, width)) for width in (2, 3, 4)]


@pytest.fixture(scope="module")
def Y(blocks):
    return np.column_stack([blocks[0][:, 0] > 0, blocks[0][:, 1] > 0.2, blocks[1][:, 0] > 0]).astype(float)


@pytest.mark.parametrize("Estimator", EVERY)
@pytest.mark.parametrize("options", [{}, {"normalization": "trace"}, {"fit_intercept": True}], ids=str)
def test_the_same_answer_as_by_gram_matrices(Estimator, options, blocks, Y):
    options = {"kernel": "precomputed", "tol": 1e-6, "random_state": 0, **options}
    by_columns = Estimator(**options).fit(LowRankStack(blocks), Y)
    grams = [Z @ Z.T for Z in blocks]
    by_gram = Estimator(**options).fit(KernelStack(grams), Y)
    np.testing.assert_allclose(by_columns.kernel_weights_, by_gram.kernel_weights_, atol=5e-3)
    scores = by_gram.decision_function(grams)
    np.testing.assert_allclose(by_columns.decision_function(LowRankStack(blocks)), scores, atol=3e-2)
    new = [Z[:7] for Z in blocks]
    np.testing.assert_allclose(by_columns.decision_function(LowRankStack(new)), scores[:7], atol=3e-2)
    np.testing.assert_allclose(
        by_columns.decision_function(np.hstack(new)), by_columns.decision_function(LowRankStack(new))
    )


@pytest.mark.parametrize("Estimator", EVERY)
def test_cross_validation_cuts_columns(Estimator, blocks, Y):
    model = Estimator(kernel="precomputed", random_state=0)
    assert cross_val_score(model, LowRankStack(blocks), Y, cv=KFold(3)).min() > 0.7


def test_the_best_kernel_needs_gram_matrices(blocks, Y):
    with pytest.raises(ValueError, match="compares Gram matrices, got a LowRankStack"):
        SharedKernelSVM(kernel="precomputed", weights="best").fit(LowRankStack(blocks), Y)


def test_other_columns_are_refused(blocks, Y):
    model = MultipleKernelRanker(kernel="precomputed", random_state=0).fit(LowRankStack(blocks), Y)
    with pytest.raises(ValueError, match="9 features"):
        model.decision_function(LowRankStack(blocks[:2]))
