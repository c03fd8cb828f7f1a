"""Sets of features over a collection of pictures: once, in parallel, and on from where it stopped.

Every row is kept under the content of its picture and the fingerprint of its features. So a collection that
grew costs its new pictures only, an interrupted run goes on where it was, and a second one just looks up.
Here is also where rows are kept between runs, how much room they take, and how to get it back.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from tagrank.annotation.bank.bank_files import (
    LEARNED,
    VIEWS,
    learn_features,
    none_readable,
    own_files,
    prune_files,
)
from tagrank.annotation.bank.row_maker import FEW_PICTURES, Describer, RowMaker, describe_error
from tagrank.annotation.bank.row_store import (
    FILE_NAME,
    KeyedPicture,
    PictureLike,
    RowStore,
    StoreDamage,
    identify_pictures,
)
from tagrank.annotation.bank.view_files import IN_MEMORY, MAPPED_FROM, ViewPlace, assemble_view, mean_view
from tagrank.data import Collection
from tagrank.data.catalog import data_folders
from tagrank.data.label_matrix import Matrix
from tagrank.features.feature import Feature
from tagrank.features.registry import check_features
from tagrank.files import Problem, ProblemLog
from tagrank.progress import Progress
from tagrank.resources import count_threads

PICTURES = "pictures"  # what the view is called that has the pictures themselves
# a damaged store is dropped and filled again; one that keeps breaking is not
_ATTEMPTS = 3
# vocabularies change little when they are learned from more pictures
_LEARN_FROM = 500

Result = TypeVar("Result")


@dataclass(frozen=True)
class DescribedPictures:
    """Pictures described by sets of features.

    Attributes
    ----------
    collection : the pictures that could be read, with one view for each set of features; the others are
        among its problems
    features : the sets of features by name, vocabularies learned
    rows : int array, shape (n_kept,): which of the given pictures those are, in their order
    seconds : name of each set to the seconds spent on it now, summed over processes; 0 if all was known
    seconds_a_picture : the same as a mean over all pictures ever measured
    reading_seconds : spent on decoding now
    keys : what stands for the content of each picture; empty where they were described before
    n_computed, n_cached : different pictures for which something was computed, and for which nothing had to
    """

    collection: Collection
    features: dict[str, Feature]
    rows: np.ndarray
    seconds: dict[str, float] = field(default_factory=dict)
    seconds_a_picture: dict[str, float] = field(default_factory=dict)
    reading_seconds: float = 0.0
    keys: tuple[bytes, ...] = ()
    n_computed: int = 0
    n_cached: int = 0

    @property
    def views(self) -> dict[str, Matrix]:
        """Name of each set of features to its rows, shape (n_kept, n_columns).

        From a bank they are float32, read-only, mapped from a file where they are large, and of shape (0, 0)
        if no picture could be read.
        """
        return {name: self.collection.view(name) for name in self.features}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The pictures that were left out, and why."""
        return tuple(self.collection.problems)


class FeatureBank:
    """Named sets of features, computed once for each picture and kept on disk.

    Parameters
    ----------
    features : sets of features by name
    folder : where rows are kept; by default below ``TAGRANK_CACHE`` or the user's cache folder
    keep : False leaves the disk alone; everything is held in memory
    n_jobs : processes; all cores by default. With 1, or for a few pictures, this process does the work
    max_side : files are shrunk to this many pixels on their longer side; arrays are not
    strict : raise the first problem instead of leaving the picture out
    mapped_from : views that take more bytes than this are arrays mapped from files in the folder; smaller
        ones, and all where nothing is kept, are in memory
    scheduler : address of a Dask scheduler, or a `distributed.Client`, whose workers describe the pictures

    Examples
    --------
    >>> from tagrank import choose_features, draw_pictures
    >>> bank = FeatureBank(choose_features(["hsv", "gist"]), keep=False)
    >>> described = bank.extract(draw_pictures(6, size=48).view("pictures"))
    >>> described.views["hsv"].shape
    (6, 4096)
    """

    def __init__(
        self,
        features: Mapping[str, Feature],
        *,
        folder: str | os.PathLike | None = None,
        keep: bool = True,
        n_jobs: int | None = None,
        max_side: int | None = 512,
        strict: bool = False,
        mapped_from: int = MAPPED_FROM,
        scheduler: Any = None,
    ) -> None:
        if not len(check_features(features)):
            raise ValueError("a bank needs at least one set of features, got none")
        self.features = dict(features)
        self.folder, self.keep, self.n_jobs = folder, keep, n_jobs
        self.max_side, self.strict, self.mapped_from = max_side, strict, mapped_from
        self.scheduler = scheduler

    def fit(
        self,
        pictures: Sequence[PictureLike],
        *,
        n_pictures: int = _LEARN_FROM,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """A bank whose features have learned their vocabularies; the same pictures teach them once.

        Parameters
        ----------
        pictures : paths or arrays, for training only
        n_pictures : how many of them, drawn at random, are looked at
        random_state : seed for the choice and for the vocabularies
        progress : as for `extract`
        """
        fitted = copy(self)
        if all(feature.is_fitted for feature in self.features.values()):
            return fitted
        rng = np.random.default_rng(random_state)
        chosen = np.sort(rng.permutation(len(pictures))[:n_pictures])
        folder = self._folder()
        identified = _with_store(
            folder, lambda store: identify_pictures([pictures[number] for number in chosen], store)
        )
        sources = [source for source in identified if isinstance(source, KeyedPicture)]
        if isinstance(identified[0], OSError) and not sources:
            raise none_readable(pictures[chosen[0]], identified[0], len(identified))
        fitted.features = learn_features(
            self.features,
            sources,
            folder=folder and folder / LEARNED,
            max_side=self.max_side,
            random_state=random_state,
            n_jobs=min(count_threads(self.n_jobs), 1 + len(sources) // FEW_PICTURES),
            progress=progress and (lambda done: progress(done, len(sources), "learning vocabularies")),
        )
        return fitted

    def extract(
        self, pictures: Sequence[PictureLike], *, progress: Progress | None = None
    ) -> DescribedPictures:
        """Describe every picture by every set of features.

        Ctrl-C or a crash loses the last seconds of work at most.

        Parameters
        ----------
        pictures : paths, or uint8 arrays of shape (height, width, 3)
        progress : called with the number of pictures done, the number of pictures, and the name of the work
        """
        pictures = list(pictures)
        self._check(pictures)
        folder = self._folder()
        views = ViewPlace(folder and folder / VIEWS, self.mapped_from)
        looks, names = _single_looks(self.features)
        stored_as = {name: f"{look.fingerprint()}-{self.max_side}" for name, look in looks.items()}
        maker = RowMaker(
            Describer(looks, self.max_side),
            stored_as,
            n_jobs=self.n_jobs,
            strict=self.strict,
            scheduler=self.scheduler,
        )
        described = _with_store(
            folder,
            lambda store: extract_views(
                pictures, store, maker, views=views, strict=self.strict, progress=progress
            ),
        )
        return _put_together(described, self.features, names, stored_as, views)

    def _folder(self) -> Path | None:
        return bank_folder(self.folder) if self.keep else None

    def _check(self, pictures: Sequence[PictureLike]) -> None:
        if not pictures:
            raise ValueError("got no pictures to describe")
        for feature in self.features.values():
            feature.check_ready()
        unfitted = [name for name, feature in self.features.items() if not feature.is_fitted]
        if unfitted:
            raise ValueError(f"{', '.join(unfitted)} must learn from pictures first: call fit(pictures)")


def _single_looks(features: Mapping[str, Feature]) -> tuple[dict[str, Feature], dict[str, list[str]]]:
    """Every look of the features once, by name, and for each set of features the names of its looks."""
    named: dict[str, tuple[str, Feature]] = {}
    names: dict[str, list[str]] = {}
    for name, feature in features.items():
        for number, look in enumerate(feature.looks, 1):
            own = name if len(feature.looks) == 1 else f"{name}, look {number}"
            look_name, _ = named.setdefault(look.fingerprint(), (own, look))
            names.setdefault(name, []).append(look_name)
    return dict(named.values()), names


def _put_together(
    described: DescribedPictures,
    features: Mapping[str, Feature],
    names: Mapping[str, Sequence[str]],
    stored_as: Mapping[str, str],
    place: ViewPlace,
) -> DescribedPictures:
    """The views of the features from those of their looks, which are averaged."""
    if described.features.keys() == features.keys():
        return described
    pictures = {PICTURES: described.collection.view(PICTURES)}
    keys = blake2b(b"".join(described.keys), digest_size=16).hexdigest()
    views = {
        name: mean_view(
            [described.collection.view(look) for look in names[name]],
            " ".join([keys, *(stored_as[look] for look in names[name])]),
            place,
        )
        for name in features
    }
    seconds, usual = (
        {name: sum(known[look] for look in names[name]) for name in features}
        for known in (described.seconds, described.seconds_a_picture)
    )
    return replace(
        described,
        collection=Collection(pictures | views, problems=described.collection.problems),
        features=dict(features),
        seconds=seconds,
        seconds_a_picture=usual,
    )


def extract_views(
    pictures: Sequence[PictureLike],
    store: RowStore,
    maker: RowMaker,
    *,
    views: ViewPlace = IN_MEMORY,
    strict: bool = False,
    progress: Progress | None = None,
) -> DescribedPictures:
    """The features of pictures; may be called again with the same maker after a StoreDamage.

    `views` says where large views are kept.
    """
    sources = identify_pictures(pictures, store, progress)
    reasons = {n: describe_error(found) for n, found in enumerate(sources) if isinstance(found, OSError)}
    # a strict bank stops here
    _list_problems(pictures, reasons, strict=strict)
    distinct = {source.key: source for source in sources if isinstance(source, KeyedPicture)}
    store.mark_used(maker.stored_as.values(), distinct)
    failures = maker.fill(store, distinct, progress)
    keys = [source.key if isinstance(source, KeyedPicture) else b"" for source in sources]
    reasons |= {number: failures[key] for number, key in enumerate(keys) if key in failures}
    kept = [number for number in range(len(keys)) if number not in reasons]
    problems = _list_problems(pictures, dict(sorted(reasons.items())), strict=strict)
    stored_as = maker.stored_as.items()
    rows = _assemble(store, maker.stored_as, [keys[number] for number in kept], views)
    return DescribedPictures(
        Collection({PICTURES: [pictures[number] for number in kept]} | rows, problems=problems),
        dict(maker.describer.features),
        np.array(kept, dtype=np.intp),
        seconds=dict(maker.seconds),
        seconds_a_picture={name: store.seconds_a_picture(stored) for name, stored in stored_as},
        reading_seconds=maker.reading_seconds,
        keys=tuple(keys[number] for number in kept),
        n_computed=len(maker.computed),
        n_cached=len(distinct) - len(failures) - len(maker.computed),
    )


def _assemble(
    store: RowStore, stored_as: Mapping[str, str], keys: Sequence[bytes], place: ViewPlace
) -> dict[str, np.ndarray]:
    """All views; if some are damaged, StoreDamage when all were looked through."""
    views, damage = {}, None
    for name, stored in stored_as.items():
        try:
            views[name] = assemble_view(store, stored, keys, place)
        except StoreDamage as error:
            damage = f"{name}: {error}"
    if damage is not None:
        raise StoreDamage(damage)
    return views


def _list_problems(
    pictures: Sequence[PictureLike], reasons: Mapping[int, str], *, strict: bool
) -> tuple[Problem, ...]:
    log = ProblemLog(strict=strict)
    for number, reason in reasons.items():
        picture = pictures[number]
        log.add(f"picture {number}" if isinstance(picture, np.ndarray) else os.fsdecode(picture), reason)
    return log.listed()


def _with_store(folder: Path | None, work: Callable[[RowStore], Result]) -> Result:
    """`work` on the store in a folder, again where a part of it was found damaged and dropped."""
    with RowStore(folder) as store:
        for _ in range(_ATTEMPTS):
            try:
                return work(store)
            except StoreDamage as error:
                damage = error
    raise OSError(
        f"the cache {folder} was found damaged {_ATTEMPTS} times ({damage}): remove it, or do without "
        "(--no-cache; in Python set cache, or keep of a FeatureBank, to False)"
    )


def read_keys(
    pictures: Sequence[PictureLike], cache: bool | str | os.PathLike, progress: Progress | None
) -> list[KeyedPicture | OSError]:
    """The keys of contents, of which the bank knows those of files that did not change.

    `cache` is as for `describe_pictures`.
    """
    place = None if cache is False else bank_folder(None if cache is True else cache)
    try:
        with RowStore(place) as store:
            return identify_pictures(pictures, store, progress)
    except StoreDamage:
        with RowStore(None) as store:
            return identify_pictures(pictures, store, progress)


def bank_folder(folder: str | os.PathLike | None = None) -> Path:
    """`folder`, or the place below ``TAGRANK_CACHE`` or the user's cache folder where features are kept."""
    return data_folders()[-1] / "features" if folder is None else Path(folder)


def bank_size(folder: str | os.PathLike | None = None) -> int:
    """Size of the stored features on disk, in bytes.

    Parameters
    ----------
    folder : where the features are kept; by default the cache folder of the user
    """
    return sum(path.stat().st_size for path in _files(bank_folder(folder)))


def prune_bank(folder: str | os.PathLike | None = None, *, days: float = 90) -> None:
    """Delete features that were not used for a number of days.

    Parameters
    ----------
    folder : where the features are kept; by default the cache folder of the user
    days : float, default 90; features that were asked for since stay
    """
    place = bank_folder(folder)
    for subfolder in (VIEWS, LEARNED):
        prune_files(place / subfolder, days=days)
    if (place / FILE_NAME).exists():
        with RowStore(place) as store:
            store.prune(days=days)


def clear_bank(folder: str | os.PathLike | None = None) -> None:
    """Delete all stored features; they are computed again when they are needed. Other files stay.

    Parameters
    ----------
    folder : where the features are kept; by default the cache folder of the user
    """
    for path in _files(bank_folder(folder)):
        path.unlink(missing_ok=True)


def _files(place: Path) -> list[Path]:
    return [*place.glob(f"{FILE_NAME}*"), *own_files(place / VIEWS), *own_files(place / LEARNED)]
