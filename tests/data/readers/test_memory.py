"""Small files that stand for much: what is made of them is counted before memory is full.

Each file holds nearly as many bytes as its reader allows, here 16 MiB: without counting, what is made of them
takes 10 to 100 times as much.
"""

import gzip

import pytest

MAX_BYTES = 2**24
READ = """
import sys
from tagrank.data import read_collection
try:
    print(read_collection(sys.argv[1], max_bytes=2**24))
except ValueError as error:
    print(error)
"""


def repeated(beginning, piece, end=""):
    return beginning + piece * ((MAX_BYTES - 200 - len(beginning)) // len(piece)) + end


FILES = {
    "rows.csv": lambda: repeated("image,tags\n", "a,b\n"),
    "tags.csv": lambda: repeated("image,tags\n", "a," + "|".join(["xy"] * 1000) + "\n"),
    "names.csv": lambda: repeated("name,f\n", "a,1\n"),
    "numbers.csv": lambda: repeated("a,b,c,d\n", "0,0,0,0\n"),
    "labels.csv": lambda: repeated("a,tag:b,tag:c\n", "0,0,0\n"),
    "header.csv": lambda: ",".join(map(str, range(2 * 10**6))) + "\n",
    "line.csv": lambda: repeated("a,b", "xy,"),
    "quoted.csv": lambda: repeated("image,tags\n", '"\nab",'),
    "rows.jsonl": lambda: repeated("", '{"image":"a"}\n'),
    "line.jsonl": lambda: repeated("[", "[],", "[]]"),
    "rows.json": lambda: repeated("[", '{"image":"a"},', '{"image":"a"}]'),
    "entry.json": lambda: repeated('[{"image":"a","tags":[', "[],", "[]]}]"),
    "rows.libsvm": lambda: repeated("", "1 1:1\n"),
    "labels.libsvm": lambda: repeated("", "1,2,3,4,5,6,7,8,9 1:1\n"),
    "attributes.arff": lambda: repeated("@relation a\n", "@attribute a real\n", "@data\n1\n"),
    "values.arff": lambda: repeated("@relation a\n@attribute a {", "ab,", "a}\n@data\n"),
    "dense.arff": lambda: repeated("@relation '-C 1'\n" + "@attribute a real\n" * 4 + "@data\n", "0,0,0,0\n"),
    "sparse.arff": lambda: repeated("@relation '-C 1'\n@attribute a real\n@data\n", "{0 1}\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_small_files_that_stand_for_much(tmp_path, run_within, name):
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(FILES[name]().encode(), 1))
    assert path.stat().st_size < MAX_BYTES / 3
    said = run_within(320, READ, path)
    assert "max_bytes" in said or "more than" in said, said
    assert name in said
    assert len(said) < 500


FOLDER = """
import sys
from tagrank.data import read_pictures
try:
    print(read_pictures(sys.argv[1], max_bytes=2**24))
except ValueError as error:
    print(error)
"""
IMAGE = '{"id":1,"file_name":"a"}'
LISTS = {
    "tags.csv": FILES["rows.csv"],
    "tags.jsonl": FILES["rows.jsonl"],
    "coco.json": lambda: repeated('{"images":[', f"{IMAGE},", IMAGE + '],"annotations":[],"categories":[]}'),
    "labels/words": lambda: repeated("", "a\n"),
    "ImageSets/Main/train.txt": lambda: repeated("", "a\n"),
}
BESIDE = {
    "labels/words": ("labels/training_label", "labels/test_label"),
    "ImageSets/Main/train.txt": ("JPEGImages/a.jpg", "Annotations/a.xml"),
}


@pytest.mark.parametrize("name", LISTS)
def test_folders_that_stand_for_much(tmp_path, run_within, name):
    for file in ("a.jpg", name, *BESIDE.get(name, ())):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / name).write_text(LISTS[name]())
    said = run_within(250, FOLDER, tmp_path)
    assert name in said
    assert "larger max_bytes" in said
