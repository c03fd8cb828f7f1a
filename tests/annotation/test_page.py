"""The code on docs/model-files.md runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "model-files.md"


def test_every_snippet_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) == 3
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.count("drawing-") == 3
    assert names["wider"].annotate(names["pictures"].test.X[:1])[0].tags
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coast-model"]
