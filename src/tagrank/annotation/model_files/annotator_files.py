"""An Annotator as the content of a model folder, and back; and what is noted about it."""

import os
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tagrank._version import __version__
from tagrank.annotation.model_files.contents import ArrayShelf, Fields, format_json, parse_json
from tagrank.annotation.model_files.estimator_files import describe_estimator, rebuild_estimator
from tagrank.annotation.model_files.storage import ModelFileError, model_errors, read_model, write_model
from tagrank.annotation.scaling import NARROWEST, SCALINGS, Scaler
from tagrank.data import Collection
from tagrank.data.label_matrix import Matrix
from tagrank.data.vocabulary import MOST_PAIRS
from tagrank.estimators.base import innermost_fitted
from tagrank.estimators.score_sum import ScoreSum
from tagrank.features import Feature, feature_from_settings
from tagrank.features.registry import PARTS
from tagrank.kernels.gram import n_rows, take_rows
from tagrank.validation import check_choice

if TYPE_CHECKING:
    from tagrank.annotation.annotator import Annotator

# with these the limit of 4 GiB for arrays and that for tags are raised together
_BYTES_PER_TAG = 2**14
_MAX_TAGS = 2**18
_IMPLIED = "implied"


def save_annotator(annotator: "Annotator", path: str | os.PathLike, *, keep_rows: bool) -> None:
    """Write a fitted Annotator as a model folder."""
    shelf = ArrayShelf()
    shelf.put("never_positive", annotator.never_positive_)
    if len(annotator.implied_):
        shelf.put(_IMPLIED, annotator.implied_)
    content = {
        "tags": annotator.tags,
        "metadata": annotator.metadata,
        "features": _describe_features(annotator.features_, shelf.at("features")),
        "scaling": annotator.scaling,
        "view": annotator.view if isinstance(annotator.view, str | None) else list(annotator.view),
        "views": [
            _describe_view(name, annotator, shelf.at("views").at(str(i)))
            for i, name in enumerate(annotator.columns_)
        ],
        "estimator": describe_estimator(annotator.estimator_, shelf.at("estimator")),
        "training_names": _names_of_support(annotator),
        "training": _describe_training(annotator, shelf.at("training")) if keep_rows else None,
    }
    try:
        _rebuild(type(annotator), parse_json(format_json(content), where="model.json"), dict(shelf.arrays))
    except ValueError as error:
        raise ModelFileError(path, f"not saved, because it could not be loaded again: {error}") from None
    write_model(path, content, shelf.arrays)


def load_annotator(make: type["Annotator"], path: str | os.PathLike, *, max_bytes: int | None) -> "Annotator":
    """Read an Annotator of class `make` from a model folder."""
    content, arrays = read_model(path, max_bytes=max_bytes)
    with model_errors(path):
        return _rebuild(make, content, arrays, max_tags=max(_MAX_TAGS, (max_bytes or 0) // _BYTES_PER_TAG))


def _rebuild(
    make: type["Annotator"], content: Fields, arrays: dict[str, np.ndarray], *, max_tags: float = np.inf
) -> "Annotator":
    annotator = make()
    _fill(annotator, content, ArrayShelf(arrays))
    n_tags = len(annotator.tags)
    if n_tags > max_tags:
        raise ValueError(
            f"it has {n_tags:,} tags, more than {max_tags:,}; if you trust it, use "
            f"Annotator.load(path, max_bytes={n_tags * _BYTES_PER_TAG})"
        )
    _try_out(annotator)
    return annotator


def _fill(annotator: "Annotator", content: Fields, shelf: ArrayShelf) -> None:
    tags = content.strings("tags")
    annotator.tags = tags
    annotator.metadata = content.mapping("metadata")
    features = _rebuild_features(content, shelf.at("features"))
    annotator.scaling = check_choice("scaling", content.take("scaling", str), SCALINGS)
    view = content.take("view", (str, list, type(None)))
    annotator.view = [str(name) for name in view] if isinstance(view, list) else view
    annotator.columns_, annotator.scalers_, annotator.feature_names_ = {}, {}, {}
    for i, entry in enumerate(content.take("views", list)):
        _rebuild_view(annotator, Fields(entry, where="views"), shelf.at("views").at(str(i)))
    if not annotator.columns_:
        raise ValueError("it has no views, so it cannot read anything")
    if features is not None and list(features) != list(annotator.columns_):
        found, views = str(list(features))[:80], str(list(annotator.columns_))[:80]
        raise ValueError(f"the features are {found}, the views {views}")
    annotator.features_ = annotator.features = features
    annotator.never_positive_ = shelf.take("never_positive", "b", (len(tags),))
    annotator.implied_ = _take_implied(shelf, len(tags))
    fields, arrays = content.fields("estimator"), shelf.at("estimator")
    annotator.estimator_ = rebuild_estimator(fields, arrays, len(tags))
    annotator.estimator = annotator.estimator_
    annotator.by_view_ = _check_columns(innermost_fitted(annotator.estimator_), annotator.columns_)
    annotator.training_names_ = _take_names(content, annotator.estimator_)
    annotator.tuning_ = annotator.choice_ = None
    annotator.training_ = _rebuild_training(annotator, content, shelf.at("training"))
    content.finish()
    shelf.finish()


def _take_implied(shelf: ArrayShelf, n_tags: int) -> np.ndarray:
    if _IMPLIED not in shelf:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = shelf.take(_IMPLIED, "i", (None, 2))
    if (
        len(pairs) > MOST_PAIRS
        or np.any((pairs < 0) | (pairs >= n_tags))
        or np.any(pairs[:, 0] == pairs[:, 1])
    ):
        raise ValueError(
            f"{_IMPLIED} must be at most {MOST_PAIRS:,} pairs of different tags, from 0 to {n_tags - 1}"
        )
    return pairs.astype(np.int64)


def _describe_view(name: str, annotator: "Annotator", shelf: ArrayShelf) -> dict[str, Any]:
    scaler = annotator.scalers_[name]
    if scaler is not None:
        shelf.put("offset", scaler.offset)
        shelf.put("width", scaler.width)
    clip = None if scaler is None else scaler.clip
    described = {"name": name, "columns": annotator.columns_[name], "clip": clip}
    if scaler is not None and scaler.unit:
        described["unit"] = True
    names = annotator.feature_names_.get(name)
    return described if names is None else {**described, "feature_names": names}


def _rebuild_view(annotator: "Annotator", fields: Fields, shelf: ArrayShelf) -> None:
    name, n_columns = fields.take("name", str), fields.take("columns", int)
    clip = fields.take("clip", (bool, type(None)))
    unit = fields.take("unit", bool) if "unit" in fields else False
    names = fields.strings("feature_names") if "feature_names" in fields else None
    fields.finish()
    if name in annotator.columns_ or n_columns < 1:
        raise ValueError(f"the view {name[:40]!r} occurs twice or has no columns")
    if names is not None and len(names) != n_columns:
        raise ValueError(f"the view {name[:40]!r} has {n_columns} columns, but {len(names)} feature_names")
    annotator.columns_[name] = n_columns
    if names is not None:
        annotator.feature_names_[name] = names
    annotator.scalers_[name] = None
    if clip is not None:
        offset, width = (shelf.take(part, "f", (n_columns,)) for part in ("offset", "width"))
        if not (width >= NARROWEST).all():
            raise ValueError(f"the view {name[:40]!r} has columns whose width is less than {NARROWEST}")
        annotator.scalers_[name] = Scaler(offset, width, clip, unit)


def _describe_features(features: Mapping[str, Feature] | None, shelf: ArrayShelf) -> list[Any] | None:
    if features is None:
        return None
    for i, (name, feature) in enumerate(features.items()):
        if PARTS.get(type(feature).__name__) is not type(feature):
            raise TypeError(
                f"the features {name!r} are of the class {type(feature).__name__}, which is not one of "
                "tagrank's: a model with them cannot be stored; make them a view of the collection instead"
            )
        for array_name, array in feature.arrays().items():
            shelf.at(str(i)).put(array_name, array)
    return [{"name": name, "settings": feature.settings()} for name, feature in features.items()]


def _rebuild_features(content: Fields, shelf: ArrayShelf) -> dict[str, Feature] | None:
    entries = content.take("features", (list, type(None)))
    if entries is None:
        return None
    features = {}
    for i, entry in enumerate(entries):
        fields = Fields(entry, where="features")
        name, settings = fields.take("name", str), fields.take("settings", dict)
        fields.finish()
        features[name] = feature_from_settings(settings, shelf.at(str(i)).take_all())
    return features


def _names_of_support(annotator: "Annotator") -> list[str] | None:
    """The names of the training rows that are stored, in their order."""
    fitted, names = innermost_fitted(annotator.estimator_), annotator.training_names_
    if names is None or not hasattr(fitted, "X_fit_") or hasattr(fitted, "coef_"):
        return None
    return [names[i] for i in fitted.support_]


def _take_names(content: Fields, estimator: Any) -> list[str] | None:
    names = content.take("training_names", (list, type(None)))
    rows = getattr(innermost_fitted(estimator), "X_fit_", None)
    n_kept = 0 if rows is None else n_rows(rows)
    if names is not None and (len(names) != n_kept or not all(isinstance(name, str) for name in names)):
        raise ValueError(f"training_names must be {n_kept} strings, one for each training row")
    return names


def _check_columns(fitted: Any, columns: dict[str, int]) -> bool:
    """Whether the estimator reads views by name; its rows must have the columns of the views."""
    rows: Any = getattr(fitted, "X_fit_", None)
    by_view = isinstance(rows, Mapping)
    found = {view: matrix.shape[1] for view, matrix in rows.items()} if by_view else None
    n_columns = getattr(fitted, "n_features_in_", None)
    if (by_view and found != columns) or n_columns not in (None, sum(columns.values())):
        raise ValueError(f"the views have the columns {columns}, the estimator has {found or n_columns}")
    return by_view


def _describe_training(annotator: "Annotator", shelf: ArrayShelf) -> dict[str, Any]:
    training = annotator.training_
    if training is None:
        raise ValueError(
            "keep_rows=True: this model was loaded without its training rows, so it cannot keep them"
        )
    for i, rows in enumerate(training.views.values()):
        shelf.put_matrix(f"rows{i}", rows)
    shelf.put("states", training.states())
    return {"names": training.names, "name": training.name}


def _rebuild_training(annotator: "Annotator", content: Fields, shelf: ArrayShelf) -> Collection | None:
    value = content.take("training", (dict, type(None)))
    if value is None:
        return None
    fields = Fields(value, where="training")
    names, name = fields.take("names", list), fields.take("name", str)
    fields.finish()
    views = {
        view: shelf.take_matrix(f"rows{i}", (len(names), n_columns))
        for i, (view, n_columns) in enumerate(annotator.columns_.items())
    }
    states = shelf.take("states", "i", (len(names), len(annotator.tags)))
    labels = np.where(states > 0, 1.0, np.where(states < 0, 0.0, np.nan))
    return Collection(
        views,
        labels,
        annotator.tags,
        names=names,
        name=name,
        feature_names=annotator.feature_names_,
        implies=[(annotator.tags[j], annotator.tags[k]) for j, k in annotator.implied_.tolist()],
    )


def _try_out(annotator: "Annotator") -> None:
    """Score a few rows: parts that do not fit together are found now, not when the first picture comes."""
    rows = _example_rows(annotator)
    if rows is None:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        answers = [np.asarray(annotator.estimator_.decision_function(rows))]
        annotator.estimator_.predict(rows)
        if hasattr(annotator.estimator_, "predict_proba"):
            answers.append(np.asarray(annotator.estimator_.predict_proba(rows)))
    n_tags = len(annotator.tags)
    if not all(answer.shape[1:] == (n_tags,) and np.isfinite(answer).all() for answer in answers):
        raise ValueError(
            "its parts do not fit together, or its numbers are too large: scores are not finite numbers, one "
            "for each tag"
        )


def _example_rows(annotator: "Annotator") -> Matrix | dict[str, Matrix] | None:
    """Rows as the estimator reads them, without taking more memory than the model itself has; or None."""
    fitted = innermost_fitted(annotator.estimator_)
    if hasattr(fitted, "X_fit_"):
        rows = fitted.X_fit_
        matrices = rows.values() if isinstance(rows, Mapping) else [rows]
        largest = [_largest_row(matrix) for matrix in matrices] if n_rows(rows) else []
        return take_rows(rows, largest) if largest else None
    n_columns = getattr(fitted, "n_features_in_", None)
    return None if n_columns is None else sparse.csr_array((1, n_columns))


def _largest_row(matrix: Matrix) -> int:
    """The row with the largest number: if its scores are finite, so are those of the others."""
    if sparse.issparse(matrix):
        place = np.argmax(np.abs(matrix.data)) if matrix.nnz else 0
        return int(np.searchsorted(matrix.indptr[1:-1], place, side="right"))
    return int(np.argmax(np.maximum(matrix.max(axis=1), -matrix.min(axis=1))))


def model_metadata(estimator: Any, n_training: int) -> dict[str, Any]:
    """What is known about a model once it is trained: version, date, method, rows, duality gap."""
    gap = getattr(innermost_fitted(estimator), "duality_gap_", None)
    return {
        "tagrank": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": _method_in_words(estimator),
        "n_training": n_training,
        "duality_gap": None if gap is None else float(gap),
    }


def _method_in_words(estimator: Any) -> str:
    """The class that learned, and what was learned on top of it."""
    fitted = innermost_fitted(estimator)
    name = type(fitted).__name__
    if isinstance(fitted, ScoreSum):
        name = f"{fitted.first_name_} + {fitted.second_name_}"
    if fitted is estimator:
        return name
    is_calibrated = getattr(estimator, "calibration_", None) is not None
    return f"{name}, {'calibrated' if is_calibrated else 'with thresholds'}"
