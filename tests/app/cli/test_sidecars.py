"""Sidecars from the command line: shown before, undone or accepted after, never filled with all tags."""

import json

import numpy as np
import pytest
from PIL import Image

from tagrank.commands.sidecars import LIKELY
from tagrank.data import read_keywords, write_sidecar
from tagrank.data.drawn_pictures import draw_pictures
from tests.data.writers.foreign_sidecars import SIDECARS


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(36, size=48, random_state=3)


@pytest.fixture(scope="module")
def tagged(drawn, tmp_path_factory):
    """Thirty pictures with a list of their tags."""
    place = tmp_path_factory.mktemp("tagged")
    lines = ["image,tags"]
    for name, image, labels in list(zip(drawn.names, drawn.view("pictures"), drawn.Y, strict=True))[:30]:
        Image.fromarray(image).save(place / f"{name}.png")
        lines.append(f"{name}.png,{'|'.join(np.array(drawn.tags)[labels == 1])}")
    (place / "tags.csv").write_text("\n".join(lines) + "\n")
    return place


def train(tagrank, data, path, *options):
    result = tagrank("train", data, "-o", path, "--features", "colour", "--C", 1, *options)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def model(tagrank, tagged, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "holiday"
    train(tagrank, tagged, path)
    return path


@pytest.fixture
def new(drawn, tmp_path):
    """Six pictures without tags, but for one of its own in a sidecar."""
    place = tmp_path / "new"
    place.mkdir()
    for name, image in list(zip(drawn.names, drawn.view("pictures"), strict=True))[30:]:
        Image.fromarray(image).save(place / f"{name}.png")
    write_sidecar(sorted(place.glob("*.png"))[0], ["mine"])
    return place


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_dry_run_shows_what_the_run_does(tagrank, model, new):
    before = contents(new)
    shown = tagrank("annotate", model, new, "--sidecars", "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "would be added" in shown.stdout
    assert "nothing was written" in shown.stderr
    both = tagrank("annotate", model, new, "--sidecars", "--dry-run", "--why")
    quality, _, changes = shown.stdout.partition("\n\n")
    assert quality.startswith("Of 100 predicted tags, ")
    assert both.stdout.startswith(quality)
    assert both.stdout.endswith(changes)
    assert "for: drawing-" in both.stdout
    planned = json.loads(tagrank("annotate", model, new, "--sidecars", "--dry-run", "--json").stdout)
    assert contents(new) == before
    done = json.loads(tagrank("annotate", model, new, "--sidecars", "--json").stdout)
    assert planned["sidecars"]["dry_run"]
    assert planned["sidecars"]["changes"] == done["sidecars"]["changes"]
    assert contents(new) != before
    again = json.loads(tagrank("annotate", model, new, "--sidecars", "--dry-run", "--json").stdout)
    assert {change["action"] for change in again["sidecars"]["changes"]} == {"keep"}


def test_a_run_is_undone(tagrank, model, new):
    before = contents(new)
    result = tagrank("annotate", model, new, "--sidecars")
    assert "'tagrank undo' removes them" in result.stderr
    written = contents(new)
    shown = tagrank("undo", new, "--dry-run")
    assert (shown.exit_code, contents(new)) == (0, written)
    assert "nothing was written" in shown.stderr
    document = json.loads(tagrank("undo", new, "--json").stdout)
    assert contents(new) == before
    assert {change["action"] for change in document["changes"]} == {"change", "delete"}
    result = tagrank("undo", new)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "have no machine-written tags" in result.stderr


def test_foreign_sidecars_come_back_byte_for_byte(tagrank, model, new):
    pictures = sorted(new.glob("*.png"))
    for name, picture in zip(
        ("CRLF", "UTF-16 BE", "padding", "digiKam", "Lightroom"), pictures, strict=False
    ):
        picture.with_name(f"{picture.name}.xmp").write_bytes(SIDECARS[name])
    before = contents(new)
    assert tagrank("annotate", model, new, "--sidecars").exit_code == 0
    assert len({name for name, content in contents(new).items() if content != before.get(name)}) == 6
    assert tagrank("undo", new).exit_code == 0
    assert contents(new) == before


def test_a_link_is_left_out_and_said(tagrank, model, new, tmp_path):
    picture = sorted(new.glob("*.png"))[1]
    notes = tmp_path / "notes.xmp"
    notes.write_bytes(SIDECARS["digiKam"])
    link = picture.with_name(f"{picture.name}.xmp")
    link.symlink_to(notes)
    result = tagrank("annotate", model, new, "--sidecars")
    assert result.exit_code == 1
    assert "sidecar not written" in result.stderr
    assert "is a link, expected a plain file" in " ".join(result.stderr.split())
    assert len(list(new.glob("*.xmp"))) == 6
    assert (link.is_symlink(), notes.read_bytes()) == (True, SIDECARS["digiKam"])


def test_new_sidecars_by_stem(tagrank, model, new):
    """One that is there is taken, and none is made that could belong to the raw file."""
    pictures = sorted(new.glob("*.png"))
    pictures[1].with_suffix(".cr2").write_bytes(b"raw")
    assert tagrank("annotate", model, new, "--sidecars", "--style", "stem").exit_code == 0
    names = {path.name for path in new.glob("*.xmp")}
    long = {f"{picture.name}.xmp" for picture in pictures[:2]}
    assert names == long | {f"{picture.stem}.xmp" for picture in pictures[2:]}
    assert tagrank("undo", new).exit_code == 0
    assert [path.name for path in new.glob("*.xmp")] == [f"{pictures[0].name}.xmp"]
    assert tagrank("annotate", model, new, "--style", "stem").exit_code == 2
    assert tagrank("annotate", model, new, "--sidecars", "--style", "lightroom").exit_code == 2


def test_the_latest_run_is_undone_first(tagrank, model, new):
    tagrank("annotate", model, new, "--sidecars", "--max-tags", 1)
    first = contents(new)
    tagrank("annotate", model, new, "--sidecars")
    assert contents(new) != first
    result = tagrank("undo", new)
    assert "other runs also wrote tags here" in result.stderr
    assert contents(new) == first
    assert tagrank("undo", new, "--run", "yesterday").exit_code == 2
    tagrank("annotate", model, new, "--sidecars")
    assert tagrank("undo", new, "--run", "all").exit_code == 0
    assert len(list(new.glob("*.xmp"))) == 1


def test_damaged_sidecars_do_not_stop_an_undo(tagrank, model, new):
    tagrank("annotate", model, new, "--sidecars")
    broken = sorted(new.glob("*.xmp"))[-1]
    broken.write_text("<broken")
    result = tagrank("undo", new)
    assert result.exit_code == 1
    assert f"sidecar not changed: {broken}" in result.stderr
    assert len(list(new.glob("*.xmp"))) == 2
    assert broken.read_text() == "<broken"


def test_accepted_tags_are_learned_from(tagrank, model, new, tmp_path):
    tagrank("annotate", model, new, "--sidecars")
    before = train(tagrank, new, tmp_path / "m", "--machine-tags", "--json")
    assert json.loads(before.stdout)["data"]["rows"] == 6
    assert "machine-written" not in before.stderr
    result = tagrank("train", new, "-o", tmp_path / "m", "--features", "colour", "--json")
    assert "(pictures: 6); --machine-tags uses" in " ".join(result.stderr.split())
    assert tagrank("accept", new).exit_code == 0
    after = train(tagrank, new, tmp_path / "m", "--json")
    assert json.loads(after.stdout)["data"] == json.loads(before.stdout)["data"]


@pytest.mark.parametrize("command", ["missing", "evaluate"])
def test_no_command_takes_machine_tags_for_the_truth(tagrank, model, new, command):
    tagrank("annotate", model, new, "--sidecars")
    options = {"missing": ("--features", "colour", "--folds", 2, "--C", 1), "evaluate": ()}[command]
    place = (new,) if command == "missing" else (model, new)
    assert "machine-written tags" in tagrank(command, *place, *options).stderr
    assert "machine-written tags" not in tagrank(command, *place, *options, "--machine-tags").stderr


def test_sidecars_beside_a_list(tagrank, model, tagged, tmp_path):
    """Both are read, without a word; --no-join-sidecars leaves the sidecars out."""
    picture = sorted(tagged.glob("*.png"))[0]
    path = write_sidecar(picture, ["holiday"])
    result = tagrank("evaluate", model, tagged)
    assert "sidecars" not in result.stderr
    joined = train(tagrank, tagged, tmp_path / "m", "--json")
    assert "warning" not in joined.stderr
    plain = json.loads(train(tagrank, tagged, tmp_path / "m", "--no-join-sidecars", "--json").stdout)
    assert json.loads(joined.stdout)["data"]["tags"] == plain["data"]["tags"] + 1
    path.unlink()
    assert tagrank("evaluate", model, tagged / "tags.csv", "--no-join-sidecars").exit_code == 2


def test_a_model_that_predicts_nearly_every_tag_writes_nothing(tagrank, tagged, new, tmp_path):
    train(tagrank, tagged, tmp_path / "m", "--threshold", "top-k", "--n-tags", 20)
    before = contents(new)
    result = tagrank("annotate", tmp_path / "m", new, "--sidecars", "-o", tmp_path / "tags.csv")
    assert result.exit_code == 1
    assert "tags per picture on average" in result.stderr
    assert contents(new) == before
    assert not (tmp_path / "tags.csv").exists()
    assert tagrank("annotate", tmp_path / "m", new).exit_code == 0


def test_a_sidecar_gets_no_more_than_a_few_tags(tagrank, model, new):
    result = tagrank("annotate", model, new, "--sidecars", "--max-tags", 2)
    assert result.exit_code == 0, result.output
    counts = [len(read_keywords(path, machine_tags=True)) for path in sorted(new.glob("*.png"))]
    assert counts == [3, 2, 2, 2, 2, 2]
    assert "got only the best 2 (--max-tags)" in result.stderr


def test_a_sidecar_gets_a_limited_number_without_being_told(tagrank, model, new, monkeypatch):
    for module in ("annotate", "sidecars"):
        monkeypatch.setattr(f"tagrank.commands.{module}.MOST_TAGS", 2)
    found = json.loads(tagrank("annotate", model, new, "--sidecars", "--dry-run", "--json").stdout)
    assert max(len(change["tags"]) for change in found["sidecars"]["changes"]) == 2
    plain = json.loads(tagrank("annotate", model, new, "--json").stdout)
    assert max(sum(tag["predicted"] for tag in picture["tags"]) for picture in plain["pictures"]) > 2


def test_a_sidecar_gets_what_is_rather_true_than_not(tagrank, model, new):
    """The stars of the run, its JSON and the files agree; a probability that is named goes first."""

    def run(*options):
        found = json.loads(
            tagrank("annotate", model, new, "--sidecars", "--dry-run", "--json", *options).stdout
        )
        changes = {change["picture"]: change["tags"] for change in found["sidecars"]["changes"]}
        starred = [tag for picture in found["pictures"] for tag in picture["tags"] if tag["predicted"]]
        assert sum(map(len, changes.values())) == len(starred)
        return min(tag["probability"] for tag in starred)

    plain = json.loads(tagrank("annotate", model, new, "--json").stdout)["pictures"]
    assert min(tag["probability"] for row in plain for tag in row["tags"] if tag["predicted"]) < LIKELY
    assert run() >= LIKELY
    assert 0.3 <= run("--min-probability", 0.3) < LIKELY
    assert run("--min-probability", 0.9) >= 0.9


@pytest.mark.parametrize("options", [("--dry-run",), ("--sidecars", "--max-tags", 0)])
def test_options_of_sidecars(tagrank, model, new, options):
    assert tagrank("annotate", model, new, *options).exit_code == 2


def test_pictures_of_the_training_flatter_a_model(tagrank, model, tagged, drawn, tmp_path):
    """They are known by their content, whatever they are called."""
    page = tmp_path / "page.html"
    result = tagrank("evaluate", model, tagged, "--report", page)
    assert "30 of these 30 pictures were used for training, so the figures are too good" in result.stderr
    assert "--only-unseen" in result.stderr
    assert "30 of these 30 pictures were used for training" in page.read_text()
    result = tagrank("evaluate", model, tagged, "--only-unseen")
    assert result.exit_code == 1
    assert "trained on all 30 pictures; name other pictures" in result.stderr
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    chosen = list(range(27, 33))
    for i in chosen:
        Image.fromarray(drawn.view("pictures")[i]).save(mixed / f"other-{i}.png")
    lines = [f"other-{i}.png,{'|'.join(np.array(drawn.tags)[drawn.Y[i] == 1])}" for i in chosen]
    (mixed / "tags.csv").write_text("\n".join(["image,tags", *lines]) + "\n")
    seen = tagrank("evaluate", model, mixed, "--json")
    assert "3 of these 6 pictures" in seen.stderr
    unseen = tagrank("evaluate", model, mixed, "--only-unseen", "--json")
    assert "used for training" not in unseen.stderr
    seen, unseen = json.loads(seen.stdout), json.loads(unseen.stdout)
    assert (seen["n_trained_on"], unseen["n_trained_on"]) == (3, 0)
    assert (seen["metrics"]["n_samples"], unseen["metrics"]["n_samples"]) == (6, 3)
