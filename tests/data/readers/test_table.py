"""What separates the tags of a cell: taken where it is certain, asked about where it seems so."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from tagrank.data import read_pictures
from tagrank.data.readers.csv import read_csv
from tagrank.data.readers.table import check_separator, choose_separator, find_splitting

WORDS = ["sky", "sea", "beach", "tree", "plane", "cat", "dog", "house", "snow", "sun", "road", "car"]


def random_lists(separator, n_cells=80, seed=0):
    rng = np.random.default_rng(seed)
    return [separator.join(rng.choice(WORDS, size=rng.integers(1, 5), replace=False)) for _ in range(n_cells)]


@pytest.mark.parametrize("between", [";", "; ", ", ", ",", "\t"])
def test_a_certain_separator_is_taken_and_told(between):
    cells = random_lists(between)
    mark = between.strip(" ")
    n_tags = len(set(cells))
    message = rf"tags.csv: '.*' separates tags: {len(WORDS)} different tags, where there would be {n_tags} "
    with pytest.warns(UserWarning, match=message):
        assert choose_separator(cells, "tags.csv") == mark


@pytest.mark.parametrize("between", [";", ", "])
def test_few_tags_in_many_pictures(between):
    # every combination recurs, and yet they are lists: of different lengths
    few = [between.join(words) for n in (1, 2, 3) for words in combinations(WORDS[:5], n)] * 10
    assert find_splitting(few).is_certain


def test_a_short_list_is_asked_about():
    with pytest.warns(UserWarning, match=r"2 different tags, 2 of them once: is ';' the separator\?") as told:
        assert choose_separator(["beach;sky", "sea;sky"], "tags.csv") == "|"
    assert "separator=';' makes 3 different tags of them, separator='|' keeps them" in str(told[0].message)


def test_lists_among_single_tags_are_asked_about():
    cells = ["sky"] * 30 + ["sea"] * 30 + ["sky, sea"] * 4
    assert not find_splitting(cells).is_certain


@pytest.mark.parametrize(
    "cells",
    [
        ["Washington, D.C."] * 3 + ["sky"] * 20 + ["sea"] * 9,
        ["Washington, D.C.", "sky", "sea", "sky", "sea"],
        # classes with synonyms, as ImageNet has them
        ["great white shark, man-eater", "tench, Tinca tinca", "hen, biddy, chook"] * 20,
        # the separator is there
        ["Smith, Anna|Jones, Bob", "Brown, Cy|Smith, Dan", "Miller, Eve"],
        random_lists("|"),
        ["sky", "sea", "", "sky"],
        [],
    ],
)
def test_tags_with_commas_are_left_alone(cells):
    assert find_splitting(cells) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_separator(cells, "tags.csv") == "|"


@pytest.mark.parametrize(
    "names",
    [
        [f"City{i}, Country{i % 7}" for i in range(60)],
        [f"Family{i % 15}, Name{i % 50}" for i in range(60)],
        # red circle, blue circle, red square: they recur, and all have two parts
        [f"colour{i}, shape{j}" for i in range(8) for j in range(5)] * 10,
    ],
)
def test_names_of_two_parts_are_never_split_unasked(names):
    found = find_splitting(names)
    assert found is None or not found.is_certain


def test_lists_in_brackets_are_refused(tmp_path):
    (tmp_path / "x.csv").write_text("image,tags\na.jpg,\"['sky', 'sea']\"\n")
    with pytest.raises(ValueError, match=r"x.csv: tags stand in brackets, such as \['sky', 'sea'\]"):
        read_csv(tmp_path / "x.csv")


@pytest.mark.parametrize("wrong", ["", 3, None, ["|"]])
def test_a_separator_is_a_text(wrong):
    with pytest.raises(ValueError, match="separator must be a text such as"):
        check_separator(wrong)
    assert check_separator(r"\t") == "\t"


def write_folder(folder, name, cells, header="image,tags"):
    lines = [header]
    for i, cell in enumerate(cells):
        Image.new("RGB", (8, 8)).save(folder / f"{name}{i}.png")
        lines.append(f'{name}{i}.png,"{cell}"')
    (folder / f"{name}_tags.csv").write_text("\n".join(lines))


def test_a_folder_and_its_lists(tmp_path):
    write_folder(tmp_path, "train", random_lists(";"))
    # alone this list would be too short to tell
    write_folder(tmp_path, "test", random_lists(";", 3, seed=1), header="Filename,Keywords")
    with pytest.warns(UserWarning, match="train_tags.csv and 1 more: ';' separates tags"):
        collection = read_pictures(tmp_path)
    assert collection.tags == sorted(WORDS)
    assert collection.part.tolist().count("test") == 3
    asked = read_pictures(tmp_path, separator=";")
    np.testing.assert_array_equal(asked.states(), collection.states())
    whole = read_pictures(tmp_path, separator="|")
    assert any(";" in tag for tag in whole.tags)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a.png,sky", r"there is no header line above a.png,sky; expected the columns 'image' \(or file"),
        ("bild,worte", r"its header is bild,worte; expected .* and 'tags' \(or keywords, labels\)"),
        ("image,worte", r"its header is image,worte; expected the columns"),
    ],
)
def test_a_folder_without_a_known_header(tmp_path, header, message):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "tags.csv").write_text(f"{header}\na.png,sky\n")
    with pytest.raises(ValueError, match=f"tags.csv: {message}"):
        read_pictures(tmp_path)
