"""LIBSVM with several labels against scikit-learn's reader, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from tagrank.data.collection import Collection
from tagrank.data.readers.libsvm import read_libsvm, write_libsvm


def write(folder, text):
    (folder / "x.libsvm").write_text(text)
    return folder / "x.libsvm"


def test_reads_labels_features_comments_and_rows_without_labels(tmp_path):
    path = write(tmp_path, "1,3 1:0.1 9:2e-1 # comment\n\n# only a comment\n 2:1\n3\n")
    collection = read_libsvm(path)
    assert collection.tags == ["1", "2", "3"]
    np.testing.assert_array_equal(collection.Y.toarray(), [[1, 0, 1], [0, 0, 0], [0, 0, 1]])
    assert collection.X.shape == (3, 9)
    np.testing.assert_array_equal(collection.X.toarray()[0, [0, 8]], [0.1, 0.2])
    assert collection.X[1, 1] == 1


def test_bases(tmp_path):
    path = write(tmp_path, "1 1:5\n")
    assert read_libsvm(path, zero_based=True).X.shape == (1, 2)
    assert read_libsvm(path, zero_based=False).X.shape == (1, 1)
    assert read_libsvm(path, zero_based_labels=True).tags == ["0", "1"]
    named = read_libsvm(path, tags=["sky", "sea"], n_features=4)
    assert named.X.shape == (1, 4)
    np.testing.assert_array_equal(named.Y.toarray(), [[1, 0]])
    assert read_libsvm(write(tmp_path, "0,1 0:5\n")).tags == ["0", "1"]


def test_announced_sizes(tmp_path):
    collection = read_libsvm(write(tmp_path, "2 5 4\n1 1:5\n3 2:1\n"))
    assert collection.X.shape == (2, 5)
    np.testing.assert_array_equal(collection.Y.toarray(), [[0, 1, 0, 0], [0, 0, 0, 1]])
    with pytest.raises(ValueError, match="announces 3 rows"):
        read_libsvm(write(tmp_path, "3 5 4\n1 1:5\n"))


@pytest.mark.parametrize("name", ["x.libsvm", "x.svm.gz"])
def test_what_is_written_reads_back_and_scikit_learn_agrees(tmp_path, name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 7)) * (rng.random((30, 7)) < 0.4)
    Y = (rng.random((30, 4)) < 0.3).astype(float)
    X[3], Y[3] = 0, 0
    Y[:, 0] = 0
    path = tmp_path / name
    write_libsvm(Collection(views={"features": sparse.csr_array(X)}, labels=Y, tags=list("abcd")), path)
    again = read_libsvm(path, tags=list("abcd"), n_features=7)
    np.testing.assert_array_equal(again.X.toarray(), X)
    np.testing.assert_array_equal(again.Y.toarray(), Y)
    theirs, labels = load_svmlight_file(str(path), multilabel=True, n_features=7, zero_based=False)
    np.testing.assert_array_equal(theirs.toarray(), X)
    assert [tuple(np.flatnonzero(row) + 1.0) for row in Y] == labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 2\n", "line 2: expected 'label,label index:value"),
        ("1 1:2:3\n", r"line 1: .*\(1:2:3\)"),
        ("1 1:2:3 4\n", r"line 1: .*\(1:2:3\)"),
        ("1 1:2\n1 1:2 3:", r"line 2: .*\(3:\)"),
        ("1 1:2\n1 1:2 3", r"line 2: .*\(3\)"),
        ("1 a:2\n", "line 1: expected"),
        ("1 1:b\n", "line 1: expected"),
        ("sky 1:2\n", "line 1: expected"),
        ("1 1:2\n1 1:nan\n", "line 2: value nan is not finite"),
        ("1 1:2\n\n1 1:inf\n", "line 3: value inf is not finite"),
        ("1 3:2 3:1\n", "line 1: index 3 occurs twice"),
        ("1 -3:2\n", "line 1: index -3 is outside"),
        ("1 qid:3 1:2\n", "line 1: expected"),
        (
            "99999999 1:1\n",
            "line 1: index 99999999 is outside 1 to 1048576; if 16,777,216 features .*MAX_TAGS",
        ),
        ("-1 1:1\n", "line 1: index -1 is outside"),
        ("99999999999999999999 1:1\n", "line 1: expected"),
        ("1 99999999999:1\n", "line 1: index 99999999999 is outside"),
        ("1 2147483647:1\n", "line 1: index 2147483647 is outside 1 to 16777216; if .* larger max_bytes"),
        ("9999999 1:1\n", "line 1: index 9999999 is outside 1 to 1048576; if .* tagrank.labels.MAX_TAGS"),
        (
            "3 99 99999999999\n1 1:1\n1 1:1\n1 1:1\n",
            "line 1: announces 99 features and 99,999,999,999 labels",
        ),
        ("1 2147483647 3\n1 1:1\n", "line 1: announces 2,147,483,647 features and 3 labels; if 16,777,216"),
    ],
)
def test_malformed_lines_name_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"x.libsvm, {message}"):
        read_libsvm(write(tmp_path, text))


def test_many_columns_can_be_asked_for(tmp_path):
    path = write(tmp_path, "1 2147483647:1\n")
    assert read_libsvm(path, n_features=2**31 - 1).X.shape == (1, 2**31 - 1)
    assert read_libsvm(path, max_bytes=2**38).X.shape == (1, 2**31 - 1)


def test_numbers_beyond_the_given_names(tmp_path):
    with pytest.raises(ValueError, match="line 1: index 3 is outside 1 to 2"):
        read_libsvm(write(tmp_path, "3 1:1\n"), tags=["a", "b"])
    with pytest.raises(ValueError, match="line 1: index 8 is outside 1 to 5"):
        read_libsvm(write(tmp_path, "1 8:1\n"), n_features=5)


def test_unknown_labels_cannot_be_written(tmp_path):
    unknown = Collection(views={"features": np.eye(2)}, labels=[[1], [np.nan]])
    with pytest.raises(ValueError, match="cannot express unknown"):
        write_libsvm(unknown, tmp_path / "x.libsvm")
