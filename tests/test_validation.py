"""Shared checks say what was expected and what came."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.validation import (
    check_choice,
    check_count,
    check_even_rows,
    check_positive,
    check_rows,
    check_same_length,
    check_sparse,
)


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
    with pytest.raises(ValueError, match=r"rows of X .* first, 2, but row 2 has length 1; .* complete"):
        check_even_rows("X", rows)


def test_counts_end_where_compiled_code_does():
    assert check_count("max_iter", np.int32(3)) == 3
    assert check_count("max_iter", 2**63 - 1) == 2**63 - 1
    with pytest.raises(ValueError, match=r"max_iter must be at most 9223372036854775807 .* got 9223372036"):
        check_count("max_iter", 2**63)


def change_part(part, place, value):
    def change(X):
        getattr(X, part)[place] = value

    return change


def change_place(axis, value):
    def change(X):
        X.coords[axis][0] = value

    return change


def shorten(part):
    def change(X):
        setattr(X, part, getattr(X, part)[:-1])

    return change


COMPRESSED = [
    change_part("indices", 0, 99),
    change_part("indices", 0, -1),
    change_part("indptr", 0, 1),
    change_part("indptr", 0, -1),
    change_part("indptr", -1, 99),
    change_part("indptr", 1, 4),
    shorten("indptr"),
    shorten("indices"),
    shorten("data"),
]


@pytest.fixture
def entries():
    return np.array([[0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 5, 4], [6, 0, 0, 0], [0, 0, 0, 0.0]])


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sound_sparse_matrices_of_every_form_pass(form, entries):
    for kind in (sparse.coo_array, sparse.coo_matrix):
        check_sparse("X", kind(entries).asformat(form))
        check_sparse("X", kind((0, 4)).asformat(form))


@pytest.mark.parametrize("change", COMPRESSED)
@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_damaged_compressed_matrices(form, change, entries):
    X = sparse.coo_array(entries).asformat(form)
    change(X)
    with pytest.raises(ValueError, match=r"X is a damaged sparse matrix.* its 6 rows and 4 columns; build"):
        check_sparse("X", X)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("value", [-1, 99])
def test_damaged_triples(axis, value, entries):
    X = sparse.coo_array(entries)
    change_place(axis, value)(X)
    with pytest.raises(ValueError, match="damaged sparse matrix"):
        check_sparse("X", X)


def test_damaged_lists(entries):
    X = sparse.lil_array(entries)
    X.rows[0][0] = 99
    with pytest.raises(ValueError, match="index 99 exceeds matrix dimension 4"):
        check_sparse("X", X)


def test_rows_of_views_are_named(entries):
    check_rows("X", {"colour": entries, "gist": sparse.csr_array(entries)})
    damaged = sparse.csr_array(entries)
    damaged.indices[0] = 99
    with pytest.raises(ValueError, match="view 'gist' of X is a damaged sparse matrix"):
        check_rows("X", {"colour": entries, "gist": damaged})
