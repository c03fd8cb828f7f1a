"""What docs/methods/label-priors.md shows is run."""

import re
from pathlib import Path


def test_code_of_the_page_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "methods" / "label-priors.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "label-priors.md", "exec"), {"__name__": "page"})
    assert "[[" in capsys.readouterr().out
