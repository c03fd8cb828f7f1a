"""What a bank keeps in files beside its rows: learned vocabularies; and which files are its own.

Vocabularies are learned once, and kept under the settings and the pictures they come from. Whole views are
those of `view_files`.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from tagrank.annotation.bank.row_maker import describe_error
from tagrank.annotation.bank.row_store import SECONDS_A_DAY, CacheWarning, KeyedPicture, PictureLike
from tagrank.array_files import load_npz, save_npz
from tagrank.data.picture_files import read_picture
from tagrank.errors import warn
from tagrank.features.extraction import fit_features
from tagrank.features.feature import Feature, Part
from tagrank.features.serialization import part_from_settings
from tagrank.files import FileError

VIEWS, LEARNED = "views", "learned"  # folders
# a view that was not asked for in so many days is put together again from its rows if it should be wanted
_KEPT_DAYS = 30
# how files are named, as a pattern
_DIGEST = "[0-9a-f]" * 32
_SETTINGS = "settings"  # of a feature, in the file of what it learned


def own_files(folder: Path) -> list[Path]:
    """The files that a bank put into a folder, whole or half-written; never a person's own."""
    kinds = (f"{_DIGEST}.np[yz]", f"{_DIGEST}.keys")
    return [path for kind in kinds for name in (kind, f".{kind}.*.part") for path in folder.glob(name)]


def prune_files(folder: Path, *, days: float = _KEPT_DAYS) -> None:
    """Remove files that were not asked for in so many days, and what killed processes left half-written."""
    for path in own_files(folder):
        age_limit = 1 if path.name.startswith(".") else days
        try:
            if path.stat().st_mtime < time.time() - age_limit * SECONDS_A_DAY:
                path.unlink()
        except OSError:
            # another process was faster, or Windows holds a mapped file; the next one will do
            continue


def learn_features(
    features: Mapping[str, Feature],
    sources: Sequence[KeyedPicture],
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


def _readable(sources: Sequence[KeyedPicture], max_side: int | None) -> Iterator[np.ndarray]:
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
        warn(f"{path} cannot be written ({error}); the next run learns it again", CacheWarning)


def _part_types(part: Part) -> dict[str, type[Part]]:
    """The classes of a feature and of the steps within it, by the name that settings call them."""
    types = {part.written_as or type(part).__name__: type(part)}
    for value in (getattr(part, field.name) for field in fields(part)):
        if isinstance(value, Part):
            types |= _part_types(value)
    return types
