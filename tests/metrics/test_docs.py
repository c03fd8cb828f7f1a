"""What the metrics page shows is run."""

import doctest
from pathlib import Path


def test_metrics_page():
    page = Path(__file__).parents[2] / "docs" / "metrics.md"
    # a line of three backquotes would otherwise count as expected output
    text = page.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failures = []
    runner.run(test, out=failures.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert not failures, "".join(failures)
