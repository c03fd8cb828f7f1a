"""`tagrank export` and `tagrank import`, and what the desk decided on the way to other commands."""

import json
import shlex
import shutil
import subprocess

import pytest
from PIL import Image

from tagrank.archive import Answer, Archive
from tagrank.data import read_keywords
from tagrank.data.drawn_pictures import draw_pictures


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, pixels in zip("abc", draw_pictures(3, size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def decided(photos):
    with Archive.open(photos) as archive:
        archive.scan()
        answers = [Answer(1, "sky", "yes"), Answer(1, "sea", "no"), Answer(2, "boat", "yes")]
        archive.decide(answers, who="anna", request="1")
    return photos


def test_a_list_goes_out_and_comes_back(tagrank, decided, tmp_path):
    out = tmp_path / "decisions.csv"
    written = tagrank("export", decided, "-o", out)
    assert written.exit_code == 0
    assert "3 decisions written to" in written.stderr
    assert tagrank("export", decided).stdout == out.read_text()
    shutil.rmtree(decided / ".tagrank")
    tried = tagrank("import", decided, out, "--dry-run")
    assert (tried.exit_code, (decided / ".tagrank").exists()) == (0, False)
    assert "nothing was recorded: 3 decisions recorded from 3 lines" in tried.stderr
    assert tagrank("import", decided, out, "--who", "ben").exit_code == 0
    document = json.loads(tagrank("export", decided, "--json").stdout)
    assert {(row["name"], row["tag"], row["answer"], row["by"]) for row in document["decisions"]} == {
        ("a.png", "sky", "yes", "ben"),
        ("a.png", "sea", "no", "ben"),
        ("b.png", "boat", "yes", "ben"),
    }
    assert "0 decisions recorded from 3 lines" in tagrank("import", decided, out, "--dry-run").stderr


def test_sidecars(tagrank, decided):
    tried = tagrank("export", decided, "--sidecars", "--dry-run")
    assert (tried.exit_code, list(decided.glob("*.xmp"))) == (0, [])
    assert "nothing was written: 2 tags added to 2 sidecars" in tried.stderr
    assert "sky" in tried.stdout
    document = json.loads(tagrank("export", decided, "--sidecars", "--json").stdout)
    assert [change["tags"] for change in document["sidecars"]["changes"]] == [["sky"], ["boat"]]
    assert [read_keywords(decided / name) for name in ("a.png", "b.png")] == [["sky"], ["boat"]]


def test_sidecars_lose_what_was_taken_back(tagrank, decided):
    tagrank("export", decided, "--sidecars")
    with Archive.open(decided) as archive:
        archive.undo(who="anna", request="2")
    tried = tagrank("export", decided, "--sidecars", "--dry-run")
    assert "nothing was written: 0 tags added, 2 tags removed in 2 sidecars" in tried.stderr
    assert len(list(decided.glob("*.xmp"))) == 2
    document = json.loads(tagrank("export", decided, "--sidecars", "--json").stdout)["sidecars"]
    assert [(change["action"], change["removed"]) for change in document["changes"]] == [
        ("delete", ["sky"]),
        ("delete", ["boat"]),
    ]
    assert list(decided.glob("*.xmp")) == []


def test_all_tags_as_a_list(tagrank, decided):
    listed = decided / "tags.csv"
    listed.write_text("image,tags\na.png,sea|dog\nc.png,dog\n")
    before = listed.read_bytes()
    with Archive.open(decided) as archive:
        archive.scan()
    tried = tagrank("export", decided, "--tags", listed, "--dry-run")
    assert (tried.exit_code, listed.read_bytes()) == (0, before)
    assert "dry run, nothing was written" in tried.stderr
    assert "2 tags added, 1 tag removed; 3 pictures with tags" in tried.stderr
    result = tagrank("export", decided, "--tags", listed)
    assert listed.read_text() == "image,tags\na.png,dog|sky\nc.png,dog\nb.png,boat\n"
    command = result.stderr.partition("to restore it: ")[2].strip()
    subprocess.run(shlex.split(command), check=True)
    assert listed.read_bytes() == before
    document = json.loads(tagrank("export", decided, "--tags", listed, "--sidecars", "--json").stdout)
    assert (document["tags"]["added"], document["tags"]["removed"]) == (2, 1)
    options = ("--method", "label-frequency", "--features", "hsv", "--no-cache", "--n-jobs", 1, "--json")
    trained = tagrank("train", decided, "-o", decided.parent / "m", *options)
    assert trained.exit_code == 0, trained.stderr
    assert "not read" not in trained.stderr
    # sea was rejected, so it is known, too
    assert json.loads(trained.stdout)["data"]["tags"] == 4


def test_problems_are_said_and_end_with_1(tagrank, decided, tmp_path):
    (tmp_path / "list.csv").write_text("name,tag,answer\nnowhere.png,sky,yes\nc.png,sky,yes\n")
    result = tagrank("import", decided, tmp_path / "list.csv")
    assert result.exit_code == 1
    assert "there is no picture 'nowhere.png'" in result.stderr
    assert "1 decision recorded from 2 lines" in result.stderr
    (decided / "a.png").unlink()
    result = tagrank("export", decided, "--sidecars")
    assert result.exit_code == 1
    assert "sidecar not changed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["export", "{photos}"], 1, "no decisions found"),
        (["export", "{photos}", "-o", "x.txt"], 2, ".csv or .jsonl"),
        (["export", "{photos}", "--dry-run"], 2, "--dry-run only applies to sidecars"),
        (["export", "{photos}", "--style", "stem"], 2, "--style stem only applies to sidecars"),
        (["export", "{photos}", "--tags", "x.txt"], 2, ".csv or .jsonl"),
        (["export", "{photos}", "--tags", "x.csv", "-o", "x.csv"], 2, "are the same file"),
        (["export", "{photos}/nowhere"], 1, "is not a folder"),
        (["import", "{photos}", "{photos}/nowhere.csv"], 1, "nowhere.csv"),
        (
            ["train", "{photos}", "-o", "m", "--decisions", "x.sqlite", "--no-decisions"],
            2,
            "cannot be combined",
        ),
        (["missing", "drawn-pictures", "--decisions", "x.sqlite"], 2, "--decisions x.sqlite"),
    ],
)
def test_what_cannot_be_meant(tagrank, photos, arguments, code, words):
    result = tagrank(*(argument.format(photos=photos) for argument in arguments))
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr


def test_an_open_desk_keeps_others_from_importing(tagrank, decided, tmp_path):
    (tmp_path / "list.csv").write_text("name,tag,answer\nc.png,sky,yes\n")
    with Archive.open(decided, lock=True) as archive:
        archive.own.write_address("http://127.0.0.1:8477")
        result = tagrank("import", decided, tmp_path / "list.csv")
        assert result.exit_code == 1
        assert "is open at http://127.0.0.1:8477" in result.stderr
        assert tagrank("export", decided).stdout.count("\n") == 4


def test_missing_says_how_many_decisions_it_used(tagrank, decided):
    with Archive.open(decided) as archive:
        archive.decide([Answer(3, "sky", "yes"), Answer(3, "boat", "no")], who="anna", request="2")
    options = ("--method", "label-frequency", "--folds", 2, "--features", "hsv", "--no-cache", "--n-jobs", 1)
    assert "used 5 decisions of yours" in tagrank("missing", decided, *options).stderr
    assert "has no tags to learn from" in tagrank("missing", decided, "--no-decisions", *options).stderr


def test_files_for_other_tools(tagrank, decided, tmp_path):
    out = tmp_path / "tasks.json"
    written = tagrank("export", decided, "--to", "label-studio", "-o", out)
    assert written.exit_code == 0, written.stderr
    assert "tasks.json and " in written.stderr
    assert len(json.loads(out.read_text())) == 3
    assert "sky" in out.with_suffix(".xml").read_text()
    assert tagrank("export", decided, "--to", "fiftyone", "-o", tmp_path / "labels.json").exit_code == 0
    refused = tagrank("export", decided, "--to", "fiftyone", "-o", tmp_path / "labels.csv")
    assert refused.exit_code != 0
    assert "ends in .json" in refused.stderr
    assert tagrank("export", decided, "--to", "fiftyone").exit_code != 0
    assert tagrank("export", decided, "--to", "paint", "-o", out).exit_code != 0


def test_a_folder_that_no_desk_has_opened_goes_to_other_tools(tagrank, photos, tmp_path):
    (photos / "tags.csv").write_text("image,tags\na.png,sea|sky\nb.png,\n")
    result = tagrank("export", photos, "--to", "fiftyone", "-o", tmp_path / "labels.json")
    assert result.exit_code == 0, result.stderr
    document = json.loads((tmp_path / "labels.json").read_text())
    assert document["classes"] == ["sea", "sky"]
    listed = document["labels"][str(photos.resolve() / "a.png")]
    assert [(one["label"], one["attributes"]["accepted"]) for one in listed] == [
        ("sea", False),
        ("sky", False),
    ]
    assert tagrank("export", photos, "--to", "label-studio", "-o", tmp_path / "tasks.json").exit_code == 0
    first = json.loads((tmp_path / "tasks.json").read_text())[0]
    assert sorted(first) == ["data", "predictions"]
    assert not (photos / ".tagrank").exists()
    refused = tagrank("export", photos, "--to", "fiftyone", "-o", tmp_path / "labels.json", "--sidecars")
    assert refused.exit_code == 2
    assert "decisions of the desk" in refused.stderr
