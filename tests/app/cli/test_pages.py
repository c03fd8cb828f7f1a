"""What README.md, docs/command-line.md and examples/ show runs as it stands."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from PIL import Image

from tagrank.data import write_tags
from tagrank.data.drawn_pictures import draw_pictures

ROOT = Path(__file__).parents[3]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "command-line.md"


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


def save_pictures(collection, folder):
    """Write the pictures as files; their paths with their tags."""
    folder.mkdir()
    tags_of = {}
    for i, (image, states) in enumerate(zip(collection.view("pictures"), collection.states(), strict=True)):
        path = folder / f"IMG_{i:04}.jpg"
        Image.fromarray(image).save(path)
        tags_of[path] = [tag for tag, state in zip(collection.tags, states, strict=True) if state > 0]
    return tags_of


@pytest.fixture
def commands_run(tagrank, tmp_path, monkeypatch):
    """Run every `tagrank` line of a page in a fresh folder that holds its YAML blocks as config.yml.

    There are photographs as well: tagged ones in `photos` and `checked`, others in `new`.
    """
    drawn = draw_pictures(100)
    monkeypatch.setattr("tagrank.commands.given_data.draw_pictures", lambda: drawn)
    for folder, rows in {"photos": slice(40), "checked": slice(40, 60), "new": slice(60, 64)}.items():
        tags_of = save_pictures(drawn.subset(rows), tmp_path / folder)
        if folder != "new":
            write_tags(tags_of, tmp_path / folder / "tags.csv")

    def run(path):
        monkeypatch.chdir(tmp_path)
        for content in blocks(path, "yaml"):
            Path("config.yml").write_text(content)
        lines = [line for block in blocks(path, "console") for line in block.splitlines()]
        for line in lines:
            program, *arguments = shlex.split(line)
            assert program == "tagrank"
            result = tagrank(*arguments)
            assert result.exit_code == 0, f"{line}: {result.stderr}"
        return len(lines)

    return run


def test_python_of_the_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(README, "python"):
        exec(compile(block, str(README), "exec"), names)
    assert "drawing-" in capsys.readouterr().out
    assert (tmp_path / "model" / "model.json").is_file()


def test_commands_of_the_readme(commands_run, tmp_path):
    assert commands_run(README) >= 5
    assert (tmp_path / "report.html").is_file()


def test_commands_of_the_page(commands_run, tmp_path):
    assert commands_run(PAGE) >= 4
    assert (tmp_path / "tags.csv").is_file()


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text()):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_makes_something_to_look_at(script, tmp_path, monkeypatch, capsys):
    if "skimage" in script.read_text():
        pytest.importorskip("skimage")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script))
    (made,) = tmp_path.iterdir()
    assert made.suffix in (".svg", ".html")
    assert f"open {made.name}" in capsys.readouterr().out
