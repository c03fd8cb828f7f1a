"""CSV with a list of tags or with one column a tag."""

import csv
import gzip

import numpy as np
import pytest
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.readers.csv import read_csv, write_csv
from tagrank.files import FileError


def write(folder, text):
    (folder / "x.csv").write_text(text)
    return folder / "x.csv"


def test_image_and_tags(tmp_path):
    text = 'image,tags\na.jpg,sky|sea\n"b, c.jpg",\n/abs/d.jpg, sky \n'
    collection = read_csv(write(tmp_path, text))
    assert collection.tags == ["sea", "sky"]
    assert collection.view("pictures") == [str(tmp_path / "a.jpg"), str(tmp_path / "b, c.jpg"), "/abs/d.jpg"]
    assert collection.names == ["a.jpg", "b, c.jpg", "/abs/d.jpg"]
    np.testing.assert_array_equal(collection.states(), [[1, 1], [0, 0], [-1, 1]])
    absent = read_csv(tmp_path / "x.csv", empty="absent", tags=["sky", "moon"])
    np.testing.assert_array_equal(absent.states(), [[1, -1], [-1, -1], [1, -1]])


def test_features_and_tag_columns(tmp_path):
    path = write(tmp_path, "id,red,tag:sky,split,blue,tag:sea\nu,0.5,1,train,-1e3,0\nv,1,,test,0,?\n")
    collection = read_csv(path, name_column="id", part_column="split")
    np.testing.assert_array_equal(collection.X, [[0.5, -1000], [1, 0]])
    np.testing.assert_array_equal(collection.Y, [[1, 0], [np.nan, np.nan]])
    assert collection.tags == ["sky", "sea"]
    assert collection.feature_names == {"features": ["red", "blue"]}
    assert collection.names == ["u", "v"]
    assert collection.test.names == ["v"]


def test_tag_columns_by_name_and_prefix(tmp_path):
    path = write(tmp_path, "a,is_sky,is_sea,note\n1,1,0,hello\n")
    assert read_csv(path, tag_columns=["is_sea"], drop=["note", "is_sky"]).tags == ["is_sea"]
    assert read_csv(path, tag_prefix="is_", drop=["note"]).tags == ["sky", "sea"]
    with pytest.raises(ValueError, match="no column 'is_see'; did you mean 'is_sea'"):
        read_csv(path, tag_columns=["is_see"])


def test_other_separators_and_gzip(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfimage;tags\na;sky/sea\n"))
    collection = read_csv(tmp_path / "x.csv.gz", separator="/", delimiter=";")
    assert collection.tags == ["sea", "sky"]
    assert collection.name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,tag:sky\n1,1\n2\n", "line 3: expected 2 values, got 1"),
        ("a,tag:sky\n1,1\n2,0,5\n", "line 3: expected 2 values, got 3"),
        ("a,tag:sky\nx,1\n", "line 2: feature 'a' must be a number, got 'x'"),
        ("a,tag:sky\n1,1\n\n,1\n", "line 4: feature 'a' has no finite value"),
        ("a,tag:sky\ninf,1\n", "line 2: feature 'a' has no finite value"),
        ("a,tag:sky\n1,-1\n", r"line 2: tag 'tag:sky' must be 1 \(present\), 0 \(absent\) or empty"),
        ("a,a,tag:sky\n1,1,1\n", "line 1: columns need different names, got twice: a"),
        ("image,tags,tag:sky\na,b,1\n", "line 1: tags stand both in column 'tags'"),
        ('image,tags\n"a,b\n', "line 2: unexpected end of data"),
        ("", "the file is empty; expected a header line: image,tags for a list of pictures"),
        ("\n\n", "the file is empty"),
        ("tags\nsky\n", "neither a column 'image' .* nor columns of features; .* at least one view"),
        (
            "bild,worte\na.jpg,sky\n",
            "line 2: feature 'bild' .* header is bild,worte, but image,tags",
        ),
        (
            "a.jpg,sky\nb.jpg,sea\n",
            "line 2: feature 'a.jpg' .* there is no header line above a.jpg,sky, but image,tags",
        ),
        ("image,tags\na.jpg,sky,sea\n", r"line 2: expected 2 values, got 3; write several tags as sky\|sea"),
        (
            "a,b\n1,x\n",
            r"line 2: feature 'b' .* leave the column out of the file, or pass drop=\['b'\] to read_csv",
        ),
    ],
)
def test_malformed_lines_name_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"x.csv.*{message}"):
        read_csv(write(tmp_path, text))


@pytest.mark.parametrize(
    "header", ["Image,Tags,Part", "IMAGE;TAGS;PART", "image\ttags\tpart", "Image;tags;part"]
)
def test_lists_with_capitals_semicolons_and_tabs(tmp_path, header):
    mark = next(mark for mark in ",;\t" if mark in header)
    lines = [["a.jpg", "sky|sea", "train"], ["b.jpg", "", "test"]]
    path = write(tmp_path, "\n".join([header, *map(mark.join, lines)]))
    collection = read_csv(path)
    assert collection.tags == ["sea", "sky"]
    assert collection.names == ["a.jpg", "b.jpg"]
    assert list(collection.part) == ["train", "test"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("first", ["", "sep=;\r\n", "SEP=;\n"])
def test_lists_that_spreadsheet_programs_save(tmp_path, encoding, first):
    path = tmp_path / "tags.csv"
    text = f"{first}image;tags\r\nMünchen, Süd.jpg;Föhn|sky\r\n"
    path.write_bytes(("\ufeff" * (encoding == "utf-16-be") + text).encode(encoding))
    read = read_csv(path)
    assert read.names == ["München, Süd.jpg"]
    assert list(read.tags) == ["Föhn", "sky"]
    path.write_bytes((f"{first}image;tags\na.jpg\n").encode())
    with pytest.raises(FileError, match=f"line {2 + bool(first)}: expected 2 values, got 1"):
        read_csv(path)


def test_semicolons_between_features(tmp_path):
    collection = read_csv(write(tmp_path, "a;b;tag:sky\n1;2.5;1\n3;4;0\n"))
    np.testing.assert_array_equal(collection.X, [[1, 2.5], [3, 4]])
    assert collection.tags == ["sky"]
    with pytest.raises(ValueError, match="line 2: feature 'b' must be a number, got '2,5'"):
        read_csv(write(tmp_path, "a;b;tag:sky\n1;2,5;1\n"))


def test_a_comma_in_the_header_decides(tmp_path):
    with pytest.warns(UserWarning, match="1 tag, 1 of them once: is ';' the separator"):
        collection = read_csv(write(tmp_path, "image,tags\na.jpg,sky;sea\n"))
    assert collection.tags == ["sky;sea"]


@pytest.mark.parametrize(
    "header",
    [
        *("file,keywords", "Filename,Labels", "File Name,tag", "path,label", "image_path,Keyword"),
        *("SourceFile,Subject", "name,tags", "Name,Keywords", "photo,tags", "image,labels"),
    ],
)
def test_lists_of_other_programs(tmp_path, header):
    collection = read_csv(write(tmp_path, f"{header}\na.jpg,sky|sea\nb.jpg,sky\n"))
    assert collection.tags == ["sea", "sky"]
    assert collection.view("pictures") == [str(tmp_path / "a.jpg"), str(tmp_path / "b.jpg")]


def test_columns_of_features_keep_their_names(tmp_path):
    beside_numbers = read_csv(write(tmp_path, "name,tags,red\nu,sky,1\n"))
    assert beside_numbers.names == ["u"]
    assert list(beside_numbers.views) == ["features"]
    numbers = read_csv(write(tmp_path, "path,label,tag:sky\n1,2,1\n"), image_column=None, drop=["path"])
    assert numbers.feature_names == {"features": ["label"]}
    alone = read_csv(write(tmp_path, "label,length\n1,2\n"))
    assert alone.feature_names == {"features": ["label", "length"]}


def test_features_may_be_called_like_roles_in_capitals(tmp_path):
    collection = read_csv(write(tmp_path, "Part,Name,tag:sky\n1,2,1\n"))
    assert collection.feature_names == {"features": ["Part", "Name"]}
    both = read_csv(write(tmp_path, "Image,image,tags\n1,a.jpg,sky\n"))
    assert both.names == ["a.jpg"]
    np.testing.assert_array_equal(both.view("features"), [[1]])


def test_missing_features_can_be_kept(tmp_path):
    X = read_csv(write(tmp_path, "a,b\n,1\n?,2\n"), missing="nan").X
    np.testing.assert_array_equal(X, [[np.nan, 1], [np.nan, 2]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_columns_read_back(tmp_path, kind, name):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 3)), rng.choice([0, 1, np.nan], size=(12, 4))
    whole = Collection(
        views={"features": kind(X)},
        labels=kind(Y),
        tags=["a", 'b "c"', "d,e", "f|g"],
        names=[f"row {i}" for i in range(12)],
        part=["train"] * 8 + ["test"] * 4,
    )
    write_csv(whole, tmp_path / name)
    again = read_csv(tmp_path / name)
    np.testing.assert_array_equal(again.X, X)
    np.testing.assert_array_equal(again.Y, Y)
    assert (again.tags, again.names, list(again.part)) == (whole.tags, whole.names, list(whole.part))


def test_lists_of_tags_read_back(tmp_path):
    pictures = [str(tmp_path / "a.jpg"), str(tmp_path / "in" / "b.jpg"), "/elsewhere/c.jpg"]
    whole = Collection(views={"pictures": pictures}, labels=[{"sky"}, None, {"sea", "sky"}])
    write_csv(whole, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines()[:3] == ["image,tags", "a.jpg,sky", "in/b.jpg,"]
    again = read_csv(tmp_path / "x.csv")
    assert again.view("pictures") == pictures
    np.testing.assert_array_equal(again.states(), whole.states())


@pytest.mark.parametrize("labels", [[[1, np.nan]], [[0, 0]]], ids=["partly known", "nothing present"])
def test_labels_that_a_list_cannot_tell_are_refused(tmp_path, labels):
    collection = Collection(views={"pictures": ["a.jpg"]}, labels=labels)
    with pytest.raises(ValueError, match="row 0 does not fit a list of tags"):
        write_csv(collection, tmp_path / "x.csv")
    write_csv(collection, tmp_path / "x.csv", layout="columns")
    np.testing.assert_array_equal(read_csv(tmp_path / "x.csv").Y, labels)


def test_tags_that_contain_the_separator_read_back(tmp_path):
    tags = ["a|b", "|", "\\", "c\\", "\\|", "d,e", "f\ng", 'h"']
    labels = np.eye(8)
    labels[0] = 1
    whole = Collection(views={"pictures": [f"/p/{i}.jpg" for i in range(8)]}, labels=labels, tags=tags)
    for separator in ("|", ";", "||"):
        write_csv(whole, tmp_path / "x.csv", separator=separator)
        again = read_csv(tmp_path / "x.csv", separator=separator, tags=tags)
        np.testing.assert_array_equal(again.states(), whole.states())
    with pytest.raises(ValueError, match="contains the separator"):
        write_csv(whole, tmp_path / "y.csv", separator="\\")
    blank = whole.with_labels(labels, [*tags[:-1], " h"])
    with pytest.raises(ValueError, match="blanks around a tag are lost"):
        write_csv(blank, tmp_path / "y.csv")
    assert not (tmp_path / "y.csv").exists()


def test_backslashes_of_older_files_stay(tmp_path):
    collection = read_csv(write(tmp_path, "image,tags\na.jpg,c:\\photos|x\\y\n"))
    assert collection.tags == ["c:\\photos", "x\\y"]


def test_pictures_in_memory_are_not_paths(tmp_path):
    with pytest.raises(ValueError, match="save the pictures first"):
        write_csv(Collection(views={"pictures": [np.zeros((2, 2))]}, labels=[[1]]), tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "'=x", "''-x", "'quoted'", "-", "a=b"]


def test_cells_that_spreadsheets_would_run_are_written_as_text_and_read_back(tmp_path):
    pictures = [str(tmp_path / f"{name}.jpg") for name in HOSTILE]
    listed = Collection({"pictures": pictures}, [{tag} for tag in HOSTILE], part=HOSTILE)
    write_csv(listed, tmp_path / "list.csv")
    table = Collection(
        {"features": -np.eye(9)}, np.eye(9), HOSTILE, names=HOSTILE, feature_names={"features": HOSTILE}
    )
    write_csv(table, tmp_path / "table.csv")
    for name in ("list.csv", "table.csv"):
        with open(tmp_path / name, newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r") and cell != "-1"]
        again = read_csv(tmp_path / name)
        assert again.tags == sorted(HOSTILE) if name == "list.csv" else HOSTILE
        assert [set(np.take(again.tags, row)) for row in map(np.flatnonzero, again.states() > 0)] == [
            {tag} for tag in HOSTILE
        ]
        assert again.names == ([f"{tag}.jpg" for tag in HOSTILE] if name == "list.csv" else HOSTILE)
    assert list(read_csv(tmp_path / "list.csv").part) == HOSTILE
    np.testing.assert_array_equal(read_csv(tmp_path / "table.csv").X, -np.eye(9))
    assert read_csv(tmp_path / "table.csv").feature_names["features"] == HOSTILE


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_line_ends_in_names_and_tags_read_back(tmp_path, end):
    names, tags = [f"a{end}=1,b.jpg", "c.jpg"], [f"sea{end}side", "sky"]
    for views in ({"features": np.eye(2)}, {"pictures": [str(tmp_path / name) for name in names]}):
        collection = Collection(views=views, labels=[{tag} for tag in tags], names=names)
        write_csv(collection, tmp_path / "x.csv")
        again = read_csv(tmp_path / "x.csv", separator="|")
        assert (again.names, again.tags) == (names, tags)
