"""Every table of every paper has an entry that says what it is and how far it is reproduced."""

import re
import subprocess
import sys

import pytest

import tagrank
from tagrank.errors import ArgumentError
from tagrank_papers.catalogue import (
    EXPERIMENTS,
    HOME,
    IMPOSSIBLE,
    NO_FIGURES,
    OURS,
    PAPERS,
    STATES,
    TABLES,
    find_table,
    read_experiments,
    read_paper,
)
from tagrank_papers.page import render_page

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
    assert table.paper in PAPERS
    assert table.about.endswith((".", "?"))
    assert table.why.endswith(".")
    assert bool(table.experiment) or table.state in (IMPOSSIBLE, NO_FIGURES)
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


@pytest.fixture
def edited(tmp_path):
    """Read the file of the ranking paper after an edit."""

    def read(old, new):
        path = tmp_path / "ranking.toml"
        text = (HOME / "published" / "ranking.toml").read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return read_paper(path, EXPERIMENTS)

    return read


def test_a_file_is_read_as_it_is_written(edited):
    key, paper, tables = edited("The photographs of VOC", "The photographs\n  of VOC")
    assert (key, paper) == ("MLR", PAPERS["MLR"])
    assert tables == [table for table in TABLES if table.paper == "MLR"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('state = "in part"', 'state = "nearly"', "mlr-table1: state must be one of reproduced, .*'nearly'"),
        ('experiment = "voc_objects"', 'experiment = "voc"', "mlr-table1: there is no experiment 'voc'"),
        ('number = "table 1"', 'nummer = "table 1"', "mlr-table1: nummer is not one of name, number"),
        ('number = "table 1"', "", "ranking.toml, mlr-table1: number must be given"),
        ('name = "mlr-table1"', "", "a table without a name: name must be given"),
        ("VOC 06 |", "VOC 06 | 1 |", "mlr-table2: every row must have 5 cells, which VOC 06 has not"),
        ("authors =", "author =", "ranking.toml: author is not one of title, authors"),
    ],
)
def test_what_a_file_may_not_say_is_named(edited, old, new, message):
    with pytest.raises(ValueError, match=message):
        edited(old, new)


def test_features_of_our_own_are_a_state_that_says_so(edited):
    _, _, tables = edited('state = "in part"', 'state = "with our features"')
    assert tables[0].state == "with our features"
    legend = render_page().split("\n## ")[0]
    assert all(f"**{state}** | {meaning}" in legend for state, meaning in STATES.items())
    for table in TABLES:
        if table.state == "with our features":
            assert "features" in f"{table.why} {EXPERIMENTS[table.experiment].protocol}", table.name


def test_an_experiment_must_be_whole(tmp_path):
    path = tmp_path / "experiments.toml"
    path.write_text("[toy]\nminutes = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"experiments\.toml, toy: about, data, protocol must be given"):
        read_experiments(path)
