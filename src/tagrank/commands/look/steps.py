"""Steps of `look`: pictures become rows, rows are compared, and what was found is written."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.annotation.likeness.near_duplicates import (
    CANDIDATES,
    FARTHER,
    NearGroup,
    find_groups,
    first_of_content,
)
from tagrank.annotation.likeness.outliers import (
    far_out,
    isolation,
    nearest_others,
    unit_rows,
    unlike_their_tags,
)
from tagrank.commands.destinations import write_list
from tagrank.commands.given_data import check_has_tags, open_collection, open_pictures
from tagrank.commands.look.look import PictureFindings, SimilarPicture, UnusualPicture
from tagrank.data import Collection, Reading
from tagrank.errors import ArgumentError
from tagrank.features import Feature, choose_features, usual_features
from tagrank.features.registry import FEATURES
from tagrank.files import FileError
from tagrank.progress import Progress

MINIATURE = "miniature"
COLUMNS = ("finding", "group", "name", "likeness", "certainty", "distance", "tag")


def open_pictures_to_see(data: Any, *, tags: bool, strict: bool, follow_links: bool) -> Collection:
    """The pictures, with their tags if they count."""
    if tags:
        places = [data] if isinstance(data, Collection | str | os.PathLike) else list(data)
        if len(places) != 1:
            raise ArgumentError("tags needs one folder or one list of pictures; name nothing else")
        rows = open_collection(places[0], Reading(strict=strict, follow_links=follow_links))
        rows = check_has_tags(rows, places[0])
    else:
        rows = open_pictures(data, strict=strict, follow_links=follow_links)
    if PICTURES not in rows.views:
        raise ValueError(f"{rows.name or 'the data'} has rows of numbers; expected pictures")
    return rows


def find(
    rows: Collection,
    features: Mapping[str, Feature] | None,
    *,
    tags: bool,
    top: int | None,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
    **reading: Any,
) -> tuple[PictureFindings, Collection]:
    """What is found among pictures, and the pictures that could be read."""
    # the first of the usual features: a whole picture in one row, and the shortest
    chosen = choose_features(usual_features()[:1] if features is None else features)
    names = list(chosen)
    described = describe_pictures(
        rows, chosen | {MINIATURE: FEATURES[MINIATURE]}, n_jobs=n_jobs, progress=progress, **reading
    )
    seen = described.collection
    if not len(seen):
        problem = seen.problems[-1]
        raise FileError(problem.path, f"{problem.reason}; no other picture could be read")
    vectors = unit_rows([seen.view(name) for name in names])
    first = first_of_content(described.keys)
    distinct = np.unique(first)
    if progress is not None:
        progress(0, len(distinct), "finding similar pictures")
    neighbours, distances = nearest_others(
        vectors if len(distinct) == len(vectors) else vectors[distinct], CANDIDATES + FARTHER, n_jobs=n_jobs
    )
    groups = find_groups(
        seen.view(MINIATURE),
        neighbours,
        first,
        seed=seed,
        n_jobs=n_jobs,
        progress=_named(progress, "comparing similar pictures"),
    )
    numbers = _group_numbers(groups, len(seen))[distinct]
    alone = isolation(neighbours, distances, numbers)
    # one of a group stands for it
    alone[numbers != distinct] = np.nan
    far, relative = far_out(alone)
    titles = _names(seen)
    unlike = _unlike_tags(seen, vectors, titles, n_jobs, progress) if tags else []
    return (
        PictureFindings(
            [_similar(group, titles) for group in groups],
            [UnusualPicture(titles[distinct[i]], float(relative[i])) for i in far[:top]],
            unlike[:top],
            len(seen),
            len(far),
            len(unlike),
            names,
            described.seconds,
            seen.problems,
        ),
        seen,
    )


def _named(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """Progress of one kind of work."""
    return None if progress is None else lambda done, total: progress(done, total, what)


def _names(seen: Collection) -> Sequence[str]:
    return seen.names or [f"picture {i}" for i in range(len(seen))]


def _group_numbers(groups: Sequence[NearGroup], n_pictures: int) -> np.ndarray:
    """A number for each picture, the same within a group."""
    numbers = np.arange(n_pictures)
    for group in groups:
        numbers[group.rows] = group.rows[0]
    return numbers


def _similar(group: NearGroup, names: Sequence[str]) -> list[SimilarPicture]:
    return [
        SimilarPicture(names[row], float(likeness), float(certainty), bool(is_copy))
        for row, likeness, certainty, is_copy in zip(
            group.rows.tolist(), group.likeness, group.certainty, group.is_copy, strict=True
        )
    ]


def _unlike_tags(
    seen: Collection,
    vectors: np.ndarray,
    names: Sequence[str],
    n_jobs: int | None,
    progress: Progress | None,
) -> list[UnusualPicture]:
    found = unlike_their_tags(
        vectors, seen.states(), n_jobs=n_jobs, progress=_named(progress, "comparing pictures of each tag")
    )
    return [UnusualPicture(names[row], distance, seen.tags[column]) for row, column, distance in found]


def write_findings(path: str | os.PathLike, found: PictureFindings) -> None:
    """Write a ``.csv`` or ``.jsonl`` file, a line for each picture that was found, whole or not at all."""
    lines = list(_lines(found))
    documents = ({name: value for name, value in line.items() if value != ""} for line in lines)
    write_list(path, table=[COLUMNS, *(list(line.values()) for line in lines)], documents=documents)


def _lines(found: PictureFindings) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(found.groups, 1):
        for one in group:
            finding = "copy" if one.is_copy else "near-duplicate"
            yield _line(finding, one.name, group=number, likeness=one.likeness, certainty=one.certainty)
    for other in (*found.outliers, *found.unlike_tags):
        finding = "outlier" if other.tag is None else "unlike its tag"
        yield _line(finding, other.name, distance=other.distance, tag=other.tag or "")


def _line(finding: str, name: str, **more: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS, "") | {"finding": finding, "name": name} | more
