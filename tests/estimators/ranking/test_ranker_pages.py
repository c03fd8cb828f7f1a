"""What the pages of the rankers show runs."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "methods"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["incomplete-labels", "pairwise-ranking"])
def test_examples_run(name, capsys):
    for code in re.findall(r"```python\n(.*?)```", (PAGES / f"{name}.md").read_text(), flags=re.DOTALL):
        exec(compile(code, name, "exec"), {})
    assert capsys.readouterr().out.count("\n") >= 2
