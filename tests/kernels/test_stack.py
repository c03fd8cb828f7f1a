"""A stack of Gram matrices against plain numpy: sums, quadratic forms, parts of parts, what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import _safe_indexing

from tagrank.kernels import Gaussian, KernelStack
from tagrank.resources import limited_threads

TOLERANCE = {"float32": 2e-6, "float64": 1e-11}


def draw_matrices(n_kernels, n_samples, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_kernels, n_samples, 5))
    return np.array([X @ X.T + 0.1 * np.eye(n_samples) for X in rows], dtype)


def draw_coefficients(n_samples, n_labels, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((n_samples, n_labels)) * (rng.random((n_samples, n_labels)) < share)
    T[rng.random(n_samples) < 0.3] = 0
    return T


def close(found, expected, dtype):
    expected = np.asarray(expected, np.float64)
    scale = np.abs(expected).max(initial=1e-300)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[str(dtype)] * scale)


def check_against_numpy(stack, matrices, seed=0):
    """`stack` does what plain products of `matrices` do."""
    rng = np.random.default_rng(seed)
    assert stack.shape == matrices[0].shape
    assert len(stack) == stack.n_samples == len(matrices[0])
    assert stack.n_kernels == len(matrices)
    weights = rng.random(len(matrices)) * (rng.random(len(matrices)) < 0.7)
    exact = np.array(matrices, np.float64)
    close(stack.combined(weights), np.tensordot(weights, exact, 1), stack.dtype)
    for j, K in enumerate(exact):
        close(stack.kernel(j), K, stack.dtype)
    if not stack.is_symmetric:
        return
    close(stack.diagonals(), [K.diagonal() for K in exact], stack.dtype)
    for n_labels, share in ((1, 0.9), (3, 0.05), (7, 0.4)):
        T = draw_coefficients(len(stack), n_labels, share, seed)
        close(stack.quadratics(T), [np.sum(T * (K @ T)) for K in exact], stack.dtype)
        by_label = stack.quadratics_by_label(T)
        assert by_label.dtype == np.float64
        close(by_label, np.array([np.sum(T * (K @ T), axis=0) for K in exact]).T, stack.dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n_kernels", "n_samples"), [(1, 1), (1, 7), (3, 2), (5, 40), (4, 129), (2, 1100)])
def test_the_whole_agrees_with_numpy(n_kernels, n_samples, dtype):
    matrices = draw_matrices(n_kernels, n_samples, dtype)
    stack = KernelStack(matrices)
    assert stack.dtype == dtype
    assert stack.combined(np.ones(n_kernels)).dtype == dtype
    check_against_numpy(stack, matrices)


@pytest.mark.parametrize("seed", range(12))
def test_random_parts_of_parts(seed):
    rng = np.random.default_rng(seed)
    n_samples, dtype = int(rng.integers(4, 60)), str(rng.choice(["float32", "float64"]))
    matrices = draw_matrices(int(rng.integers(1, 6)), n_samples, dtype, seed)
    stack = KernelStack(list(matrices))
    for _ in range(3):
        keys = []
        for length in stack.shape:
            chosen = rng.permutation(length)[: rng.integers(1, length + 1)]
            mask = np.zeros(length, bool)
            mask[chosen] = True
            keys.append([chosen, mask, np.sort(chosen) - length][rng.integers(3)])
        keys[1] = keys[0] if stack.is_symmetric and rng.random() < 0.7 else keys[1]
        stack = stack[np.ix_(*keys)]
        matrices = np.array([K[np.ix_(*keys)] for K in matrices])
        check_against_numpy(stack, matrices, seed)


@pytest.mark.parametrize(
    "key",
    [
        slice(2, 9),
        slice(None, None, 2),
        [3, 1, 1],
        np.arange(10) % 3 == 0,
        (slice(1, 4), ...),
        [],
        np.s_[:, 2:5],
    ],
    ids=str,
)
def test_rows_with_all_columns(key):
    matrices = draw_matrices(3, 10)
    check_against_numpy(KernelStack(matrices)[key], np.array([K[key] for K in matrices]))


def test_a_part_of_the_same_samples_in_another_order_is_not_symmetric():
    stack = KernelStack(draw_matrices(2, 6))
    assert stack[np.ix_([1, 2], [1, 2])].is_symmetric
    assert not stack[np.ix_([1, 2], [2, 1])].is_symmetric
    assert not stack[np.ix_([1, 2], [3, 4])].is_symmetric
    with pytest.raises(ValueError, match=r"need the same samples .* got a part of shape \(2, 2\)"):
        stack[np.ix_([1, 2], [2, 1])].quadratics(np.ones((2, 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_layout_is_read_in_place(dtype, tmp_path):
    matrices = draw_matrices(4, 50, dtype)
    spread = np.zeros((100, 100), dtype)
    spread[::2, ::2] = matrices[2]
    np.save(tmp_path / "K.npy", matrices[3])
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    matrices[0].flags.writeable = False
    given = [matrices[0], np.asfortranarray(matrices[1]), spread[::2, ::2], mapped]
    stack = KernelStack(given)
    assert all(np.shares_memory(stack.kernel(j), K) for j, K in enumerate(given))
    check_against_numpy(stack, matrices)
    rows = np.arange(0, 50, 3)
    check_against_numpy(stack[np.ix_(rows, rows)], [K[np.ix_(rows, rows)] for K in matrices])


def test_whole_numbers_and_mixed_precisions_become_float64():
    stack = KernelStack([np.eye(3, dtype=int), np.eye(3, dtype=np.float32)])
    assert stack.dtype == np.float64
    check_against_numpy(stack, [np.eye(3), np.eye(3)])


def test_sums_by_differences_stay_exact():
    matrices = draw_matrices(6, 30, "float32")
    stack = KernelStack(matrices)
    rng, weights = np.random.default_rng(0), np.ones(6)
    buffer = stack.combined(weights)
    for _ in range(200):
        weights[rng.integers(6)] = rng.choice([0, 1e-3, 1, 1e4])
        assert stack.combined(weights) is buffer
        close(buffer, np.tensordot(weights, matrices.astype(np.float64), 1), "float32")


def test_only_kernels_whose_weights_changed_are_read():
    matrices = draw_matrices(4, 10)
    stack = KernelStack(matrices, trusted=True)
    stack.combined(np.array([1, 1, 1, 0.0]))
    matrices[:2, 0, 1] = np.nan  # whoever reads these now would tell
    changed = stack.combined(np.array([1, 1, 2, 0.0]))
    assert np.isfinite(changed).all()
    assert np.isfinite(stack.combined(np.array([0, 0, 0, 1.0]))).all()


def test_an_interrupted_sum_is_made_anew(monkeypatch):
    matrices = draw_matrices(4, 10)
    stack = KernelStack(matrices)
    stack.combined([1, 1, 1, 1])

    def interrupt(matrices, weights, out, **options):
        out += 1
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tagrank.kernels.stack.add_weighted", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stack.combined([1, 1, 1, 2])
    close(stack.combined([1, 1, 1, 2]), matrices.sum(axis=0) + matrices[3], "float64")


def test_scaled_kernels():
    matrices, factors = draw_matrices(3, 20), np.array([2.0, 0.5, 1.0])
    stack = KernelStack(matrices, names=["a", "b", "c"]).scaled(factors)
    assert stack.names == ("a", "b", "c")
    check_against_numpy(stack, matrices * factors[:, None, None])
    check_against_numpy(stack.scaled(factors)[:], matrices * factors[:, None, None] ** 2)
    with pytest.raises(ValueError, match=r"factors must be positive and finite, got 0.0 to 1.0"):
        stack.scaled([1, 0, 1])


def test_a_part_does_not_disturb_the_whole():
    matrices = draw_matrices(2, 8)
    stack = KernelStack(matrices)
    whole = stack.combined([1, 2])
    before = whole.copy()
    part = stack[:4].combined([3, 4])
    np.testing.assert_array_equal(whole, before)
    assert not np.shares_memory(part, whole)


def test_pickled_without_its_sum():
    matrices = draw_matrices(2, 30)
    stack = KernelStack(matrices)
    stack.combined([1, 1])
    check_against_numpy(pickle.loads(pickle.dumps(stack[::2, ::2])), matrices[:, ::2, ::2])
    assert len(pickle.dumps(stack)) < 1.2 * matrices.nbytes


def test_one_thread_gives_the_same():
    matrices, T = draw_matrices(2, 600), draw_coefficients(600, 4)
    stack = KernelStack(matrices)
    expected = stack.quadratics(T)
    with limited_threads(1):
        np.testing.assert_array_equal(stack.quadratics(T), expected)


def test_a_kernel_of_zeros_and_coefficients_of_zeros():
    stack = KernelStack([np.zeros((4, 4)), np.eye(4)])
    np.testing.assert_array_equal(stack.combined([1, 0]), 0)
    np.testing.assert_array_equal(stack.combined([0, 0]), 0)
    np.testing.assert_array_equal(stack.quadratics(np.ones((4, 2))), [0, 8])
    np.testing.assert_array_equal(stack.quadratics(np.zeros((4, 2))), [0, 0])
    np.testing.assert_array_equal(stack.quadratics_by_label(np.zeros((4, 2))), np.zeros((2, 2)))


def test_similarities_of_other_samples():
    matrices = np.random.default_rng(0).standard_normal((3, 5, 8))
    check_against_numpy(KernelStack.between(matrices), matrices)
    assert not KernelStack.between(matrices[:, :, :5]).is_symmetric
    with pytest.raises(ValueError, match=r"kernel 1 \(b\) must be finite"):
        KernelStack.between([np.ones((2, 3)), np.full((2, 3), np.nan)], names=["a", "b"])


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([], r"matrices must hold at least one kernel, got none"),
        (np.eye(3), r"matrices must be a list .* got shape \(3, 3\); a single kernel is \[K\]"),
        ([np.eye(3), np.eye(4)], r"kernel 0 has shape \(3, 3\) and kernel 1 has shape \(4, 4\)"),
        ([np.eye(3), np.ones((3, 2))], r"kernel 1 must be square, got shape \(3, 2\)"),
        ([np.eye(3), np.full((3, 3), np.nan)], r"kernel 1 must be finite, got nan or inf"),
        ([np.eye(3), -np.eye(3)], r"kernel 1 must be positive semidefinite, but"),
        ([np.eye(3), np.triu(np.ones((3, 3)))], r"kernel 1 must be symmetric, got"),
    ],
)
def test_bad_matrices(matrices, message):
    with pytest.raises(ValueError, match=message):
        KernelStack(matrices)


def test_a_bad_matrix_is_called_by_its_name():
    with pytest.raises(ValueError, match=r"kernel 1 \(gist\) must be finite"):
        KernelStack([np.eye(2), np.full((2, 2), np.inf)], names=["sift", "gist"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "as many as kernels, 2, got 1"),
        (["a", "a"], "must differ, got 'a'"),
        ("ab", "a list of texts"),
    ],
)
def test_bad_names(names, message):
    with pytest.raises((ValueError, TypeError), match=message):
        KernelStack([np.eye(2), np.eye(2)], names=names)


def test_bad_weights_coefficients_and_keys():
    stack = KernelStack([np.eye(3), np.eye(3)])
    with pytest.raises(ValueError, match=r"weights must have shape \(2,\), one a kernel, got shape \(3,\)"):
        stack.combined([1, 1, 1])
    with pytest.raises(ValueError, match="weights must be finite"):
        stack.combined([1, np.nan])
    with pytest.raises(ValueError, match=r"T must have shape \(3, n_labels\), .* got shape \(2, 1\)"):
        stack.quadratics(np.ones((2, 1)))
    with pytest.raises(TypeError, match=r"np\.ix_"):
        stack[[0, 1], [0, 1]]
    with pytest.raises(TypeError, match="not by a single index"):
        list(stack)
    with pytest.raises(IndexError):
        stack[[5]]
    with pytest.raises(TypeError, match="is not one matrix"):
        np.asarray(stack)


class NearestLabel(ClassifierMixin, BaseEstimator):
    """The label of the most similar training sample by a weighted sum; takes stacks in the place of K."""

    def __init__(self, weight=0.5):
        self.weight = weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, stack, y):
        assert stack.is_symmetric
        self.classes_, self.labels_ = np.unique(y), y
        return self

    def predict(self, stack):
        return self.labels_[stack.combined([self.weight, 1 - self.weight]).argmax(axis=1)]


def test_cross_validation_cuts_rows_and_columns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.repeat([0, 1], 30)
    X[y == 1, 0] += 6
    stack = KernelStack([Gaussian()(X[:, :1]), Gaussian()(X[:, 1:])])
    assert cross_val_score(NearestLabel(1.0), stack, y, cv=3).min() > 0.9
    search = GridSearchCV(NearestLabel(), {"weight": [0.0, 1.0]}, cv=3).fit(stack, y)
    assert search.best_params_ == {"weight": 1.0}
    assert search.predict(stack[:5]).shape == (5,)


def test_rows_are_taken_as_scikit_learn_takes_them():
    stack = KernelStack(draw_matrices(2, 9))
    for rows in (np.array([1, 4]), [2, 3], np.arange(9) % 2 == 0, slice(3, 5)):
        np.testing.assert_array_equal(_safe_indexing(stack, rows).kernel(1), stack.kernel(1)[rows])
