"""The documentation site: make site. Its pages are the Markdown files of this repository, as they stand."""

import sys
from pathlib import Path

from pygments.lexers.shell import BashLexer
from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))

import contents
import example_pages
import reference_pages

from tagrank._version import __version__

project = "tagrank"
author = copyright = "the tagrank developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
root_doc = contents.START
include_patterns = ["docs/**", "examples/*.py", "*.md"]
exclude_patterns = ["README.md", "docs/*.py", "docs/site"]

# as a code host does it
myst_heading_anchors = 4
highlight_language = "none"
copybutton_exclude = ".linenos, .gp, .go"

# docstrings are plain text with names in `backticks`, which lead to those of ours
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style"), "Command line"]

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "tagrank"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["front"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def setup(app):
    """What this site has beside Sphinx: a table of contents, pages of examples, pages of public names."""
    app.add_lexer("console", BashLexer)
    app.add_lexer("csv", TextLexer)
    contents.setup(app)
    example_pages.setup(app)
    reference_pages.setup(app)
