"""What the pages about joint methods show is run."""

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "methods"


@pytest.mark.parametrize("name", ["joint-svm.md", "online-joint-svm.md"])
def test_page(name):
    # a line of three backquotes would otherwise count as expected output
    text = (PAGES / name).read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failures = []
    runner.run(test, out=failures.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert not failures, "".join(failures)
