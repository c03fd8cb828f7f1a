"""The README as a package index shows it: an index cannot follow relative links to pages and pictures.

`address` in pyproject.toml, below [tool.hatch.metadata.hooks.custom], is the one place that names the public
repository. With it, links and pictures become absolute. Without it, links become plain text, and tables of
pictures are left out.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# ![text](target) or [text](target), where the target is neither an address nor a place in this page
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\](?:\([^)]*\))?)*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
_PICTURES = re.compile(r"(?m)(^\|[^\n]*\n)*^\|[^\n]*!\[[^\n]*\n(^\|[^\n]*\n)*")


class ReadmeHook(MetadataHookInterface):
    """Adds the README to the metadata, and the links of the project where the repository has an address."""

    PLUGIN_NAME = "custom"

    def update(self, metadata):
        """Fill in what pyproject.toml calls dynamic."""
        address = self.config.get("address", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text, address)}
        metadata["urls"] = {}
        if address:
            metadata["urls"] = {"Repository": address, "Changelog": f"{address}/blob/main/CHANGELOG.md"}


def index_readme(text, address):
    """`text` with absolute links below `address`; without links and pictures where it is empty."""
    if not address:
        return _LINK.sub(r"\2", _PICTURES.sub("", text))

    def absolute(match):
        is_picture, label, target = match.groups()
        kind = "raw" if is_picture else "blob"
        # the label of a link may be a picture
        return f"{is_picture}[{_LINK.sub(absolute, label)}]({address}/{kind}/main/{target})"

    return _LINK.sub(absolute, text)
