"""Which column of a table plays which role; shared by CSV files and DataFrames.

By convention a column ``image`` holds picture paths, ``tags`` a list of tags, ``name`` row names, ``part``
the words train and test; columns that begin with ``tag:`` hold one tag each. All others are features. Where
there is an image or a list of tags, these names may be written in capitals too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tagrank.labels import duplicates
from tagrank.suggestions import did_you_mean

TAG_PREFIX = "tag:"


@dataclass(frozen=True)
class Roles:
    """Positions of columns; None where a role is not taken."""

    image: int | None
    tag_list: int | None
    name: int | None
    part: int | None
    tag_columns: list[int]
    tags: list[str]
    features: list[int]


def find_roles(
    header: Sequence[str],
    *,
    image_column: str | None = None,
    tags_column: str | None = None,
    name_column: str | None = None,
    part_column: str | None = None,
    tag_columns: Sequence[str] | None = None,
    tag_prefix: str = TAG_PREFIX,
    drop: Sequence[str] = (),
) -> Roles:
    """Give each column its role. A name that is passed must exist; a conventional one may be absent."""
    if twice := duplicates(header):
        raise ValueError(f"columns need different names, got twice: {', '.join(twice[:5])}")
    position = {column: j for j, column in enumerate(header)}
    known = _conventional(position)
    image, tag_list, name, part = (
        known.get(usual) if given is None else _required(position, given)
        for given, usual in (
            (image_column, "image"),
            (tags_column, "tags"),
            (name_column, "name"),
            (part_column, "part"),
        )
    )
    if tag_columns is not None:
        labels, tags = [_required(position, column) for column in tag_columns], list(tag_columns)
    else:
        labels = [j for j, column in enumerate(header) if tag_prefix and column.startswith(tag_prefix)]
        tags = [header[j][len(tag_prefix) :] for j in labels]
    if tag_list is not None and labels:
        raise ValueError(
            f"tags stand both in column {header[tag_list]!r} and in columns of their own; drop one"
        )
    taken = {image, tag_list, name, part, *labels, *(_required(position, column) for column in drop)}
    return Roles(image, tag_list, name, part, labels, tags, [j for j in range(len(header)) if j not in taken])


def _conventional(position: dict[str, int]) -> dict[str, int]:
    """Positions of columns by conventional name; capitals count only where no feature can be meant."""
    folded = {column.casefold(): j for column, j in reversed(position.items())}
    return {**folded, **position} if folded.keys() & {"image", "tags"} else position


def _required(position: dict[str, int], column: str) -> int:
    if column not in position:
        raise ValueError(f"no column {column!r}{did_you_mean(column, position)}")
    return position[column]
