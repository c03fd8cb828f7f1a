"""Every table of every paper has an entry that says what it is and how far it is reproduced."""

import re
import subprocess
import sys

import pytest

import tagrank
from tagrank.errors import ArgumentError
from tagrank.reproduction import beside
from tagrank.reproduction.declarations import NO_FIGURES, OURS, STATES, Answer, Figures, Table
from tagrank.reproduction.entries import EXPERIMENTS, PAPERS, TABLES, find_table

NUMBERS = {  # as counted in the papers
    "MLR": "1 2",
    "TWMMF": "1 2 3 4",
    "M3L": "1 2 3",
    "JSVM": "1 2 3 4 5",
    "dissertation": """1.1 1.2 1.3 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 3.1 3.2 3.3 3.4
        4.1 4.2 4.3 4.4 4.5 5.1 5.2 5.3 5.4 5.5 5.6 5.7 6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.8 6.9 A.1 A.2""",
}


@pytest.mark.parametrize("paper", NUMBERS)
def test_every_table_of_a_paper_has_one_entry(paper):
    listed = [
        number
        for table in TABLES
        if table.paper == paper and table.number.startswith("table")
        for number in re.findall(r"[\dA][\d.]*", table.number)
    ]
    assert sorted(listed) == sorted(NUMBERS[paper].split())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_entry_is_whole(table):
    assert table.state in STATES
    assert table.paper in PAPERS
    assert table.about.endswith((".", "?"))
    assert table.why.endswith(".")
    assert not table.experiment or table.experiment in EXPERIMENTS
    assert bool(table.experiment) or table.state in ("impossible", NO_FIGURES)
    assert table.state != NO_FIGURES or (not table.published and not table.experiment)
    number = re.search(r"[\dA][\d.]*", table.number)
    if table.name[-1].isdigit():
        assert table.name.endswith(number[0])


def test_names_are_told_apart():
    assert len({table.name for table in TABLES}) == len(TABLES)
    assert {"twmmf-table3", "jsvm-table4", "mlr-gl-table5.2", "mkl-table2.7"} <= {t.name for t in TABLES}
    assert set(EXPERIMENTS) == {table.experiment for table in TABLES} - {""}
    assert all(bool(table.state == OURS) == (table.paper == "ours") for table in TABLES)


def test_an_unknown_name_is_answered_with_names_that_are_near():
    with pytest.raises(
        ArgumentError, match=r"no table is called 'jsvm-table9'; there are jsvm-table1.*jsvm-table5"
    ):
        find_table("jsvm-table9")
    with pytest.raises(ArgumentError, match="twmmf-table3"):
        find_table("unheard-of")


def test_the_list_is_light():
    code = (
        "import sys, tagrank; tables = tagrank.list_reproductions(); "
        "print(len(tables), sorted({'numpy', 'sklearn', 'numba', 'scipy'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split(" ", 1) == [str(len(TABLES)), "[]\n"]
    assert tagrank.list_reproductions() == list(TABLES)


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
    table = Table("toy", "table 1", "About.", "differs", "Why.", published)
    answer = Answer(Figures.read("| A | C\ntwo | 3.5 | 7.0\nthree | 9.0 | 8.0"))
    [(_, both)] = beside.tables(table, answer)
    assert both.columns == ("A", "A, ours", "B", "C, ours")
    assert both.rows == {
        "one": ("1.0", "", "2.0", ""),
        "two": ("3.0", "3.5", "4.0", "7.0"),
        "three": ("", "9.0", "", "8.0"),
    }
    assert beside.differences(table, answer) == "Ours less published: A +0.5."
    assert "| two | 3.0 | 3.5 | 4.0 | 7.0 |" in beside.figures_table(both)


def test_tables_that_have_nothing_in_common_stand_one_after_the_other():
    published = Figures.read("| A\none | 1.0")
    table = Table("toy", "table 1", "About.", "in pattern", "Why.", published)
    answer = Answer(Figures.read("| B\none | 3.5"))
    assert beside.tables(table, answer) == [("Published", published), ("Ours", answer.figures)]
    assert beside.differences(table, answer) == ""
    assert beside.tables(table, None) == [("Published", published)]


def test_differences_name_the_lowest_and_the_highest():
    published = Figures.read("| A | B\none | 1.0 | 500\ntwo | 3.0 | 4.0")
    table = Table("toy", "table 1", "About.", "differs", "Why.", published)
    answer = Answer(Figures.read("| A | B\none | 0.5 | 100\ntwo | 3.5 | 4.0"))
    assert beside.differences(table, answer) == (
        "Ours less published: A -0.5 (one) to +0.5 (two); B -400 (one) to +0 (two)."
    )
