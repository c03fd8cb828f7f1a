"""Names of tags and people look like what they are."""

import pytest

from tagrank.errors import ArgumentError
from tagrank.visible_text import check_visible, hidden_places, shown

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
NAMES = [
    "sky",
    "Zoë Müller",
    "東京",
    "می\u200cخواهم",  # Persian, with a joiner that keeps letters apart
    "क्\u200dष",  # Hindi, with one that joins
    "র\u200d্য",  # Bengali, before a mark
    FAMILY,
    "\N{HEAVY BLACK HEART}\ufe0f",
    "\N{HEAVY BLACK HEART}\ufe0f\u200d\N{FIRE}",
    "\N{LEFT RIGHT ARROW}\ufe0f",
    "1\ufe0f\u20e3",
    "葛\U000e0100城",  # a form of the first letter
    "\u0600١٢",
    "שלום",
    "C++ & <b>",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_all_scripts_are_kept(name):
    assert check_visible("a tag", name, 200) == name
    assert list(hidden_places(name)) == []


HIDDEN = [
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",  # direction
    *"\u200b\u2060\ufeff\u00ad\u2061\u180e\u034f\u115f\u3164\uffa0\u2800\ufff9",  # nothing to see
    *"\0\x1b\x7f\x85\t\n\r\u2028\u2029",
    *"\ue000\U000f0000\u0378\ufffe\U0010ffff\ud800\U000e0041",  # of nobody, or of everybody's own
]


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: f"{ord(hidden):x}")
def test_what_is_not_seen_is_refused_wherever_it_stands(hidden):
    for name in (f"s{hidden}ky", f"sk{hidden} y", f"{hidden}", f"{FAMILY}{hidden}{FAMILY}", f"ש{hidden}ל"):
        with pytest.raises(ArgumentError, match=rf"a tag (may not hold .* U\+{ord(hidden):04X}|has 1 to)"):
            check_visible("a tag", name, 200)
    assert list(hidden_places(f"sky{hidden}")) == [3]


@pytest.mark.parametrize(
    "name",
    [
        "s\u200dky",
        "s\u200cky",
        "sky\u200d",
        "\u200dsky",
        f"{FAMILY}\u200d",
        f"sky\u200d{FAMILY}",
        "می\u200c\u200cخواهم",
        "می\u200c",
        "می\u200c خواهم",
        "sky\ufe0f",
        "1\ufe0f",
        "sky\ufe00",
        "\ufe0f",
        "葛\U000e0100\U000e0100城",
    ],
)
def test_joiners_and_variants_are_refused_where_nothing_needs_them(name):
    with pytest.raises(ArgumentError, match="cannot be seen"):
        check_visible("a tag", name, 200)


def test_blanks_are_plain_and_single():
    assert check_visible("a tag", "\u00a0 blue\u2003 \u3000sky ", 200) == "blue sky"
    assert check_visible("a tag", "Zoe\u0308", 4) == "Zoë"


@pytest.mark.parametrize("name", ["", "  ", "\u00a0", "x" * 11])
def test_a_name_has_a_length(name):
    with pytest.raises(ArgumentError, match="a name has 1 to 10 characters"):
        check_visible("a name", name, 10)


def test_a_name_is_text():
    with pytest.raises(ArgumentError, match="a tag must be text, got int"):
        check_visible("a tag", 3, 10)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_all_scripts_are_shown_as_they_are(name):
    assert shown(f"{name}\n") == f"{name}\n"


def test_what_is_not_seen_is_shown_by_its_number():
    assert shown("\u202eyks\u200b\n") == "‹U+202E›yks‹U+200B›\n"
