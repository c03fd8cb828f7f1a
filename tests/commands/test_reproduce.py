"""The tables of the papers are found by an entry point; without one a sentence says what installs them."""

from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import tagrank
from tagrank.app.cli.main import app
from tagrank.commands import reproduce as command

STATES = {"differs": "the answer is another one"}
calls = []


class ToyTable(SimpleNamespace):
    def to_dict(self):
        return vars(self)


TOY = ToyTable(
    name="toy-table1",
    number="table 1",
    about="Toys.",
    state="differs",
    why="None are at hand.",
    paper="toy",
    experiment="",
    minutes=None,
)


def list_reproductions():
    return [TOY]


def reproduce(name, **options):
    calls.append((name, options))
    return SimpleNamespace(
        table=TOY,
        experiment=None,
        answer=None,
        origin=("Measured on a toy.",),
        is_quick=False,
        tables=list,
        sentences=lambda: [TOY.why],
    )


@pytest.fixture
def installed(monkeypatch):
    """Make an entry point that leads to this file the only one, or none."""

    def install(*names):
        points = EntryPoints(EntryPoint(name, __name__, command.GROUP) for name in names)
        monkeypatch.setattr(command, "entry_points", lambda group: points.select(group=group))

    calls.clear()
    return install


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_without_the_distribution_one_sentence_names_what_installs_it(installed):
    installed()
    for answer in (invoke(), invoke("jsvm-table4", "--kept"), invoke("--json")):
        assert answer.exit_code == 1
        assert answer.stderr.count("\n") == 1
        assert "in a checkout of tagrank, run: pip install ./papers" in answer.stderr
    for function in (tagrank.list_reproductions, lambda: tagrank.reproduce("jsvm-table4")):
        with pytest.raises(ImportError, match=r"is not installed; .* pip install \./papers"):
            function()
    assert command._table_names("") == []


def test_help_and_wrong_options_need_no_distribution(installed):
    installed()
    assert "show our figures beside the published ones" in invoke("--help").stdout
    assert "--kept measures nothing" in invoke("jsvm-table4", "--kept", "--quick").stderr


def test_what_is_installed_answers(installed, monkeypatch):
    installed("papers")
    monkeypatch.setattr(EntryPoint, "load", lambda point: SimpleNamespace(**globals()))
    assert tagrank.list_reproductions() == [TOY]
    assert command._table_names("") == ["toy-table1"]
    assert "toy-table1" in invoke().stdout
    assert "differs: the answer is another one" in invoke().stderr
    shown = invoke("toy-table1", "--kept").stdout
    assert "toy-table1: table 1 of toy, differs" in shown
    assert "Measured on a toy." in shown
    tagrank.reproduce("toy-table1", quick=True, size=3)
    assert calls == [
        ("toy-table1", {"kept": True, "quick": False, "output": None}),
        ("toy-table1", {"kept": False, "quick": True, "output": None, "size": 3}),
    ]


def test_an_entry_point_leads_to_the_tables():
    pytest.importorskip("tagrank_papers", reason="tagrank-papers is not installed")
    assert "jsvm-table4" in command._table_names("")
