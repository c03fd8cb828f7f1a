"""Lists in files: what a spreadsheet does with them, and what a program reads."""

import csv
import json

import pytest

from tagrank.commands.destinations import write_list


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "\tA", "\n=1", "＝1"])
def test_no_cell_is_a_formula(tmp_path, name):
    for ending in ("csv", "jsonl"):
        write_list(
            tmp_path / f"a.{ending}", table=[["name", "score"], [name, -0.5]], documents=[{"name": name}]
        )
    with open(tmp_path / "a.csv", newline="") as stream:
        assert list(csv.reader(stream)) == [["name", "score"], [f"'{name}", "-0.5"]]
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"name": name}


def test_no_line_end_in_a_cell_begins_a_line(tmp_path):
    names = ["a\r=1+1", "a\n=1+1", "a\r\n=1+1"]
    write_list(tmp_path / "a.csv", table=[[name, 1] for name in names], documents=[])
    with open(tmp_path / "a.csv", newline="") as stream:
        assert list(csv.reader(stream)) == [[name, "1"] for name in names]


def test_other_cells_stay_as_they_are(tmp_path):
    names = ["sky", "a=b", "'quoted'", "1", "", "é, ü"]
    write_list(tmp_path / "a.csv", table=[[name] for name in names], documents=[])
    with open(tmp_path / "a.csv", newline="") as stream:
        assert [line[0] if line else "" for line in csv.reader(stream)] == names
