"""What there is to choose from: features by name, and data by name."""

from dataclasses import dataclass

from tagrank.data import find_dataset, list_datasets
from tagrank.data.catalog import DatasetEntry, data_folders
from tagrank.data.drawn_pictures import TAGS

DRAWN_PICTURES = "drawn-pictures"


@dataclass(frozen=True)
class FeatureSet:
    """One way to describe pictures.

    Attributes
    ----------
    name : what to write behind ``--features``
    kernel : the kernel that suits it
    presets : names of the presets that it belongs to
    about : what it describes, in a sentence
    """

    name: str
    kernel: str
    presets: tuple[str, ...]
    about: str


def features() -> list[FeatureSet]:
    """All sets of picture features."""
    from tagrank.features import FEATURES, PRESETS

    return [
        FeatureSet(
            name,
            feature.kernel,
            tuple(preset for preset, names in PRESETS.items() if name in names),
            feature.about,
        )
        for name, feature in FEATURES.items()
    ]


@dataclass(frozen=True)
class Dataset:
    """Data that commands take by name.

    Attributes
    ----------
    name, about : what to write, and what it holds
    n_rows, n_features, n_tags : its size; n_features is None for pictures
    source : where it comes from
    folder : where it was found, or None
    advice : what to put where, if it was not found
    """

    name: str
    about: str
    n_rows: int
    n_features: int | None
    n_tags: int
    source: str
    folder: str | None
    advice: str

    @property
    def is_here(self) -> bool:
        """Whether it can be used now."""
        return not self.advice


def datasets() -> list[Dataset]:
    """All data that can be named: the drawn pictures, then the public sets of the catalog."""
    about = "landscapes, harbours, streets and nights"
    drawn = Dataset(DRAWN_PICTURES, about, 400, None, len(TAGS), "drawn on the spot", None, "")
    return [drawn, *(_dataset(entry) for entry in list_datasets())]


def _dataset(entry: DatasetEntry) -> Dataset:
    folder = find_dataset(entry.name)
    place = data_folders()[0] / entry.folder
    advice = "" if folder else f"put {', '.join(entry.files)} (or .gz) into {place}"
    sizes = (entry.n_rows, entry.n_features or None, entry.n_tags)
    return Dataset(entry.name, entry.about, *sizes, entry.source, str(folder) if folder else None, advice)
