"""Filters mean what they say, and what people write is never SQL."""

import pytest

from tagrank.archive import Answer, PictureFilter
from tagrank.errors import ArgumentError


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["a.png", "b.png", "e.png", "sub/c.png", "sub/d.png"]),
        ({"tag": "sky"}, ["a.png", "e.png"]),
        ({"tag": "sky", "state": "absent"}, ["sub/d.png"]),
        ({"tag": "sky", "state": "unknown"}, ["b.png", "sub/c.png"]),
        ({"state": "tagged"}, ["a.png", "b.png", "e.png", "sub/d.png"]),
        ({"state": "untagged"}, ["sub/c.png"]),
        ({"state": "reviewed"}, ["b.png"]),
        ({"state": "changed"}, []),
        ({"folder": "sub"}, ["sub/c.png", "sub/d.png"]),
        ({"folder": "su"}, []),
        ({"folder": "sub", "tag": "boat"}, ["sub/d.png"]),
        ({"text": "C.PN"}, ["sub/c.png"]),
        ({"text": "boat"}, ["sub/d.png"]),
        ({"text": "%"}, []),
        ({"text": "_"}, []),
        ({"start": "1990-01-01"}, []),
        ({"end": "1990-01-01"}, []),
        ({"tag": "' OR 1=1 --"}, []),
        ({"folder": "' OR 1=1 --"}, []),
        ({"text": "' OR 1=1 --"}, []),
    ],
)
def test_filters(archive, number, chosen, expected):
    archive.decide(
        [
            Answer(number("e.png"), "sky", "yes"),
            Answer(number("sub/d.png"), "sky", "no"),
            Answer(number("b.png"), "sky", "skip"),
        ],
        who="anna",
        request="1",
        reviewed=[number("b.png")],
    )
    found = archive.select(PictureFilter(**chosen))
    assert sorted(archive.picture(i).name for i in found) == expected
    assert archive.count(PictureFilter(**chosen)) == len(expected)
    assert archive.select(PictureFilter(**chosen), limit=1) == found[:1]
    assert archive.select(PictureFilter(**chosen), after=found[0] if found else 0) == found[1:]


@pytest.mark.parametrize(
    "chosen", [{"state": "present"}, {"state": "1=1"}, {"start": "today"}, {"end": "2020-01-01' OR '1"}]
)
def test_filters_that_cannot_be_meant(archive, chosen):
    with pytest.raises(ArgumentError):
        archive.select(PictureFilter(**chosen))
