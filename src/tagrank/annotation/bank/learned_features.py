"""Vocabularies learned from pictures, once: kept under the settings and the pictures they come from."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from tagrank.annotation.bank.picture_keys import PictureLike, Source
from tagrank.annotation.bank.row_maker import describe_error
from tagrank.annotation.bank.row_store import CacheWarning
from tagrank.data.picture_files import read_picture
from tagrank.errors import warn
from tagrank.features.extraction import fit_features
from tagrank.features.feature import Feature, Part
from tagrank.features.serialization import part_from_settings
from tagrank.files import FileError, load_npz, save_npz

SUBFOLDER = "learned"
_SETTINGS = "settings"


def learn_features(
    features: Mapping[str, Feature],
    sources: Sequence[Source],
    *,
    folder: Path | None,
    max_side: int | None,
    random_state: int,
    n_jobs: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Feature]:
    """Features that have learned what they must; those that are fitted stay as they are.

    Sources that cannot be read are passed over. Results are kept in `folder` for the next time, unless it is
    None. `progress` is told the number of pictures described so far.
    """
    pictures = hashlib.blake2b(f"{max_side} {random_state}".encode())
    for source in sources:
        pictures.update(source.key)
    known, files = dict(features), {}
    for name, feature in features.items():
        if not feature.is_fitted and folder is not None:
            digest = hashlib.blake2b(pictures.digest() + feature.fingerprint().encode(), digest_size=16)
            files[name] = folder / f"{digest.hexdigest()}.npz"
            known[name] = _load(files[name], feature) or feature
    # no picture is read, nor a library loaded, where nothing is to be learned
    if all(feature.is_fitted for feature in known.values()):
        return known
    learned = fit_features(
        known, _readable(sources, max_side), random_state=random_state, n_jobs=n_jobs, progress=progress
    )
    for name, path in files.items():
        if not known[name].is_fitted:
            _save(path, learned[name])
    return learned


def none_readable(first: PictureLike, error: Exception, n_pictures: int) -> FileError:
    """The error for files of which none can be read; it names the first."""
    path = str(first)
    reason = describe_error(error, path)
    others = f" (nor can any other of the {n_pictures:,} pictures be read)" if n_pictures > 1 else ""
    return FileError(path, f"{reason}{others}")


def _readable(sources: Sequence[Source], max_side: int | None) -> Iterator[np.ndarray]:
    failures: list[tuple[PictureLike, Exception]] = []
    for source in sources:
        try:
            picture = source.picture
            if not isinstance(picture, np.ndarray):
                picture = read_picture(picture, max_side=max_side)
        except (FileError, OSError) as error:
            # it is listed among the problems when its features are extracted
            failures.append((source.picture, error))
            continue
        yield picture
    if failures and len(failures) == len(sources):
        raise none_readable(*failures[0], len(sources))


def _load(path: Path, unfitted: Feature) -> Feature | None:
    """The fitted feature in a file, built from the classes of the unfitted one; None if there is none."""
    try:
        arrays = load_npz(path)
        settings = json.loads(arrays.pop(_SETTINGS).tobytes())
        feature = part_from_settings(settings, arrays, _part_types(unfitted))
        os.utime(path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return feature


def _save(path: Path, feature: Feature) -> None:
    settings = np.frombuffer(json.dumps(feature.settings()).encode(), dtype=np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_npz(path, {_SETTINGS: settings} | feature.arrays())
    except OSError as error:
        warn(f"{path} cannot be written ({error}); it is learned again next time", CacheWarning)


def _part_types(part: Part) -> dict[str, type[Part]]:
    """The classes of a feature and of the steps within it, by name."""
    found = {type(part).__name__: type(part)}
    for value in (getattr(part, field.name) for field in fields(part)):
        if isinstance(value, Part):
            found |= _part_types(value)
    return found
