"""The site leads to every page, and every method has a page that says all of it. `make site` builds it."""

import inspect
import re
import sys
from pathlib import Path

import pytest

import tagrank
from tagrank.estimators.methods import METHODS

ROOT = Path(__file__).parents[1]
PAGES = {path.stem: path.read_text() for path in sorted(ROOT.glob("docs/methods/*.md"))}


@pytest.fixture
def contents(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    import contents

    yield contents
    del sys.modules["contents"]


def test_the_start_page_leads_to_every_page(contents):
    listed = contents.linked_pages(contents.START, contents.page_text(contents.START))
    below = [page for pages in contents.children().values() for page in pages]
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.py")]
    pages = {path.relative_to(ROOT).with_suffix("").as_posix() for path in files}
    assert {contents.START, *listed, *below} == pages - {"README"}
    assert len(listed) + len(below) == len({*listed, *below})


def test_lists_for_the_side_bar_follow_headings_and_links(contents):
    source = [
        "## Photos\n\n[One](one.md#part) and [out](https://x.org/y.md)\n\n## Data\n\n[Two](../two.md)\n"
    ]
    contents.add_contents(None, contents.START, source)
    lists = re.findall(r":caption: (.*)\n\n(.*)\n```", source[0])
    assert lists == [("Photos", "/docs/one"), ("Data", "/two")]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_a_page_with_its_formula_paper_and_example(method):
    (page,) = (text for text in PAGES.values() if re.match(rf"# .*\b{method.estimator}\b", text))
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert any(re.search(rf"\b{method.estimator}\(", block) for block in blocks), "no example"
    prose = re.sub(r"^```\w*\n.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    assert re.search(r"^    \S", prose, re.MULTILINE) or "\nprimal " in page, "no formula"
    words = re.sub(r"[\s*]+", " ", page).lower()
    title = method.paper.partition(": ")[2].partition(",")[0].lower()
    assert title in words, "its paper is not named"


def test_docstrings_have_no_words_that_the_site_takes_for_links():
    """In reStructuredText a word that ends with an underscore is a link, unless it stands in backquotes."""
    found = []
    for name in dir(tagrank):
        thing = getattr(tagrank, name)
        members = vars(thing).values() if inspect.isclass(thing) else ()
        for text in map(inspect.getdoc, (thing, *filter(callable, members))):
            prose = re.sub(r"``.*?``|`[^`]*`|^>>>.*$|^ *\w+(, \w+)* : ", "", text or "", flags=re.S | re.M)
            found += [(name, word) for word in re.findall(r"(?<![\w.])[a-zA-Z]\w*_(?![\w(])", prose)]
    assert not found
