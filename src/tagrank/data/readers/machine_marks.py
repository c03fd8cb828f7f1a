"""Marks of machine-made keywords in XMP: which entry of which list a run of ours added.

``tagrank:MachineTags`` is a bag with one structure an entry. Other programs may rewrite the fields of a
structure, which we write as attributes, as elements; both are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBJECT = ("http://purl.org/dc/elements/1.1/", "subject")
LIGHTROOM_TREE = ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject")
DIGIKAM_TREE = ("http://www.digikam.org/ns/1.0/", "TagsList")
MACHINE_TAGS = ("urn:tagrank:xmp:1.0/", "MachineTags")
LISTS = {"dc:subject": SUBJECT, "lr:hierarchicalSubject": LIGHTROOM_TREE, "digiKam:TagsList": DIGIKAM_TREE}
_FIELD = f"{MACHINE_TAGS[0]} "


@dataclass(frozen=True)
class Mark:
    """An entry that a run of ours added to a list of keywords.

    Attributes
    ----------
    list : a key of `LISTS`
    word : the entry
    run : when the run began, UTC, as in 2026-11-02T10:15:30.123Z
    model : what the model was called
    probability : of the tag; empty where the model gave none
    copied : "True" if the picture had the keyword before, but not in this list; it is no machine-made one
    """

    list: str
    word: str
    run: str
    model: str = ""
    probability: str = ""
    copied: str = ""

    @property
    def place(self) -> tuple[tuple[str, str], str]:
        """The list, by namespace and name, and the entry."""
        return LISTS[self.list], self.word

    def written(self) -> dict[str, str]:
        """The fields that say something."""
        return {name: value for name, value in asdict(self).items() if value}


_NAMES = frozenset(entry.name for entry in fields(Mark))


class MarkReader:
    """Gathers the marks of a document; its methods are what `parse_xml` calls."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self._fields: dict[str, str] = {}

    def on_start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Note fields that are attributes."""
        for attribute, value in attributes.items():
            self._note(attribute, value)

    def on_text(self, names: Sequence[str], text: str) -> None:
        """Note fields that are elements, and the mark at the end of its entry."""
        self._note(names[-1], text)
        if names[-1] == f"{RDF} li" and len(names) >= 3 and names[-3] == " ".join(MACHINE_TAGS):
            found, self._fields = self._fields, {}
            if found.get("list") in LISTS and found.get("word") and found.get("run"):
                self.marks.append(Mark(**found))

    def _note(self, name: str, value: str) -> None:
        if name.startswith(_FIELD) and (field := name.removeprefix(_FIELD)) in _NAMES:
            self._fields[field] = value
