"""`tagrank annotate`: ranked tags on the screen and in files."""

import csv
import json
import shutil

import pytest

from tagrank.annotation import Annotator, Explanation, RankedTag, RankedTags
from tagrank.app.cli.console import show
from tagrank.commands.annotate import Annotation, show_annotation
from tagrank.data import read_collection


def test_shows_the_best_tags_of_every_row(tagrank, model, table):
    result = tagrank("annotate", model, table, "--top", 2)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == 61
    expected = Annotator.load(model).annotate(read_collection(table), n_tags=2)[0]
    assert all(f"{tag} {probability:.0%}" in lines[1] for tag, _, probability, _ in expected)


def test_json_is_one_document(tagrank, model, table):
    document = json.loads(tagrank("annotate", model, table, "--json").stdout)
    assert document["problems"] == []
    assert len(document["pictures"]) == 60
    scores = [entry["score"] for entry in document["pictures"][0]["tags"]]
    assert scores == sorted(scores, reverse=True)


def test_files(tagrank, model, table, tmp_path):
    ranked = [
        [(rank, entry) for rank, entry in enumerate(row, start=1) if rank <= 2 or entry.predicted]
        for row in Annotator.load(model).annotate(read_collection(table))
    ]
    entries = [pair for row in ranked for pair in row]
    for name in ("tags.csv", "tags.jsonl"):
        result = tagrank("annotate", model, table, "--top", 2, "-o", tmp_path / name)
        assert result.exit_code == 0
        assert result.stdout == ""
    with open(tmp_path / "tags.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [(int(line["rank"]), line["tag"]) for line in lines] == [(rank, one.tag) for rank, one in entries]
    assert float(lines[0]["score"]) == entries[0][1].score
    rows = [json.loads(line) for line in (tmp_path / "tags.jsonl").read_text().splitlines()]
    assert [row["tags"] for row in rows] == [[one._asdict() for _, one in row] for row in ranked]


def test_predicted_tags_are_kept_beyond_the_top(tagrank, model, table, tmp_path):
    expected = [
        [(rank, entry.tag) for rank, entry in enumerate(row, start=1) if rank <= 1 or entry.predicted]
        for row in Annotator.load(model).annotate(read_collection(table))
    ]
    assert {len(row) for row in expected} == {1, 2}
    names = [[tag for _, tag in row] for row in expected]
    document = json.loads(tagrank("annotate", model, table, "--top", 1, "--json").stdout)
    assert [[entry["tag"] for entry in row["tags"]] for row in document["pictures"]] == names
    for name in ("tags.csv", "tags.jsonl"):
        assert tagrank("annotate", model, table, "--top", 1, "-o", tmp_path / name).exit_code == 0
    with open(tmp_path / "tags.csv", newline="") as stream:
        lines = [(int(line["rank"]), line["tag"]) for line in csv.DictReader(stream)]
    assert lines == [pair for row in expected for pair in row]
    rows = [json.loads(line) for line in (tmp_path / "tags.jsonl").read_text().splitlines()]
    assert [[entry["tag"] for entry in row["tags"]] for row in rows] == names


def test_predicted_tags_have_a_star(tagrank, model, table):
    result = tagrank("annotate", model, table, "--top", 3)
    ranked = Annotator.load(model).annotate(read_collection(table))
    for line, row in zip(result.stdout.splitlines()[1:], ranked, strict=True):
        for tag, _, probability, predicted in row:
            assert (f"{tag} {probability:.0%}*" in line) == predicted
    assert result.stderr == "* predicted tag\n"


def test_rows_are_not_called_pictures(tagrank, model, table, tmp_path):
    assert tagrank("annotate", model, table).stdout.startswith("row ")
    written = tagrank("annotate", model, table, "-o", tmp_path / "tags.csv")
    assert "ranked tags of 60 rows written" in written.stderr


@pytest.mark.parametrize(
    ("output", "words", "code"),
    [("tags.txt", ".csv or .jsonl", 2), ("folder.csv", "is a folder", 1), ("file/tags.csv", "is a file", 1)],
)
def test_bad_destination(tagrank, model, table, tmp_path, output, words, code):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    result = tagrank("annotate", model, table, "-o", tmp_path / output)
    assert result.exit_code == code
    assert words in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_truncated_model(tagrank, model, table, tmp_path):
    broken = shutil.copytree(model, tmp_path / "broken")
    largest = max(broken.glob("*.npy"), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-9])
    result = tagrank("annotate", broken, table)
    assert result.exit_code == 1
    assert "truncated" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["not json", "{}", '{"format": "tagrank model", "version": 99}'])
def test_not_a_model(tagrank, table, tmp_path, content):
    (tmp_path / "model.json").write_text(content)
    result = tagrank("annotate", tmp_path, table)
    assert result.exit_code == 1
    assert str(tmp_path) in result.stderr
    assert result.stderr.count("\n") == 1


def test_rows_of_another_width(tagrank, model, tmp_path):
    (tmp_path / "narrow.csv").write_text("red,tag:sky\n0.5,1\n0.1,0\n")
    result = tagrank("annotate", model, tmp_path / "narrow.csv")
    assert result.exit_code == 1
    assert "3 columns" in result.stderr


def test_names_cannot_steer_the_terminal(tagrank, tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J"
    rows = "".join(f"{i / 20},{i % 2}\n" for i in range(20))
    (tmp_path / "rows.csv").write_text(f"red,tag:{hostile}\n{rows}")
    trained = tagrank("train", tmp_path / "rows.csv", "-o", tmp_path / "m", "--method", "label-frequency")
    assert trained.exit_code == 0, trained.stderr
    shown = tagrank("annotate", tmp_path / "m", tmp_path / "rows.csv")
    assert "owned" in shown.stdout
    wrong = tagrank("annotate", tmp_path / f"m{hostile}", tmp_path / "rows.csv")
    assert "owned" in wrong.stderr
    assert "\x1b" not in trained.output + shown.output + wrong.output


def test_why_shows_probability_and_what_each_of_two_models_adds(capsys):
    heads = {"LabelRanker": 1.25, "OneVsAllLogistic": -0.5}
    reason = Explanation("sky", 0.75, 0.0, probability=0.8, heads=heads)
    ranked = RankedTags("photo", (RankedTag("sky", 1.4, 0.8, True),))
    show(*show_annotation(Annotation([ranked], why=[[reason]]), why=True).tables)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "sky 80%, score +0.75" in lines
    assert "models: LabelRanker +1.25, OneVsAllLogistic -0.50" in lines
