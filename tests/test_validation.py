"""Shared checks say what was expected and what came."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.validation import check_choice, check_even_rows, check_positive, check_same_length


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)])
def test_positive_numbers_become_floats(value):
    checked = check_positive("C", value)
    assert type(checked) is float
    assert checked == value


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1", None, [1]])
def test_other_values_are_refused(value):
    with pytest.raises(ValueError, match="C must be a positive number, got "):
        check_positive("C", value)


def test_zero_only_where_allowed():
    assert check_positive("tol", 0, allow_zero=True) == 0
    with pytest.raises(ValueError, match="tol must be a non-negative number, got -1"):
        check_positive("tol", -1, allow_zero=True)


def test_choices_are_listed():
    assert check_choice("kind", "gram", ("gram", "rows")) == "gram"
    with pytest.raises(ValueError, match="kind must be one of 'gram', 'rows', got 'kernel'"):
        check_choice("kind", "kernel", ("gram", "rows"))


def test_lengths():
    check_same_length(X=sparse.csr_array((3, 5)), Y=np.ones((3, 2)), weights=[1, 2, 3])
    with pytest.raises(ValueError, match="X has 3, Y has 2"):
        check_same_length(X=np.ones((3, 1)), Y=[1, 2])


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3, 4]],
        [np.ones(2), [1, 2]],
        [],
        ["cat", "horse"],
        [1, 2],
        [{"sea"}, {"sea", "sun"}],
        np.eye(2),
    ],
)
def test_even_rows_and_what_has_none(rows):
    check_even_rows("X", rows)


@pytest.mark.parametrize(
    "rows", [[[1, 2], [3, 4], [5]], ([1, 2], [3, 4], 5), [np.ones(2), [1, 2], np.ones(1)]]
)
def test_a_row_that_ends_early_is_named(rows):
    with pytest.raises(ValueError, match=r"rows of X .* first, 2, but row 2 has length 1; .* whole"):
        check_even_rows("X", rows)
