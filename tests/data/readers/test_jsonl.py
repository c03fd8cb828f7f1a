"""JSON lines: three states there and back."""

import gzip
import json

import numpy as np
import pytest

from tagrank.data import Collection, read_collection, write_collection
from tagrank.data.readers.jsonl import read_jsonl, write_jsonl
from tagrank.files import FileError


def write(folder, *lines):
    (folder / "x.jsonl").write_text("\n".join(lines))
    return folder / "x.jsonl"


def test_lines(tmp_path):
    path = write(
        tmp_path,
        '{"image": "a.jpg", "tags": ["sky", "sea"], "score": 3}',
        "",
        '{"image": "in/b.jpg", "tags": []}',
        '{"image": "/abs/c.jpg", "tags": ["sky"], "unknown": ["sea", "sky"]}',
        '{"image": "d.jpg", "tags": [], "unknown": []}',
        '{"image": "e.jpg"}',
    )
    collection = read_jsonl(path)
    assert collection.tags == ["sea", "sky"]
    np.testing.assert_array_equal(collection.states(), [[1, 1], [0, 0], [0, 1], [-1, -1], [0, 0]])
    assert collection.view("pictures")[1:3] == [str(tmp_path / "in" / "b.jpg"), "/abs/c.jpg"]
    assert collection.names[1] == "in/b.jpg"
    assert collection.part is None
    np.testing.assert_array_equal(
        read_jsonl(path, empty="absent", tags=["sky"]).states()[:, 0], [1, -1, 1, -1, 0]
    )


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
@pytest.mark.parametrize("seed", range(3))
def test_three_states_read_back(tmp_path, name, seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 1, np.nan], size=(20, 5))
    labels[0] = [1, 1, 1, 1, 1]
    labels[1], labels[2] = 0, np.nan
    whole = Collection(
        views={"pictures": [str(tmp_path / f"{i}é.jpg") for i in range(20)]},
        labels=labels,
        tags=["a", "b|c", "d\n", '"', "é"],
        part=rng.choice(["train", "test"], 20),
    )
    write_collection(whole, tmp_path / name)
    again = read_collection(tmp_path / name)
    columns = [again.tags.index(tag) for tag in whole.tags]
    np.testing.assert_array_equal(again.states()[:, columns], whole.states())
    assert again.view("pictures") == whole.view("pictures")
    assert list(again.part) == list(whole.part)
    if name.endswith("gz"):
        first = gzip.decompress((tmp_path / name).read_bytes()).decode().splitlines()[0]
        assert json.loads(first)["image"] == "0é.jpg"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: expected an object with"),
        ('{"tags": ["sky"]}', "line 2: expected an object with"),
        ('{"image": "a", "tags": "sky"}', "line 2: tags must be a list of texts"),
        ('{"image": "a", "tags": [1]}', "line 2: tags must be a list of texts"),
        ('{"image": "a", "tags": [" "]}', "line 2: tags must be a list of texts"),
        ('{"image": "a", "part": 1}', "line 2: part must be a word"),
        ("9" * 5000, "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
    ],
)
def test_malformed_lines_name_file_and_line(tmp_path, line, message):
    with pytest.raises(FileError, match=rf"x\.jsonl, {message}"):
        read_jsonl(write(tmp_path, '{"image": "a.jpg", "tags": ["sky"]}', line))


def test_empty_files_too_large_files_and_features(tmp_path):
    with pytest.raises(FileError, match="has no pictures; expected lines"):
        read_jsonl(write(tmp_path, ""))
    with pytest.raises(FileError, match="has more than 10 bytes"):
        read_jsonl(write(tmp_path, '{"image": "a.jpg", "tags": ["sky"]}'), max_bytes=10)
    with pytest.raises(ValueError, match="JSON lines hold pictures, got the views features"):
        write_jsonl(Collection(views={"features": np.zeros((1, 1))}), tmp_path / "y.jsonl")
    with pytest.raises(ValueError, match="save the pictures first"):
        write_jsonl(Collection(views={"pictures": [np.zeros((9, 9, 3))]}), tmp_path / "y.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]
