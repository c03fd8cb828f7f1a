"""Labels of collections stay sparse where rows are unknown throughout, and say the same as dense ones."""

import json

import numpy as np
import pytest
from scipy import sparse

from tagrank.data import Collection, clean_tags, iterative_split, read_collection, write_collection
from tagrank.data.label_matrix import as_label_matrix, as_labels
from tagrank.labels import label_states


def draw_labels(n_rows=60, n_tags=7):
    rng = np.random.default_rng(0)
    Y = rng.choice([0, 1, np.nan], size=(n_rows, n_tags), p=[0.6, 0.3, 0.1])
    Y[rng.random(n_rows) < 0.4] = np.nan
    return Y


def dense(Y):
    return Y.toarray() if sparse.issparse(Y) else Y


@pytest.mark.parametrize("n_tags", [7, 1, 0])
def test_sparse_and_dense_labels_say_the_same(n_tags):
    Y = draw_labels(n_tags=n_tags)
    X = np.zeros((len(Y), 1))
    plain, thin = Collection({"x": X}, Y), Collection({"x": X}, sparse.csr_array(Y))
    assert sparse.issparse(thin.Y)
    # few nan are stored: none in rows that are unknown throughout
    assert np.isnan(thin.label_matrix.stored.data).sum() == np.isnan(Y[thin.known_rows()]).sum()
    chosen = np.random.default_rng(1).permutation(len(Y))[:20]
    for one, other in ((plain, thin), (plain.subset(chosen), thin.subset(chosen))):
        np.testing.assert_array_equal(dense(other.labels), one.Y)
        np.testing.assert_array_equal(other.states(), label_states(one.Y))
        np.testing.assert_array_equal(other.known_rows(), np.any(one.states() != 0, axis=1))
        np.testing.assert_array_equal(other.tag_counts(), np.sum(one.Y == 1, axis=0))
        assert other.summary() == one.summary()
        assert repr(other) == repr(one)


def test_cleaning_and_splitting_are_the_same_for_sparse_and_dense_labels():
    Y, tags = draw_labels(), ["Sky", "sky", "sea", "a|b", "a|c", "Sea", "d"]
    X = np.zeros((len(Y), 1))
    options = {"fold_case": True, "hierarchy": "ancestors", "min_count": 3}
    plain = clean_tags(Collection({"x": X}, Y, tags), **options)
    thin = clean_tags(Collection({"x": X}, sparse.csr_array(Y), tags), **options)
    assert plain.tags == thin.tags
    np.testing.assert_array_equal(dense(thin.Y), plain.Y)
    for one, other in zip(
        iterative_split(Y, random_state=0),
        iterative_split(as_labels(sparse.csr_array(Y)), random_state=0),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_what_is_handed_over_is_left_alone():
    Y = sparse.csr_array(draw_labels())
    before = Y.copy()
    thin = Collection({"x": np.zeros((Y.shape[0], 1))}, Y)
    as_label_matrix(Y)
    np.testing.assert_array_equal(Y.data, before.data)
    np.testing.assert_array_equal(thin.replaced(name="other").Y.toarray(), before.toarray())


def test_too_many_tags_are_counted_before_they_are_named():
    with pytest.raises(
        ValueError, match=r"10,000,000 tags, and 1,048,576 are allowed.*tagrank\.labels\.MAX_TAGS"
    ):
        Collection({"x": np.zeros((1, 1))}, sparse.csr_array((1, 10**7)))


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_many_untagged_pictures_and_many_tags_take_little_memory(tmp_path, run_within, name):
    tags = [f"t{j}" for j in range(20_000)]
    with open(tmp_path / name, "w") as stream:
        if name == "x.csv":
            stream.write("image,tags\nall.jpg," + "|".join(tags) + "\n")
            stream.writelines(f"{i}.jpg,\n" for i in range(20_000))
        else:
            stream.write(json.dumps({"image": "all.jpg", "tags": tags}) + "\n")
            stream.writelines(json.dumps({"image": f"{i}.jpg", "tags": []}) + "\n" for i in range(20_000))
    run_within(400, USE_LARGE, tmp_path / name)


USE_LARGE = """
import sys
from tagrank.commands.given_data import known_pictures
from tagrank.data import clean_tags, read_collection, split_collection, write_collection
whole = read_collection(sys.argv[1])
facts = whole.summary()
assert (facts["rows wholly unknown"], facts["tags"]) == (20_000, 20_000), facts
assert len(known_pictures(whole)) == 1
assert len(clean_tags(whole, min_count=1, fold_case=True).tags) == 20_000
assert len(split_collection(whole, test_size=0.5).test) in (10_000, 10_001)
for again in ("again.csv", "again.jsonl"):
    write_collection(whole, f"{sys.argv[1]}.{again}")
    assert read_collection(f"{sys.argv[1]}.{again}").summary() == facts | {"name": "x"}
for whole_matrix in (lambda: whole.Y, whole.states):
    try:
        whole_matrix()
    except ValueError as error:
        assert "MAX_LABELS" in str(error), error
    else:
        raise AssertionError("held one by one")
"""


def test_a_written_collection_keeps_its_unknown_rows(tmp_path):
    Y = draw_labels()
    whole = Collection({"features": np.arange(len(Y))[:, None] + 0.5}, sparse.csr_array(Y), list("abcdefg"))
    for name in ("x.npz", "x.csv", "x.arff"):
        write_collection(whole, tmp_path / name)
        np.testing.assert_array_equal(dense(read_collection(tmp_path / name).Y), Y)
