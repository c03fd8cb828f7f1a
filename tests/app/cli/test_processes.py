"""The command and the processes that it starts: what they import, and when they end."""

import json
import os
import subprocess
import sys
import time
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from tagrank.data.drawn_pictures import draw_pictures

SCRIPT = [str(Path(sys.executable).with_name("tagrank"))]
MODULE = [sys.executable, "-m", "tagrank"]


@pytest.fixture
def folder(tmp_path):
    """Twenty tagged pictures."""
    place = tmp_path / "photos"
    place.mkdir()
    drawn = draw_pictures(20, size=48, random_state=3)
    lines = []
    for name, image, labels in zip(drawn.names, drawn.view("pictures"), drawn.Y, strict=True):
        Image.fromarray(image).save(place / f"{name}.png")
        lines.append(json.dumps({"image": f"{name}.png", "tags": np.array(drawn.tags)[labels == 1].tolist()}))
    (place / "tags.jsonl").write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["script", "module"])
def test_nothing_in_the_working_folder_is_imported(folder, command):
    names = {*packages_distributions(), "sitecustomize"}
    if command is SCRIPT:
        # with -m Python itself imports some of them from there, before a line of ours runs
        names |= {*sys.stdlib_module_names, "tagrank"}
    marks = folder.parent / "marks"
    marks.mkdir()
    for name in filter(str.isidentifier, names):
        (folder / f"{name}.py").write_text(f"open({str(marks / name)!r}, 'w').close()\n")
    model, options = str(folder.parent / "model"), ["--no-cache", "--n-jobs", "2"]
    train = ["train", ".", "-o", model, "--features", "dense_hue", "--C", "1"]
    for arguments in (train, ["annotate", model, "."]):
        result = subprocess.run([*command, *arguments, *options], cwd=folder, capture_output=True, text=True)
        assert [mark.name for mark in marks.iterdir()] == []
        assert result.returncode == 0, result.stderr


@pytest.mark.skipif(os.name == "nt", reason="shells differ")
def test_training_with_closed_streams(folder):
    model = folder.parent / "model"
    options = ["--features", "colour", "--C", "1", "--no-cache", "--n-jobs", "2"]
    arguments = [*SCRIPT, "train", str(folder), "-o", str(model), *options]
    result = subprocess.run(["sh", "-c", '"$@" <&- 2>&-', "sh", *arguments], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert (model / "model.json").exists()


@pytest.mark.parametrize("delay", [0, 1])
def test_a_killed_command_leaves_no_process(folder, delay):
    """While vocabularies are learned, and while pictures are described."""
    options = ["--features", "dense_sift", "--no-cache", "--n-jobs", "2"]
    arguments = ["train", str(folder), "-o", str(folder.parent / "model"), *options]
    process = subprocess.Popen([*SCRIPT, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parent = psutil.Process(process.pid)
    while not parent.children():
        assert process.poll() is None
        time.sleep(0.002)
    time.sleep(delay)
    workers = parent.children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
