"""Labels in three states, from every form in which they come."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tagrank import labels
from tagrank.labels import duplicates, encode_tag_sets, is_tag_sets, label_states, labels_from_states

LABELS = np.array([[1, 0, np.nan], [0, 0, 0], [np.nan, 1, 1]])
STATES = np.array([[1, -1, 0], [-1, -1, -1], [0, 1, 1]], dtype=np.int8)


def stored(Y, form):
    """Sparse, with nan stored and one zero stored as well."""
    rows, columns = np.nonzero(Y)
    rows, columns = np.append(rows, 1), np.append(columns, 2)
    return form((np.append(Y[np.nonzero(Y)], 0.0), (rows, columns)), shape=Y.shape)


FORMS = {
    "array": LABELS,
    "float32": LABELS.astype(np.float32),
    "objects": LABELS.astype(object),
    "list": LABELS.tolist(),
    "frame": pd.DataFrame(LABELS, columns=list("abc")),
    "csr_array": stored(LABELS, sparse.csr_array),
    "csc_matrix": sparse.csc_matrix(stored(LABELS, sparse.coo_matrix)),
    "coo_array": stored(LABELS, sparse.coo_array),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_states_of_every_form(form):
    states = label_states(FORMS[form])
    assert states.dtype == np.int8
    np.testing.assert_array_equal(states, STATES)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_types_without_unknown(dtype, form):
    Y = form(np.array([[1, 0], [0, 1]], dtype=dtype))
    np.testing.assert_array_equal(label_states(Y), [[1, -1], [-1, 1]])


def test_input_is_left_alone():
    before = LABELS.copy()
    label_states(LABELS)
    np.testing.assert_array_equal(LABELS, before)


def test_there_and_back():
    np.testing.assert_array_equal(labels_from_states(STATES), LABELS)
    assert labels_from_states(STATES).dtype == np.float64


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_minus_one_is_refused_with_both_ways_out(form):
    with pytest.raises(ValueError, match=r"contains -1.*\(Y > 0\).*np\.where\(Y == -1, np\.nan, Y\)"):
        label_states(form([[1.0, -1.0], [2.0, 0.0]]))


@pytest.mark.parametrize("value", [2, 0.5, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_other_values_are_refused(form, value):
    with pytest.raises(ValueError, match=rf"Y contains {value:g}, but labels are 1"):
        label_states(form([[1, value]]))


def test_words_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="not real numbers"):
        label_states(np.array([["sea", "sky"]]))
    for Y in (np.ones(3), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match=r"two dimensions.*got shape"):
            label_states(Y)


def test_masked_is_unknown():
    masked = np.ma.masked_array([[1, -1, 7], [0, 0, 0], [5, 1, 1]], mask=[[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    masked[0, 1] = 0
    for Y in (masked, masked.astype(float)):
        np.testing.assert_array_equal(label_states(Y), STATES)
    np.testing.assert_array_equal(label_states(np.ma.masked_array(LABELS)), STATES)
    assert masked.data[0, 2] == 7
    with pytest.raises(ValueError, match=r"contains -1.*np\.where"):
        label_states(np.ma.masked_array([[-1, 2]], mask=[[0, 1]]))


@pytest.mark.parametrize("dtype", [complex, "U3", "S3", "datetime64[D]", "timedelta64[D]"])
def test_only_real_numbers_are_labels(dtype):
    Y = np.array([[1, 0], [0, 1]]).astype(dtype)
    with pytest.raises(ValueError, match=r"values that are not real numbers \(dtype .*labels are 1"):
        label_states(Y)


def test_sparse_complex_labels_are_refused():
    with pytest.raises(ValueError, match="not real numbers"):
        label_states(sparse.csr_array([[1j, 0]]))


def test_too_many_labels_to_hold_are_counted_first():
    with pytest.raises(ValueError, match=r"140,000,000 labels .* 134,217,728 are allowed.*MAX_LABELS"):
        label_states(sparse.csr_array((140, 10**6)))
    with pytest.raises(ValueError, match=r"10,000,000 tags, and 1,048,576 are allowed.*MAX_TAGS"):
        label_states(sparse.csr_array((1, 10**7)))
    with pytest.raises(ValueError, match=r"70,000,000 labels .* 67,108,864 are allowed.*MAX_LABELS"):
        encode_tag_sets([[f"tag{j}" for j in range(10**4)], *[None] * 7000])


def test_the_limits_can_be_raised(monkeypatch):
    monkeypatch.setattr(labels, "MAX_LABELS", 8)
    with pytest.raises(ValueError, match="9 labels to be held one by one, 8 are allowed"):
        label_states(sparse.csr_array((3, 3)))
    with pytest.raises(ValueError, match="6 labels to be held one by one, 4 are allowed"):
        encode_tag_sets([{"a", "b", "c"}, None, None])
    monkeypatch.setattr(labels, "MAX_LABELS", 12)
    assert label_states(sparse.csr_array((3, 3))).shape == (3, 3)
    assert np.isnan(encode_tag_sets([{"a", "b", "c"}, None])[0].data).sum() == 3


@pytest.mark.parametrize(
    ("Y", "expected"),
    [
        ([{"sea"}, {"sky", "sea"}], True),
        ([["sea"], ("sky",)], True),
        ((["sea"], None), True),
        ([set(), {"sea"}], True),
        ([set(), frozenset()], True),
        (np.array([["sea"], ["sky", "sea"], None], dtype=object), True),
        ([[1, 0], [0, 1]], False),
        ([[], []], False),
        ([None, None], False),
        ([], False),
        (["sea", "sky"], False),
        ([1, 0], False),
        (LABELS, False),
        (FORMS["frame"], False),
        (FORMS["csr_array"], False),
    ],
)
def test_what_counts_as_tag_sets(Y, expected):
    assert is_tag_sets(Y) is expected


def test_tag_sets_become_states():
    Y, tags = encode_tag_sets([{"sea", "sky"}, None, ["sky", "sky"], set()])
    assert tags == ["sea", "sky"]
    np.testing.assert_array_equal(label_states(Y), [[1, 1], [0, 0], [-1, 1], [0, 0]])


def test_an_empty_set_may_mean_absent():
    Y, _ = encode_tag_sets([{"sea"}, set(), None], empty="absent")
    np.testing.assert_array_equal(label_states(Y), [[1], [-1], [0]])
    with pytest.raises(ValueError, match="'unknown' or 'absent', got 'missing'"):
        encode_tag_sets([], empty="missing")


def test_wanted_tags_keep_their_order():
    Y, tags = encode_tag_sets([{"sea", "boat"}, {"boat"}], tags=["sky", "sea"])
    assert tags == ["sky", "sea"]
    np.testing.assert_array_equal(label_states(Y), [[-1, 1], [-1, -1]])


def test_duplicate_tags_are_named():
    assert duplicates(["b", "a", "b", "c", "a", "b"]) == ["a", "b"]
    with pytest.raises(ValueError, match=r"duplicate tag names: \['sea'\]"):
        encode_tag_sets([{"sea"}], tags=["sea", "sky", "sea"])
