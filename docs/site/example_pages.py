"""A script of examples/ is a page: its title and what it says of itself, and its code."""

import ast

from docutils import nodes
from sphinx.parsers import Parser


class ExampleParser(Parser):
    """Reads a Python file whose docstring begins with the title, a colon and the command."""

    supported = ("example",)

    def parse(self, inputstring, document):
        self.setup_parse(inputstring, document)
        title, _, rest = ast.get_docstring(ast.parse(inputstring)).partition(": python ")
        command, _, rest = rest.partition("\n")
        section = nodes.section(ids=["example"], names=["example"])
        section += nodes.title("", title)
        section += [
            nodes.paragraph("", part.replace("\n", " ")) for part in rest.split("\n\n") if part.strip()
        ]
        run = f"python examples/{command}"
        section += nodes.literal_block(run, run, language="console")
        section += nodes.literal_block(inputstring, inputstring, language="python")
        document += section
        self.finish_parse()


def setup(app):
    app.add_source_suffix(".py", "example")
    app.add_source_parser(ExampleParser)
