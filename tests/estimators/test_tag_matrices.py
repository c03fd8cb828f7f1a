"""Matrices of tags: whatever the order of the file, the order of the tags; bad files are named."""

import numpy as np
import pytest

from tagrank.estimators.tag_matrices import as_tag_matrix, is_matrix_file, read_tag_matrix

NUMBERS = np.arange(9.0).reshape(3, 3)


def write_csv(path, rows, columns):
    lines = ["," + ",".join(columns)]
    for row in rows:
        numbers = (NUMBERS["abc".index(row), "abc".index(column)] for column in columns)
        lines.append(",".join([row, *map(str, numbers)]))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(("rows", "columns"), [("abc", "abc"), ("cab", "bca")])
def test_csv_is_read_by_name(tmp_path, rows, columns):
    write_csv(tmp_path / "m.csv", rows, columns)
    found = read_tag_matrix(tmp_path / "m.csv")
    np.testing.assert_array_equal(found.ordered(["a", "b", "c"]), NUMBERS)
    np.testing.assert_array_equal(found.ordered(["c", "a"]), NUMBERS[np.ix_([2, 0], [2, 0])])


def test_npy_is_read_by_place(tmp_path):
    np.save(tmp_path / "m.npy", NUMBERS.astype(np.int64))
    found = read_tag_matrix(tmp_path / "m.npy").ordered(["x", "y", "z"])
    np.testing.assert_array_equal(found, NUMBERS)
    assert found.dtype == np.float64


def test_frames_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(NUMBERS, index=list("abc"), columns=list("abc")).loc[list("cab"), list("bca")]
    np.testing.assert_array_equal(as_tag_matrix(frame, "prior").ordered(["a", "b", "c"]), NUMBERS)
    with pytest.raises(ValueError, match="prior: expected the same tags"):
        as_tag_matrix(frame.rename(index={"a": "x"}), "prior")


def test_other_values_stay_as_they_are():
    for value in ("correlation", 3, NUMBERS, None):
        assert as_tag_matrix(value, "prior") is value
    assert is_matrix_file("a/b.CSV")
    assert not is_matrix_file("csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "expected the same tags"),
        ("1,2\n3,4\n", "expected the same tags"),
        (",a,b\na,1,0\nb,0,1\nc,0,0\n", "expected the same tags"),
        (",a,a\na,1,0\na,0,1\n", "expected the same tags"),
        (",a,b\na,1,0\nb,0\n", "line 3: expected a tag and 2 numbers, found 1"),
        (",a,b\na,1,0\nb,0,much\n", "line 3: could not convert string to float"),
        (',a,b\na,1,0\nb,0,"1\n', "line 3"),
    ],
)
def test_bad_csv(tmp_path, content, words):
    (tmp_path / "m.csv").write_text(content)
    found = None
    with pytest.raises(ValueError, match=words) as caught:
        found = read_tag_matrix(tmp_path / "m.csv")
    assert found is None
    assert "m.csv" in str(caught.value)


@pytest.mark.parametrize("array", [np.zeros((2, 3)), np.zeros(4), np.array([["a"]]), np.zeros((2, 2)) + 1j])
def test_bad_npy(tmp_path, array):
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(ValueError, match=r"m\.npy: expected a square matrix of numbers"):
        read_tag_matrix(tmp_path / "m.npy")


def test_a_file_that_could_run_code_is_refused(tmp_path):
    np.save(tmp_path / "m.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="only plain numbers"):
        read_tag_matrix(tmp_path / "m.npy")


def test_files_that_do_not_fit_the_tags(tmp_path):
    np.save(tmp_path / "m.npy", NUMBERS)
    with pytest.raises(ValueError, match=r"m\.npy has 3 rows and columns, but there are 2 tags"):
        read_tag_matrix(tmp_path / "m.npy").ordered(["a", "b"])
    write_csv(tmp_path / "m.csv", "abc", "abc")
    with pytest.raises(ValueError, match=r"m\.csv has no row and column for 'x' and 1 other tag"):
        read_tag_matrix(tmp_path / "m.csv").ordered(["a", "x", "y"])


def test_large_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tagrank.estimators.tag_matrices.MAX_MATRIX_BYTES", 16)
    write_csv(tmp_path / "m.csv", "abc", "abc")
    np.save(tmp_path / "m.npy", NUMBERS)
    for name in ("m.csv", "m.npy"):
        with pytest.raises(ValueError, match="bytes"):
            read_tag_matrix(tmp_path / name)
