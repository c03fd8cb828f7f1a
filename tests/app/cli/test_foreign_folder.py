"""Commands started inside a folder full of modules: nothing in it is imported, by no process."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tagrank.data.drawn_pictures import draw_pictures

SCRIPT = [str(Path(sys.executable).with_name("tagrank"))]
MODULE = [sys.executable, "-m", "tagrank"]


@pytest.fixture
def folder(tmp_path):
    """Tagged pictures beside modules that are named like all others and leave a mark when imported."""
    place, marks = tmp_path / "photos", tmp_path / "marks"
    place.mkdir()
    marks.mkdir()
    drawn = draw_pictures(20, size=48, random_state=3)
    lines = []
    for name, image, labels in zip(drawn.names, drawn.view("pictures"), drawn.Y, strict=True):
        Image.fromarray(image).save(place / f"{name}.png")
        lines.append(json.dumps({"image": f"{name}.png", "tags": np.array(drawn.tags)[labels == 1].tolist()}))
    (place / "tags.jsonl").write_text("\n".join(lines) + "\n")
    for name in {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}:
        if name.isidentifier():
            (place / f"{name}.py").write_text(f"open({str(marks / name)!r}, 'w').close()\n")
    return place


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["script", "module"])
def test_nothing_in_the_working_folder_is_imported(folder, command):
    if command is MODULE:
        (folder / "tagrank.py").unlink()
    options = ["--features", "dense_hue", "--no-cache", "--jobs", "2"]
    train = ["train", ".", "-o", str(folder.parent / "model"), *options, "--C", "1"]
    for arguments in (train, ["annotate", str(folder.parent / "model"), ".", "--no-cache", "--jobs", "2"]):
        result = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True)
        assert [mark.name for mark in (folder.parent / "marks").iterdir()] == []
        assert result.returncode == 0, result.stderr
