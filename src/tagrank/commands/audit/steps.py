"""Steps of `audit`: what audited rows tell, which come next, and what a model is worth by them."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.describing import Cache, kind_of
from tagrank.commands.audit.audit import FEWEST_TRUE, AuditedTag
from tagrank.commands.destinations import write_list
from tagrank.commands.evaluate import evaluate
from tagrank.commands.given_data import open_model
from tagrank.data import Collection
from tagrank.data.label_matrix import columns_by_row, positive_pairs
from tagrank.data.readers.audit_list import audit_order
from tagrank.data.readers.table import SEPARATOR, join_tags
from tagrank.errors import ArgumentError
from tagrank.estimators.calibration.audit import FEWEST_AUDITED, Audit, audit_labels
from tagrank.progress import Progress
from tagrank.reports.quality import QualityNote, model_quality

Listed = list[tuple[str, Sequence[str]]]


def listed_tags(rows: Collection) -> list[set[str]]:
    """The tags that each row lists, whatever was found since."""
    found = {(label.name, label.tag) for label in rows.decided if not label.is_confirmed}
    columns = columns_by_row(positive_pairs(rows.label_matrix.stored), len(rows))
    return [
        {tag for tag in (rows.tags[j] for j in present) if (name, tag) not in found}
        for name, present in zip(rows.names or (), columns, strict=True)
    ]


def audit_rows(rows: Collection) -> Audit | None:
    """What the audited rows tell; None where there are none."""
    is_audited = rows.audited_mask()
    if not is_audited.any():
        return None
    counts, column = np.zeros(len(rows.tags)), {tag: j for j, tag in enumerate(rows.tags)}
    chosen = rows.subset(is_audited)
    states = chosen.states()
    for tags in listed_tags(rows):
        counts[[column[tag] for tag in tags]] += 1
    listed = _as_mask(chosen)
    return audit_labels(listed, states > 0, known=states != 0, frequencies=counts)


def _as_mask(rows: Collection) -> np.ndarray:
    column = {tag: j for j, tag in enumerate(rows.tags)}
    mask = np.zeros((len(rows), len(rows.tags)), dtype=bool)
    for i, tags in enumerate(listed_tags(rows)):
        mask[i, [column[tag] for tag in tags]] = True
    return mask


def tag_lines(rows: Collection, audit: Audit | None) -> list[AuditedTag]:
    """The tags that a few audited rows have, the most complete first."""
    if audit is None or audit.n_samples < FEWEST_AUDITED:
        return []
    chosen = rows.subset(rows.audited_mask())
    is_true = chosen.states() > 0
    n_true, n_listed = is_true.sum(axis=0), (is_true & _as_mask(chosen)).sum(axis=0)
    shown = np.flatnonzero(n_true >= FEWEST_TRUE)
    shown = shown[np.lexsort((-n_true[shown], -audit.by_label[shown]))]
    return [
        AuditedTag(rows.tags[j], int(n_true[j]), int(n_listed[j]), float(audit.by_label[j]))
        for j in shown.tolist()
    ]


def draw_next(rows: Collection, number: int) -> tuple[Listed, int]:
    """The next rows to look at, each with its tags, and how many are left: those that list a tag."""
    names, tags, is_audited = rows.names or (), listed_tags(rows), rows.audited_mask()
    left = [int(i) for i in audit_order(names) if tags[i] and not is_audited[i]]
    place = {tag: j for j, tag in enumerate(rows.tags)}
    return [(names[i], sorted(tags[i], key=place.__getitem__)) for i in left[:number]], len(left)


def write_audit_list(path: str | os.PathLike, listed: Listed, kind: str) -> None:
    """Write rows with their tags as a ``.csv`` file that `read_audit_list` reads back."""
    header = ["image" if kind == "picture" else "name", "tags"]
    write_list(
        path,
        table=[header, *((name, join_tags(tags, SEPARATOR)) for name, tags in listed)],
        documents=(),
    )


def measure_model(
    model: Any,
    rows: Collection,
    *,
    cache: Cache,
    n_jobs: int | None,
    progress: Progress | None,
) -> QualityNote | None:
    """What the tags are worth that a model writes, by the audited rows; None where these are too few.

    Of a model that learned from an audit its own measurement is told, by models that did not see the rows.
    """
    annotator: Annotator = open_model(model)
    curve = getattr(annotator.estimator_, "curve_", None)
    if curve is not None and curve.is_audited:
        return model_quality(annotator, kind=kind_of(rows.views))
    is_audited = rows.audited_mask()
    if np.count_nonzero(is_audited) < FEWEST_AUDITED:
        raise ArgumentError(
            f"measuring a model needs at least {FEWEST_AUDITED} audited pictures or rows, got "
            f"{np.count_nonzero(is_audited)}; audit more, or leave out model"
        )
    audited = rows.subset(is_audited)
    return evaluate(annotator, audited, part="all", cache=cache, n_jobs=n_jobs, progress=progress).quality
