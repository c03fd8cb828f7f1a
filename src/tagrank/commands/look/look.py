"""Find near-duplicates, copies and outliers among pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import (
    CACHE,
    DATA,
    FEATURES,
    FOLLOW_LINKS,
    OUTPUT,
    PICTURE_JOBS,
    SCHEDULER,
    SEED,
    STRICT,
)
from tagrank.commands.tables import LINES_SHOWN, Screen, counted, table_of, text_of
from tagrank.errors import ArgumentError
from tagrank.files import Problem
from tagrank.options import Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.features import Feature


@dataclass(frozen=True)
class SimilarPicture:
    """A picture of a group.

    Attributes
    ----------
    name : what the picture is called
    likeness : correlation of its details with those of the picture in the group that it resembles most
    certainty : expected share of true near-duplicates among all pairs that are as alike
    is_copy : whether another picture of the group has the same content, byte for byte
    """

    name: str
    likeness: float
    certainty: float
    is_copy: bool


@dataclass(frozen=True)
class UnusualPicture:
    """A picture that is unlike the others.

    Attributes
    ----------
    name : what the picture is called
    distance : how far it is from its nearest neighbours; 1 is usual
    tag : the tag whose other pictures it is unlike; None for all pictures
    """

    name: str
    distance: float
    tag: str | None = None


@dataclass(frozen=True)
class PictureFindings:
    """What was found by looking at the pictures.

    Attributes
    ----------
    groups : pictures that are the same or almost the same, the most certain groups first
    outliers : pictures that are unlike all others, the most unusual first
    unlike_tags : pictures that are unlike the others of one of their tags; empty unless it was asked for
    n_pictures : how many were looked at
    n_outliers, n_unlike_tags : how many there are, listed or not
    features : sets of features by which pictures were compared
    feature_seconds : set of features to the seconds that it took, not counting what was known already
    problems : files that were left out, and why
    """

    groups: Sequence[Sequence[SimilarPicture]]
    outliers: Sequence[UnusualPicture]
    unlike_tags: Sequence[UnusualPicture]
    n_pictures: int
    n_outliers: int
    n_unlike_tags: int = 0
    features: Sequence[str] = ()
    feature_seconds: Mapping[str, float] = field(default_factory=dict)
    problems: Sequence[Problem] = ()

    @property
    def n_spare(self) -> int:
        """How many pictures would go if one of each group stayed."""
        return sum(len(group) - 1 for group in self.groups)

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        similar = sum(map(len, self.groups))
        found = (
            f"{similar:,} pictures in {counted(len(self.groups), 'group')} of near-duplicates"
            if similar
            else "no near-duplicates"
        )
        found += f" and {counted(self.n_outliers, 'outlier') if self.n_outliers else 'no outliers'}"
        return f"Found {found} among {counted(self.n_pictures, 'picture')}."

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "answer": self.answer,
            "n_pictures": self.n_pictures,
            "groups": [[vars(picture) for picture in group] for group in self.groups],
            "outliers": [vars(one) for one in self.outliers],
            "n_outliers": self.n_outliers,
            "unlike_tags": [vars(one) for one in self.unlike_tags],
            "n_unlike_tags": self.n_unlike_tags,
            "features": list(self.features),
            "feature_seconds": dict(self.feature_seconds),
            "problems": [vars(problem) for problem in self.problems],
        }


def look(
    data: Annotated[
        Collection | str | os.PathLike | Sequence[str | os.PathLike], replace(DATA, is_many=True)
    ],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    tags: Annotated[bool, Option()] = False,
    top: Annotated[int | None, Option(low=1)] = 20,
    features: Annotated[
        str | Sequence[str] | Mapping[str, Feature] | None,
        replace(FEATURES, usual="efficientnet_lite0 if installed, else gist"),
    ] = None,
    seed: Annotated[int, SEED] = 0,
    page: Annotated[str | os.PathLike | None, Option()] = None,
    cache: Annotated[Cache, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    scheduler: Annotated[Any, SCHEDULER] = None,
    strict: Annotated[bool, STRICT] = False,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
    progress: Progress | None = None,
) -> PictureFindings:
    """Find near-duplicates, copies and outliers among pictures.

    Near-duplicates are the same photograph in another size or quality, cropped a little, mirrored, brightened
    or dimmed, and shots of a series that hardly differ. Outliers are unusually far from all other pictures.
    Nothing is deleted or changed.

    Parameters
    ----------
    data : pictures and folders of pictures, or the name of one data set. In Python, also a `Collection`
    output : write a .csv file (one line per picture that was found) or a .jsonl file
    tags : also find pictures that are unlike the others with the same tag. Takes one folder or one list
    top : maximum number of outliers, and of pictures unlike their tags. In Python, None for all
    features : picture features by which similar pictures are found
    seed : random seed for drawing pairs of different pictures, with which near-duplicates are compared
    page : also write an HTML page with the pictures to this file
    n_jobs : number of processes that describe pictures, and of threads that compare them
    strict, follow_links : as in `annotate`
    cache, scheduler : as in `evaluate`
    progress : called with the number of pictures done, the number of pictures, and the name of the work

    Returns
    -------
    PictureFindings

    Command line
    ------------
    tagrank look photos/
    tagrank look photos/ --page look.html
    tagrank look photos/ scans/ -o look.csv
    tagrank look photos/ --tags --top 50
    """
    from tagrank.annotation.describing import name_features
    from tagrank.commands.destinations import check_apart, check_distinct, check_list, check_page
    from tagrank.commands.look.page import write_look_page
    from tagrank.commands.look.steps import find, open_pictures_to_see, write_findings

    if top is not None and top < 1:
        raise ArgumentError(f"top must be at least 1, or None for all, got {top!r}")
    check_distinct(output=output, page=page)
    if output is not None:
        check_list(output, "findings")
        check_apart(data, output=output)
    if page is not None:
        check_page(page)
        check_apart(data, page=page)
    rows = open_pictures_to_see(data, tags=tags, strict=strict, follow_links=follow_links)
    reading: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "strict": strict, "scheduler": scheduler}
    found, seen = find(
        rows, name_features(features), tags=tags, top=top, seed=seed, progress=progress, **reading
    )
    if output is not None:
        write_findings(output, found)
    if page is not None:
        write_look_page(page, found, seen)
    return found


def show_look(
    found: PictureFindings,
    *,
    output: str | os.PathLike | None = None,
    page: str | os.PathLike | None = None,
) -> Screen:
    """A line for each picture of a group, and for each outlier."""
    tables, said = list[Any](), list[str]()
    if output is None:
        tables = [text_of(found.answer, "bold")]
        if found.groups:
            tables += ["", _group_table(found, said)]
        if found.outliers:
            far = [(one.name, _times(one)) for one in found.outliers]
            tables += ["", table_of("unlike all others", "distance", rows=far)]
        if found.unlike_tags:
            lines = [(one.name, one.tag or "", _times(one)) for one in found.unlike_tags]
            tables += ["", table_of("unlike the others of its tag", "tag", "distance", rows=lines)]
    else:
        said += [found.answer, f"written to {output}"]
    left = found.n_outliers + found.n_unlike_tags - len(found.outliers) - len(found.unlike_tags)
    if left:
        said.append(f"{left:,} more outliers; --top lists more")
    if page is not None:
        said.append(f"page written to {page}")
    return Screen(tables, said, {"skipped": found.problems})


def _group_table(found: PictureFindings, said: list[str]) -> Any:
    table = table_of("group", "picture", "likeness", "certainty")
    n_lines = 0
    for number, group in enumerate(found.groups, 1):
        if n_lines + len(group) > LINES_SHOWN and n_lines:
            said.append(f"{len(found.groups) - number + 1:,} more groups; --output or --page lists all")
            break
        for place, picture in enumerate(group):
            sure = "same content" if picture.is_copy else certainty_words(picture.certainty)
            words = (str(number) if place == 0 else "", picture.name, f"{picture.likeness:.2f}", sure)
            table.add_row(*map(text_of, words))
        n_lines += len(group)
    return table


def certainty_words(certainty: float) -> str:
    """How certain it is in hundredths; never all of them."""
    return "> 99.9%" if certainty > 0.999 else f"{certainty:.1%}"


def _times(one: UnusualPicture) -> str:
    return f"{one.distance:.2f} x usual"
