"""The colours of the desk can be told apart by people who see less (WCAG 2.2, level AA)."""

import re

import pytest

from tagrank.app.web.pages import HERE

TEXTS = [
    ("ink", "paper"),
    ("quiet", "paper"),
    ("quiet", "shade"),
    ("one", "paper"),
    ("one", "shade"),
    ("two", "card"),
    ("on-one", "one"),
    ("found", "found-bg"),
    ("wrong", "wrong-bg"),
    ("missed", "missed-bg"),
    ("wrong", "paper"),
]
EDGES = [("edge", "paper"), ("edge", "card"), ("one", "card")]


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_and_edges_have_enough_contrast(theme):
    roots = re.findall(r":root \{(.*?)\}", (HERE / "static" / "desk.css").read_text(), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", roots[theme]))
    faint = [pair for pair in TEXTS if contrast(*(colours[name] for name in pair)) < 4.5]
    faint += [pair for pair in EDGES if contrast(*(colours[name] for name in pair)) < 3]
    assert faint == []
