"""What docs/kernels.md shows is run."""

import re
from pathlib import Path


def test_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) > 3
    exec(compile("\n".join(blocks), "docs/kernels.md", "exec"), {"__name__": "page"})
