"""Damaged files and folders: every reader names the file in a sentence, or reads what is left."""

import gzip
import json
import os
import shutil
import warnings

import numpy as np
import pytest
from PIL import Image

from tagrank.data import (
    Collection,
    read_keywords,
    read_pictures,
    read_sidecar,
    write_collection,
    write_sidecar,
)
from tagrank.data.formats import readable_endings, reader_of, writable_endings
from tagrank.data.readers.folders.folder import LAYOUTS
from tagrank.files import FileError

N_DAMAGES = 60
PIECES = [
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"9" * 400,
    b"nan",
    b"\0",
    b"\xff\xfe",
    b'"',
    b"'",
    b"{",
    b"]",
    b"\n",
    b",",
    b"<",
]
COCO = {
    "images": [{"id": 1, "file_name": "1.jpg"}],
    "annotations": [{"image_id": 1, "category_id": 7}],
    "categories": [{"id": 7, "name": "sky"}],
}
VOC = "<annotation><object><name>sky</name></object></annotation>"


def samples(ending):
    """Contents of files with this ending, written by their writer, or here where there is none."""
    if ending not in writable_endings():
        assert ending == ".json", f"how does a file {ending} look?"
        return [json.dumps(COCO).encode(), b'[{"image": "1.jpg", "tags": ["sky"], "unknown": ["sea"]}]']
    return [written for view in VIEWS if (written := write_sample(ending, view))]


VIEWS = {"features": np.arange(8.0).reshape(2, 4), "pictures": ["1.jpg", "2.jpg"]}


def write_sample(ending, view):
    path = f"sample{ending}"
    try:
        write_collection(Collection({view: VIEWS[view]}, [[1, 0], [0, 1]], ["sky", "sea"]), path)
    except ValueError:
        return None
    with open(path, "rb") as stream:
        return stream.read()


def damage(content, rng):
    """Cut, flip a bit, leave out a piece, or put something else there."""
    place, other = sorted(rng.integers(0, len(content) + 1, 2))
    kind = rng.integers(4)
    if kind == 0:
        return content[:place]
    if kind == 1 and place < len(content):
        return content[:place] + bytes([content[place] ^ (1 << rng.integers(8))]) + content[place + 1 :]
    return content[:place] + PIECES[rng.integers(len(PIECES))] + content[place if kind == 2 else other :]


def try_to_read(read, path, where):
    said = where
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except ValueError as error:
            said = str(error)
    assert where in said
    assert len(said) < 2000


@pytest.mark.parametrize("ending", readable_endings())
def test_damaged_files(tmp_path, monkeypatch, ending):
    (tmp_path / "damaged").mkdir()
    monkeypatch.chdir(tmp_path / "damaged")
    rng = np.random.default_rng(0)
    for content in samples(ending):
        for packed in ("", ".gz"):
            path = tmp_path / "damaged" / f"x{ending}{packed}"
            for _ in range(N_DAMAGES):
                broken = damage(gzip.compress(content) if packed and rng.random() < 0.5 else content, rng)
                with open(path, "wb") as stream:
                    stream.write(gzip.compress(broken) if packed and rng.random() < 0.5 else broken)
                try_to_read(reader_of(f"x{ending}"), path, "damaged")


@pytest.mark.parametrize("ending", readable_endings())
def test_what_is_no_file(tmp_path, ending):
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(FileError, match="folder"):
        reader_of(f"x{ending}")(tmp_path / f"folder{ending}")
    with pytest.raises(FileNotFoundError, match="missing"):
        reader_of(f"x{ending}")(tmp_path / f"missing{ending}")
    (tmp_path / f"empty{ending}").write_bytes(b"")
    try_to_read(reader_of(f"x{ending}"), tmp_path / f"empty{ending}", "empty")


def draw(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), "teal").save(folder / name)


def fill(folder, layout):
    """A folder in which tags are stored in this way; the files that say so."""
    draw(folder, "1.jpg", "2.jpg")
    texts = {
        "tag_list": {
            "tags.csv": "image,tags\n1.jpg,sky|sea\n2.jpg,\n",
            "more_tags.json": '[{"image": "2.jpg"}]',
        },
        "corel5k": {
            "labels/words": "sky\nsea\n",
            "labels/training_label": "1 1 2\n",
            "labels/test_label": "2 2\n",
        },
        "voc": {"Annotations/1.xml": VOC, "ImageSets/Main/train.txt": "1\n"},
        "coco": {"instances.json": json.dumps(COCO)},
        "keywords": {},
        "tag_folders": {},
        "untagged": {},
    }[layout]
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    pictures = {
        "corel5k": ["train/1.jpeg", "test/2.jpeg"],
        "voc": ["JPEGImages/1.jpg"],
        "tag_folders": ["a/1.jpg"],
    }
    draw(folder, *pictures.get(layout, ()))
    if layout == "keywords":
        write_sidecar(folder / "1.jpg", ["places|rome", "sky"])
    return [folder / name for name in texts] or sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_damaged_folders(tmp_path, layout):
    files = fill(tmp_path / "folder", layout)
    assert len(read_pictures(tmp_path / "folder", layout=layout)) > 0
    rng = np.random.default_rng(0)
    for _ in range(N_DAMAGES):
        shutil.copytree(tmp_path / "folder", tmp_path / "damaged")
        path = tmp_path / "damaged" / files[rng.integers(len(files))].relative_to(tmp_path / "folder")
        path.write_bytes(damage(path.read_bytes(), rng))
        for chosen in (layout, None):
            try_to_read(
                lambda folder, chosen=chosen: read_pictures(folder, layout=chosen),
                tmp_path / "damaged",
                "damaged",
            )
        shutil.rmtree(tmp_path / "damaged")


@pytest.mark.parametrize("read", [read_sidecar, read_keywords])
def test_damaged_sidecars(tmp_path, read):
    draw(tmp_path, "damaged.jpg")
    sidecar = write_sidecar(tmp_path / "damaged.jpg", ["places|rome", "sky"])
    content, rng = sidecar.read_bytes(), np.random.default_rng(0)
    for _ in range(N_DAMAGES):
        sidecar.write_bytes(damage(content, rng))
        try_to_read(read, sidecar if read is read_sidecar else tmp_path / "damaged.jpg", "damaged")


def test_names_that_are_no_text(tmp_path):
    """A folder's name may be any bytes, and be a tag."""
    folder = os.fsencode(tmp_path) + b"/odd\xff"
    os.mkdir(folder)
    draw(tmp_path, "sea/1.jpg")
    shutil.copy(tmp_path / "sea/1.jpg", folder + b"/2.jpg")
    collection = read_pictures(tmp_path)
    write_collection(collection, tmp_path / "x.jsonl")
    with pytest.raises(FileError, match=r"x\.csv: .*is not Unicode; rename it, or write \.jsonl"):
        write_collection(collection, tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()
