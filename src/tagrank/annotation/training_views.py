"""Rows to annotate, brought into the views and columns of the training rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation.views import Intake
from tagrank.data.feature_columns import match_columns
from tagrank.labels import duplicates

Columns = Mapping[str, int]
Names = Mapping[str, list[str]]


def as_in_training(intake: Intake, columns: Columns, names: Names, *, is_precomputed: bool) -> Intake:
    """What was taken in, with the views and columns of training.

    Parameters
    ----------
    columns : view to its number of columns in training
    names : view to the names of its columns, for the views whose columns have names
    is_precomputed : whether the columns are similarities to the training rows
    """
    if not intake.views.keys() >= columns.keys():
        intake = _cut_into_views(intake, columns, names)
    views = {}
    for view, width in columns.items():
        given = intake.feature_names.get(view)
        rows = match_columns(intake.views[view], given, names.get(view), what=f"view {view!r}")
        if rows.shape[1] != width:
            raise ValueError(_width_message(view, width, rows.shape, is_precomputed))
        views[view] = rows
    return intake._replace(views=views, feature_names=dict(names))


def _cut_into_views(intake: Intake, columns: Columns, names: Names) -> Intake:
    """One matrix with a name of its own, cut into the views of training."""
    views, widths = intake.views, list(columns.values())
    given, matrix = next(iter(views.items()))
    given_names = intake.feature_names.get(given)
    if len(views) > 1 or (len(widths) > 1 and matrix.shape[1] != sum(widths)):
        wanted = ", ".join(f"{view} ({width} columns)" for view, width in columns.items())
        raise ValueError(f"expected the views {wanted}, got {', '.join(views)}")
    if len(widths) == 1:
        named = {} if given_names is None else dict.fromkeys(columns, given_names)
        return intake._replace(views=dict.fromkeys(columns, matrix), feature_names=named)
    wanted_names = _names_side_by_side(columns, names, given_names)
    matrix = match_columns(matrix, given_names, wanted_names, what=f"view {given!r}")
    ends = np.cumsum(widths)
    cut: dict[str, Any] = {
        view: matrix[:, end - width : end] for (view, width), end in zip(columns.items(), ends, strict=True)
    }
    return intake._replace(views=cut, feature_names={})


def _names_side_by_side(columns: Columns, names: Names, given: Sequence[str] | None) -> list[str] | None:
    """The names of all columns in one matrix: with their views, as `to_frame` writes them, or without."""
    pairs = [(view, name) for view in columns for name in names.get(view, ())]
    if len(pairs) < sum(columns.values()):
        return None
    long_names, short_names = [f"{view}.{name}" for view, name in pairs], [name for _, name in pairs]
    is_long = set(long_names) == set(given or ()) or duplicates(short_names)
    return long_names if is_long else short_names


def _width_message(view: str, width: int, shape: tuple[int, ...], is_precomputed: bool) -> str:
    if is_precomputed:
        return (
            "this model was trained on precomputed similarities: rows cannot be annotated without their "
            f"similarities to the {width} training rows, got shape {shape}"
        )
    return f"view {view!r} must have {width} columns, as in training, got shape {shape}"
