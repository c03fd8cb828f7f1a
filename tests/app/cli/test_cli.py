"""The command line as a whole: help, version, lists, and the same names as the library."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

import tagrank
from tagrank import __version__
from tagrank.app.cli import main as cli
from tagrank.app.cli.console import is_interrupt, sentence, with_flags
from tagrank.app.cli.signatures import find_places
from tagrank.estimators.methods import METHODS

COMMANDS = tuple(get_command(cli.app).commands)
# they answer a browser or programs, not their caller
SERVERS = {"desk", "serve"}
# in Python "import" is a word of the language, and "export" alone says too little
LONGER_NAMES = {
    "export": "export_decisions",
    "import": "import_decisions",
    "backup": "backup_decisions",
    "restore": "restore_decisions",
}
# one command for a function that lists, one that changes and one that takes back
SEVERAL_FUNCTIONS = {"tags"}


def test_version(tagrank):
    result = tagrank("--version")
    assert result.exit_code == 0
    assert result.stdout == f"tagrank {__version__}\n"


def test_help_lists_the_commands(tagrank):
    result = tagrank("--help")
    assert result.exit_code == 0
    assert all(f" {name} " in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_shows_examples(tagrank, name):
    result = tagrank(name, "--help")
    assert result.exit_code == 0
    examples = re.findall(rf"tagrank {name}\b.*", result.stdout.split("Examples")[1])
    assert len(examples) >= 2


LOADED = """
import sys
from tagrank.app.cli.main import COMMANDS

heavy = {"numba", "sklearn", "scipy", "numpy", "cv2", "PIL", "matplotlib", "pandas", "jinja2", "highspy"}
heavy |= {"daqp", "fastapi", "starlette", "uvicorn", "onnx", "onnxruntime", "torch", "tagrank_papers"}
for name, entry in COMMANDS.items():
    entry.load()
    print(name, *sorted(heavy & set(sys.modules)))
"""


def test_the_help_of_a_command_loads_nothing_heavy():
    """Nor does the Tab key behind it: both wait for the signature and the docstring."""
    answer = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert answer.stdout.split("\n")[:-1] == list(COMMANDS)


def test_unknown_command_suggests_one(tagrank):
    result = tagrank("trian")
    assert result.exit_code == 2
    assert "train" in result.stderr


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SERVERS | SEVERAL_FUNCTIONS])
def test_a_command_is_a_function_of_the_library(name):
    entry = cli.COMMANDS[name]
    assert entry.function == LONGER_NAMES.get(name, name)
    function = getattr(import_module(entry.module), entry.function)
    # the name tagrank.features belongs to the room
    assert name in ("features", "methods") or function is getattr(tagrank, entry.function)
    only_python = {"callback", "progress", "stop"}
    if name == "reproduce":
        only_python.add("parameters")
    options = {place.parameter for place in find_places(function)}
    assert options == set(inspect.signature(function).parameters) - only_python


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_docstrings_say(name):
    entry = cli.COMMANDS[name]
    function = getattr(import_module(entry.module), entry.function)
    assert inspect.getdoc(function).splitlines()[0] == entry.summary


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help(name):
    for option in get_command(cli.app).commands[name].load().params:
        assert option.help, option.name
        assert option.help[0] == option.help[0].upper()
        assert "In Python" not in option.help
        assert "`" not in option.help


def test_methods(tagrank):
    document = json.loads(tagrank("methods", "--json").stdout)
    assert [method["name"] for method in document] == [method.name for method in METHODS]
    people = tagrank("methods")
    words = " ".join(people.stdout.split())
    for told in ("name", "family", "citation", "differs"):
        assert all(method[told] in words for method in document)
    assert "SimpleMKL" in words
    assert "known as" in tagrank("methods", "SimpleMKL").stdout


def test_a_method_is_told_in_full(tagrank):
    told = tagrank("methods", "joint-svm").stdout
    for words in ("JointSVM", "Many tags and little time", "hardly with m", "Ignored", "C 0.1, 0.3"):
        assert words in told


def test_one_method_tells_what_can_be_set(tagrank):
    people = tagrank("methods", "joint-svm")
    assert people.exit_code == 0
    assert "odds-ratio" in people.stdout
    assert all(f"\n{name} " in people.stdout for name in ("output_kernel", "center", "n_neighbors"))
    assert "nothing" in tagrank("methods", "one-vs-all").stdout
    (document,) = json.loads(tagrank("methods", "prior-margin", "--json").stdout)
    assert [parameter["name"] for parameter in document["parameters"]] == ["prior"]
    nobody = tagrank("methods", "joint-svn")
    assert nobody.exit_code == 2
    assert "did you mean 'joint-svm'" in nobody.stderr


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_flags_take_no_value(tagrank, name):
    result = tagrank(*name.split(), "--help")
    assert result.exit_code == 0
    assert "--help" in result.stdout
    assert "bool" not in result.stdout


def test_datasets_say_how_to_get_them(tagrank, monkeypatch, tmp_path):
    monkeypatch.delenv("TAGRANK_DATA", raising=False)
    monkeypatch.setenv("TAGRANK_CACHE", str(tmp_path))
    document = {entry["name"]: entry for entry in json.loads(tagrank("datasets", "--json").stdout)}
    assert document["drawn-pictures"]["advice"] == ""
    assert document["scene"]["folder"] is None
    assert str(tmp_path / "scene") in document["scene"]["advice"]
    people = tagrank("datasets")
    assert "2,407" in people.stdout
    assert "data sets not found" in people.stderr


def test_datasets_that_are_here(tagrank, research_data):
    document = {entry["name"]: entry for entry in json.loads(tagrank("datasets", "--json").stdout)}
    assert document["scene"]["folder"] == str(research_data / "scene")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("no view 'x'"), "no view 'x'"),
        (ValueError("two\n  lines"), "two lines"),
        (MemoryError(), "not enough memory"),
        (PermissionError(13, "Permission denied", "a.csv"), "a.csv: Permission denied"),
        (
            ZeroDivisionError("division by zero"),
            "ZeroDivisionError: division by zero (--debug shows the traceback)",
        ),
    ],
)
def test_errors_are_one_line(error, expected):
    assert sentence(error) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("min_count skips rare tags", "--min-count skips rare tags"),
        ("gamma=0.5 needs kernel=rbf", "--gamma 0.5 needs --kernel rbf"),
        ("the kernel of min_count.csv and a/min_count", "the kernel of min_count.csv and a/min_count"),
        ("n_neighbors=3 of my_gamma=1", "n_neighbors=3 of my_gamma=1"),
    ],
)
def test_arguments_are_called_as_on_the_command_line(message, expected):
    assert with_flags(message, {"min_count": 2, "gamma": 0.5, "kernel": None}) == expected


def test_an_interrupt_inside_compiled_code_is_recognised():
    inner, outer = SystemError("returned a result"), SystemError("returned a result")
    inner.__cause__, outer.__cause__ = KeyboardInterrupt(), inner
    assert is_interrupt(outer)
    assert not is_interrupt(SystemError("something else"))
    assert not is_interrupt(ValueError("bad data"))


def test_output_survives_an_old_terminal(tmp_path):
    code = "from tagrank.app.cli.console import show; show('Image-AUC \u2191')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert answer.stdout.strip() == "Image-AUC ?"


def test_as_a_module():
    command = [sys.executable, "-m", "tagrank", "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == f"tagrank {__version__}\n"


def test_as_a_program(table, tmp_path):
    code = "import sys; sys.argv[0] = 'tagrank'; from tagrank.app.cli.main import main; main()"
    command = [sys.executable, "-c", code, "annotate", str(tmp_path / "none"), str(table)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stdout == ""
    place = tmp_path / "none"
    advice = f"model not found; train it first: tagrank train PHOTOS -o {place}"
    assert answer.stderr == f"error: {place}: {advice}\n"


@pytest.mark.parametrize(
    "command",
    [
        "annotate MODEL TABLE -o TABLE",
        "annotate MODEL other.csv TABLE -o TABLE",
        "evaluate MODEL TABLE --report TABLE",
        "evaluate MODEL TABLE --report MODEL/model.json",
        "missing TABLE -o TABLE",
        "missing TABLE --page TABLE",
        "missing TABLE --method prior-margin --set prior=PRIOR -o PRIOR",
        "missing TABLE -c CONFIG.csv -o CONFIG.csv",
        "train TABLE --method prior-margin --set prior=MODEL/prior.npy -o MODEL",
        "train TABLE -o HERE",
    ],
)
def test_no_command_replaces_what_it_reads(tagrank, table, model, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "MODEL")
    shutil.copy(table, "TABLE.csv")
    Path("PRIOR.csv").write_text(",a\na,1\n")
    Path("CONFIG.csv").write_text("top: 3\n")
    command = (
        command.replace("TABLE", "TABLE.csv").replace("PRIOR", "PRIOR.csv").replace("HERE", str(tmp_path))
    )
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = tagrank(*command.split())
    assert result.exit_code in (1, 2)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    message = " ".join(result.stderr.replace("│", " ").split())
    assert any(
        words in message
        for words in ("overwrite the input", "not an HTML page", "no part of the model", "not a model")
    )
