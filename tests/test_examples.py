"""Every script of examples/ runs as it stands, and makes a page or a picture."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_makes_something_to_look_at(script, tmp_path, monkeypatch, capsys):
    if "skimage" in script.read_text():
        pytest.importorskip("skimage")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script))
    (made,) = tmp_path.iterdir()
    assert made.suffix in (".svg", ".html")
    assert f"open {made.name}" in capsys.readouterr().out
