"""A list of tags that is brought to other tags keeps its separators, columns and all other cells."""

from itertools import combinations
from pathlib import Path

import pytest

from tagrank.data.writers.tag_list_lines import TagList
from tagrank.data.writers.tags import PictureTags

WORDS = ("sky", "sea", "boat", "dog", "sun", "tree")


def pictures(present):
    return [PictureTags(i, name, b"", "", tuple(tags)) for i, (name, tags) in enumerate(present.items())]


def some_list(path, text):
    return TagList(path, text.encode(), lambda listed: listed)


@pytest.mark.parametrize(("separator", "delimiter"), [(";", ","), ("|", ";"), (", ", ";"), ("|", "\t")])
def test_the_separators_stay(separator, delimiter):
    cells = {f"{i}.jpg": separator.join(words) for i, words in enumerate(combinations(WORDS, 3))}
    rows = "".join(f"{name}{delimiter}{tags}\n" for name, tags in cells.items())
    text = f"file{delimiter}keywords\n{rows}"
    before = some_list(Path("tags.csv"), text)
    present = {name: list(tags) for name, tags in before.tags().items()}
    assert present["0.jpg"] == ["sky", "sea", "boat"]
    assert before.rewritten(pictures(present), Path()).decode() == text
    present["0.jpg"] = ["sky", "boat", "new"]
    present["z.jpg"] = ["sun", "dog"]
    first = separator.strip().join(present["0.jpg"])
    last = f"z.jpg{delimiter}{separator.strip().join(present['z.jpg'])}\n"
    expected = text.replace(cells["0.jpg"], first, 1) + last
    assert before.rewritten(pictures(present), Path()).decode() == expected


def test_awkward_names_and_tags_read_back():
    path = Path("tags.csv")
    present = {"a, b.jpg": ["=1+1", "x|y", 'say "hi"'], "-c.jpg": ["back\\slash", "two\nlines"]}
    written = TagList(path, None, lambda _: None).rewritten(pictures(present), Path())
    assert TagList(path, written, lambda listed: listed).tags() == present
