"""The side bar follows the lists of links on the start page: a heading is a heading, a link a page.

Pages that list further pages have these below them.
"""

import os
import re
from pathlib import Path

START = "docs/index"
PARENTS = ["docs/gallery", "docs/models", "docs/experiments"]
ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)#:\s]+)\.(?:md|py)(?:#[^)]*)?\)")


def linked_pages(page, text):
    """The pages that a page links to, once each, in their order."""
    folder = os.path.dirname(page)
    return list(dict.fromkeys(os.path.normpath(f"{folder}/{target}") for target in LINK.findall(text)))


def sections(text):
    """Headings of the second level and the text below each."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2], strict=True)


def page_text(page):
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")


def children():
    """Page to the pages below it: those that it is the first to link to, if the start page does not."""
    taken = {START, *linked_pages(START, page_text(START)), "README"}
    found = {}
    for page in PARENTS:
        found[page] = [target for target in linked_pages(page, page_text(page)) if target not in taken]
        taken.update(found[page])
    return found


def toctree(pages, caption=""):
    lines = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    return "\n".join([*lines, *(f"/{page}" for page in pages), "```", ""])


def add_contents(app, page, source):
    """Sphinx asks for hidden lists; the pages themselves stay as a code host shows them."""
    if page == START:
        lists = [toctree(linked_pages(page, body), caption) for caption, body in sections(source[0])]
    elif page in PARENTS:
        lists = [toctree(children()[page])]
    else:
        return
    source[0] += "\n" + "\n".join(lists)


def name_sessions(app, page, source):
    """An interactive session is coloured as one, also in a block that names no language."""
    source[0] = re.sub(r"^```\n(?=>>> )", "```pycon\n", source[0], flags=re.MULTILINE)


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("source-read", name_sessions)
