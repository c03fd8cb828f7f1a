"""The code on docs/data.md runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_every_snippet_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) >= 8
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    assert (tmp_path / "coast.csv").is_file()
