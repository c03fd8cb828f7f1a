"""Where features are kept between runs, how much room they take, and how to get it back."""

import os
from pathlib import Path

from tagrank.annotation.bank.learned_features import SUBFOLDER as LEARNED
from tagrank.annotation.bank.row_store import FILE_NAME, RowStore
from tagrank.annotation.bank.view_files import SUBFOLDER as VIEWS
from tagrank.annotation.bank.view_files import own_files, prune_files
from tagrank.data.catalog.catalog import data_folders


def bank_folder(folder: str | os.PathLike | None = None) -> Path:
    """`folder`, or the place below ``TAGRANK_CACHE`` or the user's cache folder where features are kept."""
    return data_folders()[-1] / "features" if folder is None else Path(folder)


def bank_size(folder: str | os.PathLike | None = None) -> int:
    """Bytes that features take on disk."""
    return sum(path.stat().st_size for path in _files(bank_folder(folder)))


def prune_bank(folder: str | os.PathLike | None = None, *, days: float = 90) -> None:
    """Remove what was not asked for in so many days."""
    place = bank_folder(folder)
    for subfolder in (VIEWS, LEARNED):
        prune_files(place / subfolder, days=days)
    if (place / FILE_NAME).exists():
        with RowStore(place) as store:
            store.prune(days=days)


def clear_bank(folder: str | os.PathLike | None = None) -> None:
    """Remove all features; they will be computed again when they are needed. Other files stay."""
    for path in _files(bank_folder(folder)):
        path.unlink(missing_ok=True)


def _files(place: Path) -> list[Path]:
    return [*place.glob(f"{FILE_NAME}*"), *own_files(place / VIEWS), *own_files(place / LEARNED)]
