"""ARFF in MULAN's and MEKA's dialects: what is read, what is written, what is refused."""

import gzip
import warnings

import numpy as np
import pytest
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.readers.arff import read_arff, write_arff
from tagrank.files import FileError

HEADER = r"""% a comment
@RELATION 'two birds'

@attribute sky {0,1}
@attribute size numeric
@attribute 'Stellar\'s Jay' {0,1}
@attribute motif {YES,NO}
@attribute colour {red, 'light blue', green}

@data
"""
DENSE = HEADER + "1, 0.5, 0, NO, 'light blue'\n\n% another\n?,-2e3,1,YES,red\n"
SPARSE = HEADER + "{0 1,1 0.5,3 NO,4 'light blue'}\n{0 ?, 1 -2e3, 2 1}\n"
XML = '<labels xmlns="http://x"><label name="Stellar\'s Jay"><label name="sky"/></label></labels>'
NUMBERS = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute sky {0,1}\n@data\n"


def write(folder, text, name="birds.arff", xml=XML):
    if xml is not None:
        (folder / "birds.xml").write_text(xml)
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("text", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["birds.arff", "birds-train.arff.gz"])
def test_dense_and_sparse_rows_mean_the_same(tmp_path, text, name):
    collection = read_arff(write(tmp_path, text, name))
    X, Y = (M.toarray() if sparse.issparse(M) else M for M in (collection.X, collection.Y))
    # what a sparse row leaves out is the first nominal value: motif YES, colour red
    np.testing.assert_array_equal(X, [[0.5, 0, 0, 1, 0], [-2000, 1, 1, 0, 0]])
    np.testing.assert_array_equal(Y, [[0, 1], [1, np.nan]])
    assert collection.tags == ["Stellar's Jay", "sky"]
    names = ["size", "motif", "colour=red", "colour=light blue", "colour=green"]
    assert collection.feature_names["features"] == names
    assert sparse.issparse(collection.X) == (text is SPARSE)


@pytest.mark.parametrize(("option", "tags", "columns"), [(2, ["a", "b"], [2]), (-1, ["c"], [0, 1])])
def test_meka_option_marks_first_or_last_attributes(tmp_path, option, tags, columns):
    text = f"@relation 'x: -C {option}'\n"
    text += "".join(f"@attribute {name} {{0,1}}\n" for name in "abc") + "@data\n1,0,1\n0,1,1\n"
    collection = read_arff(write(tmp_path, text, xml=None))
    values = np.array([[1, 0, 1], [0, 1, 1]])
    assert collection.tags == tags
    np.testing.assert_array_equal(collection.X, values[:, columns])


def test_labels_can_be_named_in_the_call(tmp_path):
    path = write(tmp_path, NUMBERS + "1,2,1\n", xml=None)
    assert read_arff(path, labels=["sky"]).tags == ["sky"]
    with pytest.raises(ValueError, match="which attributes are labels"):
        read_arff(path)


def test_identifiers_and_text_are_left_out_with_a_warning(tmp_path):
    identifiers = ",".join(f"P{i}" for i in range(150))
    text = f"@relation r\n@attribute id {{{identifiers}}}\n@attribute note string\n@attribute a real\n"
    text += "@attribute sky {0,1}\n@data\nP3,'a, b',1,1\nP4,c,2,0\n"
    path = write(tmp_path, text, xml=None)
    with pytest.warns(UserWarning, match="skipped 2 attributes.*id, note"):
        collection = read_arff(path, labels=["sky"])
    np.testing.assert_array_equal(collection.X, [[1], [2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_arff(path, labels=["sky"], drop=["id", "note"])


def test_missing_features_are_refused_or_kept(tmp_path):
    path = write(tmp_path, NUMBERS + "1,2,1\n1,?,0\n", xml=None)
    with pytest.raises(ValueError, match=r"birds.arff, line 7: no finite value for attribute 'b'"):
        read_arff(path, labels=["sky"])
    kept = read_arff(path, labels=["sky"], missing="nan")
    np.testing.assert_array_equal(kept.X, [[1, 2], [1, np.nan]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,2\n", "line 6: expected 3 values, got 2"),
        ("1,2,0\n1,2,3,0\n", "line 7: expected 3 values, got 4"),
        ("1,x,0\n", "line 6: attribute 'b' is a number, got 'x'"),
        ("1,2,2\n", "line 6: attribute 'sky' is one of 0, 1; got '2'"),
        ("1,inf,1\n", "line 6: no finite value for attribute 'b'"),
        ("1,nan,1\n", "line 6: no finite value"),
        ("{0 1}\n{3 1}\n", "line 7: index 3, but the attributes are numbered 0 to 2"),
        ("{0 1,0 2}\n", "line 6: index 0 occurs twice"),
        ("{-1 1}\n", "line 6: expected 'index value'"),
        ("{0 1 1 2}\n", "line 6: attribute 'a' is a number"),
        ("{0}\n", "line 6: expected 'index value'"),
        ("{0 1\n", "line 6: expected a sparse row"),
        ("{0 1}\n1,2,1\n", "line 7: expected a sparse row"),
        ("1,2,1\n{0 1}\n", "line 7: a sparse row in a file whose first row is dense"),
        ("{0 inf}\n", "line 6: no finite value for attribute 'a'"),
    ],
)
def test_malformed_rows_name_file_and_line(tmp_path, rows, message):
    path = write(tmp_path, NUMBERS + rows, xml=None)
    with pytest.raises(ValueError, match=f"birds.arff, {message}"):
        read_arff(path, labels=["sky"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a\n@data\n", "line 2: expected '@attribute name type'"),
        ("@relation r\n@attribute a {0,1\n@data\n", "line 2: the list of values of 'a'"),
        ("@relation r\n@attribute a relational\n@data\n", "line 2: attribute 'a' has unknown type"),
        ("@relation r\nhello\n", "line 2: expected @relation"),
        ("@relation r\n@attribute a real\n", "no @data line"),
        ("@relation r\n@data\n", "line 2: no @attribute"),
    ],
)
def test_malformed_headers_name_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_arff(write(tmp_path, text, xml=None), labels=["a"])


@pytest.mark.parametrize(
    ("declaration", "value", "message"),
    [
        ("numeric", "-1", "line 4: label 'sky' must be 0, 1 or \\?, got -1"),
        ("{red,blue}", "red", "label 'sky' must be 0 or 1, but it is one of red, blue"),
        ("string", "red", "label 'sky' must be 0 or 1, but it is text"),
    ],
)
def test_labels_that_are_no_labels(tmp_path, declaration, value, message):
    path = write(tmp_path, f"@relation r\n@attribute sky {declaration}\n@data\n{value}\n", xml=None)
    with pytest.raises(ValueError, match=message):
        read_arff(path, labels=["sky"])


def test_label_file_that_names_no_attribute_gets_a_suggestion(tmp_path):
    path = write(tmp_path, NUMBERS + "1,2,1\n", xml="<labels><label name='skyy'/></labels>")
    with pytest.raises(
        ValueError, match=r"no attribute 'skyy', which .*birds.xml names; did you mean 'sky'\?"
    ):
        read_arff(path)


def test_a_label_that_two_attributes_share(tmp_path):
    path = write(tmp_path, NUMBERS.replace("attribute b", "attribute sky") + "1,2,1\n", xml=None)
    with pytest.raises(ValueError, match="has attribute 'sky' 2 times, which labels names"):
        read_arff(path, labels=["sky"])


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<!DOCTYPE l [<!ENTITY a "aa">]>\n<labels><label name="&a;"/></labels>', "document type"),
        ('<!DOCTYPE l SYSTEM "file:///etc/passwd"><labels/>', "document type"),
        ("<labels><label name='sky'></labels>", "not well-formed"),
        ("<labels><label/></labels>", "without a name"),
        ("<?xml version='1.0' encoding='klingon'?><labels/>", "not well-formed XML .*klingon"),
        ("<labels><label name='sky'/><label name='sky'/></labels>", "names labels twice: sky"),
        ("<labels></labels>", "has no labels"),
    ],
)
def test_label_files_from_elsewhere(tmp_path, xml, message):
    with pytest.raises(ValueError, match=f"birds.xml.*{message}"):
        read_arff(write(tmp_path, NUMBERS + "1,2,1\n", xml=xml))


def test_labels_that_are_asked_for_twice(tmp_path):
    path = write(tmp_path, NUMBERS + "1,2,1\n", xml=None)
    with pytest.raises(FileError, match=r"birds\.arff: duplicate tag names: sky"):
        read_arff(path, labels=["sky", "sky"])


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", ["x.arff", "x.arff.gz"])
def test_what_is_written_reads_back_the_same(tmp_path, as_sparse, name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5)) * (rng.random((20, 5)) < 0.6)
    Y = rng.choice([0, 1, np.nan], size=(20, 3))
    kind = sparse.csr_array if as_sparse else np.asarray
    tags = ["sky", "Stellar's Jay", 'a, "b" \\ {c} %']
    write_arff(Collection(views={"features": kind(X)}, labels=kind(Y), tags=tags, name="x"), tmp_path / name)
    again = read_arff(tmp_path / name)
    np.testing.assert_array_equal(again.X.toarray() if as_sparse else again.X, X)
    np.testing.assert_array_equal(again.Y.toarray() if as_sparse else again.Y, Y)
    assert again.tags == tags
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["x.xml", name])


def test_attributes_need_different_names_to_be_written(tmp_path):
    same = Collection(
        views={"features": np.eye(1)}, labels=[[1]], tags=["a"], feature_names={"features": ["a"]}
    )
    with pytest.raises(ValueError, match="got twice: a"):
        write_arff(same, tmp_path / "x.arff")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_unpacks_too_large_is_refused(tmp_path):
    path = write(tmp_path, NUMBERS + "1,2,1\n" * 100_000, "birds.arff.gz", xml=None)
    with pytest.raises(ValueError, match="more than 10,000 bytes"):
        read_arff(path, labels=["sky"], max_bytes=10_000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="damaged or truncated"):
        read_arff(path, labels=["sky"])


def test_other_encodings(tmp_path):
    path = tmp_path / "x.arff"
    path.write_bytes((NUMBERS.replace("sky", "ciel_été") + "1,2,1\n").encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not utf-8 text; .* encoding='latin-1'"):
        read_arff(path, labels=["ciel_été"])
    assert read_arff(path, labels=["ciel_été"], encoding="latin-1").tags == ["ciel_été"]


@pytest.mark.parametrize("row", ["'a'{blanks}b,1", "{{0 'a'{blanks}b}}", "'{blanks}", "{{0{blanks}"])
def test_many_blanks_do_not_stop_the_reader(tmp_path, run_within, row):
    header = "@relation x\n@attribute a string\n@attribute sky {0,1}\n@data\n"
    (tmp_path / "x.arff").write_text(header + row.format(blanks=" " * 200_000) + "\n")
    code = """
import sys, warnings
from tagrank.data.readers.arff import read_arff
warnings.simplefilter("ignore")
try:
    print(read_arff(sys.argv[1], labels=["sky"]))
except ValueError as error:
    print(error)
"""
    # it took half an hour
    assert "x" in run_within(400, code, tmp_path / "x.arff", timeout=300)
