"""What docs/pictures.md shows runs as it stands, from top to bottom."""

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "pictures.md"


def test_the_page_runs(tagrank, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    # commands use the model of the Python that follows them, which describes pictures faster
    commands = []
    for language, block in re.findall(r"```(python|console)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        if language == "console":
            commands += block.splitlines()
        else:
            exec(compile(block, str(PAGE), "exec"), names)
    assert commands[0].startswith("tagrank train photos -o model")
    for line in commands[1:]:
        result = tagrank(*shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}: {result.stderr}"
    assert len(commands) > 5
    assert {"tags.csv", "report.html", "model"} <= {path.name for path in tmp_path.iterdir()}
    assert list(Path("new").glob("*.xmp"))


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target


def test_every_set_of_features_is_in_the_table():
    from tagrank.features import FEATURES, PRESETS

    text = PAGE.read_text()
    listed = {name.removeprefix("efficientnet_lite") for name in FEATURES} | set(PRESETS)
    assert not {name for name in listed if f"`{name}`" not in text and name not in "012"}
