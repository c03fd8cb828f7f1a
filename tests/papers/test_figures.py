"""Figures are read from lines, set side by side and compared."""

import pytest

from tagrank_papers.catalogue import Table
from tagrank_papers.figures import Answer, Figures, differences
from tagrank_papers.reproduce import Reproduction


def reproduction(published, ours):
    """A table whose figures were published, and found again."""
    table = Table("toy", "table 1", "About.", "differs", "Why.", published)
    return Reproduction(table, answer=None if ours is None else Answer(ours))


def test_figures_are_read_from_lines():
    figures = Figures.read("""
          | first      | second
    one   | 1.5 ± 0.2  | 3,000
    two   | 0:19:40    | 0.086 (50)
    """)
    assert figures.columns == ("first", "second")
    assert list(figures.numbers()) == [
        ("one", "first", 1.5),
        ("one", "second", 3000),
        ("two", "second", 0.086),
    ]
    with pytest.raises(ValueError, match="every row must have 2 cells, which one has not"):
        Figures.read("| first\none | 1 | 2")


def test_columns_in_common_stand_side_by_side():
    published = Figures.read("| A | B\none | 1.0 | 2.0\ntwo | 3.0 | 4.0")
    ours = Figures.read("| A | C\ntwo | 3.5 | 7.0\nthree | 9.0 | 8.0")
    [(_, both)] = reproduction(published, ours).tables()
    assert both.columns == ("A", "A, ours", "B", "C, ours")
    assert both.rows == {
        "one": ("1.0", "", "2.0", ""),
        "two": ("3.0", "3.5", "4.0", "7.0"),
        "three": ("", "9.0", "", "8.0"),
    }
    assert differences(published, ours) == "Ours less published: A +0.5."
    assert "| two | 3.0 | 3.5 | 4.0 | 7.0 |" in both.to_markdown()


def test_tables_that_have_nothing_in_common_stand_one_after_the_other():
    published = Figures.read("| A\none | 1.0")
    ours = Figures.read("| B\none | 3.5")
    assert reproduction(published, ours).tables() == [("Published", published), ("Ours", ours)]
    assert differences(published, ours) == ""
    assert reproduction(published, None).tables() == [("Published", published)]
    assert reproduction(published, None).sentences() == ["Why."]


def test_differences_name_the_lowest_and_the_highest():
    published = Figures.read("| A | B\none | 1.0 | 500\ntwo | 3.0 | 4.0")
    ours = Figures.read("| A | B\none | 0.5 | 100\ntwo | 3.5 | 4.0")
    assert differences(published, ours) == (
        "Ours less published: A -0.5 (one) to +0.5 (two); B -400 (one) to +0 (two)."
    )
