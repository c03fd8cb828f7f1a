"""`tagrank missing`: suggestions on the screen, in files and on a page."""

import csv
import json
import re
import signal
from contextlib import suppress
from functools import wraps

import pytest
from sklearn.base import clone

from tagrank.commands.missing.missing import missing

pytestmark = pytest.mark.usefixtures("quick_words")


def test_table_says_what_the_library_says(tagrank, table):
    result = tagrank("missing", table, "--top", 4, "--C", 1, "--folds", 3)
    assert result.exit_code == 0, result.stderr
    quality, _, _, *lines = result.stdout.splitlines()
    expected = missing(table, top=4, C=1.0, folds=3).suggestions
    assert quality.startswith("4 tags probably missing; checked ")
    assert len(lines) == 4
    for line, one in zip(lines, expected, strict=True):
        assert line.startswith(one.name)
        assert one.tag in line
        assert f"{one.probability:.1%}" in line


def test_parameters_of_the_method(tagrank, table):
    options = ("missing", table, "--top", 4, "--C", 1, "--folds", 3, "--method", "joint-svm", "--json")
    result = tagrank(*options, "--set", "decoding=transfer", "--set", "n_neighbors=3")
    found = [one["score"] for one in json.loads(result.stdout)["suggestions"]]
    expected = missing(table, top=4, C=1.0, folds=3, method="joint-svm", decoding="transfer", n_neighbors=3)
    assert found == [one.score for one in expected.suggestions]
    assert found != [one["score"] for one in json.loads(tagrank(*options).stdout)["suggestions"]]


def test_json_is_one_document(tagrank, table):
    result = tagrank("missing", table, "--wrong", "--C", 1, "--max-probability", 0.4, "--json")
    document = json.loads(result.stdout)
    assert document["about"] == "probably wrong"
    assert all(one["probability"] <= 0.4 and one["state"] == "present" for one in document["suggestions"])


def test_files_and_page(tagrank, table, tmp_path):
    result = tagrank(
        *("missing", table, "--C", 1, "--per-tag", 2),
        *("-o", tmp_path / "found.csv", "--page", tmp_path / "page.html"),
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "6 suggestions written" in result.stderr
    with open(tmp_path / "found.csv", newline="") as stream:
        assert [line["rank"] for line in csv.DictReader(stream)] == ["1", "2", "3", "4", "5", "6"]
    assert "probably missing" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (["--method", "one-vs-al"], "one-vs-al", 2),
        (["--set", "prior=identity"], "no parameter 'prior'", 2),
        (["--folds", "100"], "100 folds need at least as many pictures", 1),
        (["--output", "found.txt"], ".csv or .jsonl", 2),
        (["--output", "q.csv", "--page", "./q.csv"], "--output q.csv and --page q.csv are the same", 2),
        (["--wrong", "--untagged"], "pictures without tags have no wrong tags", 2),
        (["--min-probability", ".9", "--max-probability", ".1"], "--min-probability 0.9", 2),
        (["--C", "0"], "'--C': expected a positive number, got 0", 2),
        (["--features", "foo"], "no features 'foo'", 2),
        (["--folds", "1"], "folds", 2),
        (["--min-probability", "50"], "min-probability", 2),
    ],
)
def test_errors(tagrank, table, options, words, code):
    result = tagrank("missing", table, *options)
    assert result.exit_code == code
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""


def test_nothing_found_is_said(tagrank, table):
    result = tagrank("missing", table, "--C", 1, "--min-probability", 1)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert re.fullmatch(r"no tags seem to be missing; checked \d+ absent or unknown tags\n", result.stderr)


def test_nothing_suspicious_is_an_answer(tagrank, table, tmp_path):
    files = ("-o", tmp_path / "found.csv", "--page", tmp_path / "page.html")
    options = ("missing", table, "--wrong", "--C", 1, "--max-probability", 0)
    result = tagrank(*options, *files)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("no tags look wrong; checked ")
    assert "No tags look wrong; checked " in (tmp_path / "page.html").read_text()
    assert (tmp_path / "found.csv").read_text() == "name,tag,probability,score,rank,state\n"
    document = json.loads(tagrank(*options, "--json").stdout)
    assert document["suggestions"] == []
    assert document["answer"].startswith("no tags look wrong; checked ")


def test_what_is_more_probable_than_not_is_not_suspicious(tagrank, table):
    def found(*options):
        result = tagrank("missing", table, "--wrong", "--C", 1, "--top", 1000, *options, "--json")
        return [one["probability"] for one in json.loads(result.stdout)["suggestions"]]

    everything = found("--max-probability", 1)
    assert max(everything) > 0.5
    assert found() == [probability for probability in everything if probability <= 0.5]
    assert found("--min-probability", 0.6) == [
        probability for probability in everything if probability >= 0.6
    ]


def test_untagged_ones_are_counted(tagrank, table, tmp_path):
    header, *lines = table.read_text().splitlines()
    unknown = [",".join([*line.split(",")[:3], "", "", ""]) for line in lines[:4]]
    (tmp_path / "some.csv").write_text("\n".join([header, *unknown, *lines[4:]]) + "\n")
    options = ("missing", tmp_path / "some.csv", "--C", 1, "--top", 1)
    result = tagrank(*options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("1 tag probably missing; checked ")
    assert result.stderr == "skipped 4 rows without tags; --untagged suggests tags for them\n"
    assert json.loads(tagrank(*options, "--json").stdout)["n_untagged"] == 4
    assert tagrank(*options, "--untagged").stderr == ""


def test_rare_tags_are_warned_about_with_the_flag(tagrank, table, tmp_path):
    header, *lines = table.read_text().splitlines()
    rare = [f"{header},tag:rare", *(f"{line},{int(i == 0)}" for i, line in enumerate(lines))]
    (tmp_path / "rare.csv").write_text("\n".join(rare) + "\n")
    result = tagrank("missing", tmp_path / "rare.csv", "--C", 1, "-o", tmp_path / "one.csv", "--top", 1)
    assert "--min-count skips rare tags" in result.stderr
    assert "1 suggestion written to" in result.stderr


def test_tags_are_tidied_as_in_training(tagrank, table):
    options = ("--lower-case", "--synonym", "sea=water", "--synonym", "boat=water", "--hierarchy", "leaf")
    result = tagrank("missing", table, "--C", 1, "--json", *options)
    assert result.exit_code == 0, result.stderr
    assert {one["tag"] for one in json.loads(result.stdout)["suggestions"]} <= {"sky", "water"}
    assert json.loads(result.stdout)["data"]["tags"] == 2


def test_interrupted_training_ends_the_command(tagrank, table, monkeypatch):
    @wraps(missing)
    def interrupted(*_, progress, **__):
        # as a solver does, which hands over what it reached
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        progress(1, 5, "scoring")
        raise AssertionError("went on")

    monkeypatch.setattr("tagrank.commands.missing.missing.missing", interrupted)
    result = tagrank("missing", table)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr


def test_an_interrupt_of_the_last_fold_ends_the_command(tagrank, table, tmp_path, monkeypatch):
    """A solver takes it for its own and returns what it reached: nothing to make suggestions of."""
    copied = []

    def press_in_the_last(estimator):
        copied.append(estimator)
        if len(copied) == 3:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return clone(estimator)

    monkeypatch.setattr("tagrank.annotation.choosing.trials.clone", press_in_the_last)
    options = ("--method", "label-ranker", "--C", 1, "--kernel", "rbf", "--folds", 3)
    result = tagrank("missing", table, *options, "-o", tmp_path / "found.csv")
    assert len(copied) == 3
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_help_shows_examples(tagrank):
    result = tagrank("missing", "--help")
    assert len(re.findall(r"tagrank missing .*", result.stdout)) >= 4
