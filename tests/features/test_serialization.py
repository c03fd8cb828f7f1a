"""Features rebuilt from their settings and arrays, also from those of strangers."""

import copy
import json
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from tagrank.features.feature import Part
from tagrank.features.serialization import part_from_settings
from tagrank.features.words.bag import BagOfWords
from tagrank.features.words.encoding import HardEncoding, LocalityConstrained, SoftEncoding
from tagrank.features.words.fisher import FisherEncoding, GaussianMixtureWords
from tagrank.features.words.hierarchy import HierarchicalWords
from tagrank.features.words.layout import AveragePooling, CellLayout, MaxPooling
from tagrank.features.words.local_descriptors import LocalDescriptor
from tagrank.features.words.sampling import DenseGrid
from tagrank.features.words.vocabulary import KMeansWords

N_COLUMNS = 6


@dataclass(frozen=True)
class Pixel(LocalDescriptor):
    """The colour of the point and of its neighbour."""

    n_columns: ClassVar[int] = N_COLUMNS

    def compute(self, picture, points):
        x, y = points.x.astype(int), points.y.astype(int)
        pair = np.stack([picture.pixels[y, x], picture.pixels[y, x - 1]], axis=1)
        return pair.reshape(-1, N_COLUMNS).astype(np.float32) / 255


KNOWN = {
    kind.written_as or kind.__name__: kind
    for kind in (
        BagOfWords,
        DenseGrid,
        Pixel,
        KMeansWords,
        HierarchicalWords,
        GaussianMixtureWords,
        HardEncoding,
        SoftEncoding,
        LocalityConstrained,
        FisherEncoding,
        AveragePooling,
        MaxPooling,
        CellLayout,
    )
}
ROWS = np.random.default_rng(0).random((200, N_COLUMNS), np.float32)
BAG = BagOfWords(DenseGrid(), Pixel(), KMeansWords(6), layout=CellLayout("3x1"))
BAGS = [
    BAG,
    BAG.replace(vocabulary=KMeansWords(6).fit(ROWS), encoding=SoftEncoding(3), pooling=MaxPooling()),
    BAG.replace(vocabulary=HierarchicalWords(2, 3).fit(ROWS), encoding=LocalityConstrained()),
    BAG.replace(vocabulary=GaussianMixtureWords(3, n_projected=5).fit(ROWS), encoding=FisherEncoding()),
    BAG.replace(vocabulary=GaussianMixtureWords(3, n_projected=None).fit(ROWS), encoding=FisherEncoding()),
]


def written(part):
    """Settings and arrays as a file would give them back."""
    return json.loads(json.dumps(part.settings())), {n: a.copy() for n, a in part.arrays().items()}


@pytest.mark.parametrize("bag", BAGS, ids=lambda bag: type(bag.vocabulary).__name__)
def test_bags_come_back_the_same(bag):
    again = part_from_settings(*written(bag), KNOWN)
    assert again == bag
    assert again.fingerprint() == bag.fingerprint()
    assert again.is_fitted == bag.is_fitted
    if bag.is_fitted:
        picture = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
        np.testing.assert_array_equal(again(picture), bag(picture))


def change(path, value):
    """A function that sets one setting, deep inside."""

    def apply(settings, arrays):
        for name in path[:-1]:
            settings = settings[name]
        settings[path[-1]] = value

    return apply


def drop(*path):
    def apply(settings, arrays):
        for name in path[:-1]:
            settings = settings[name]
        del settings[path[-1]]

    return apply


def put(name, array):
    def apply(settings, arrays):
        arrays[name] = array

    return apply


WRONG = [
    (change(["type"], "Popen"), "the type must be one of AveragePooling, BagOfWords"),
    (change(["type"], ["Layout"]), "an object with a 'type'"),
    (drop("type"), "an object with a 'type'"),
    (change(["version"], 99), "version 1 here, the settings are of version 99"),
    (drop("vocabulary", "version"), "settings are of version None"),
    (change(["layout", "colour"], 1), "CellLayout has no colour"),
    (drop("layout", "name"), "CellLayout needs name"),
    (drop("pooling"), "BagOfWords needs pooling"),
    (change(["layout", "name"], 3), "CellLayout.name must be str, got 3"),
    (change(["layout", "name"], "99x99"), "rows x columns"),
    (change(["layout"], "3x1"), "BagOfWords.layout must be CellLayout"),
    (
        change(["encoding"], {"type": "Layout", "version": 1, "name": "1x1"}),
        "type must be one of FisherEncoding",
    ),
    (change(["sampling", "step"], True), "DenseGrid.step must be int"),
    (change(["sampling", "step"], 10**400), "DenseGrid.step must be int"),
    (change(["sampling", "scales"], [4.0, "x"]), "DenseGrid.scales must be"),
    (change(["sampling", "scales"], 5), "DenseGrid.scales must be"),
    (change(["encoding", "width"], float("nan")), "SoftEncoding.width must be float"),
    (change(["encoding", "width"], float("inf")), "SoftEncoding.width must be float"),
    (change(["encoding", "width"], -1), "width must be a positive number"),
    (change(["vocabulary", "centres"], [[1.0]]), "settings and arrays at once for centres"),
    (change(["vocabulary", "spread"], None), "must have a positive spread"),
    (change(["vocabulary", "n_words"], 7), r"centres must be float32 of shape \(7, 'any'\)"),
    (put("vocabulary.centres", np.full((6, N_COLUMNS), np.inf, np.float32)), "array of finite numbers"),
    (put("vocabulary.centres", np.array([[None]])), "array of finite numbers, got object"),
    (put("vocabulary.centres", [[1.0]]), "array of finite numbers, got list"),
    (put("vocabulary.centres", np.ones((6, N_COLUMNS))), "must be float32"),
    (put("vocabulary.centres", np.ones((6, 100), np.float32)), "the vocabulary was learned from 100"),
    (put("vocabulary.other", np.ones(3)), "KMeansWords has no other"),
    (put("layout.name", np.ones(3)), "settings and arrays at once for name"),
    (put("nowhere.centres", np.ones(3)), "BagOfWords has no nowhere"),
    (put("vocabulary.centres.deep", np.ones(3)), "KMeansWords has no part for the arrays of centres"),
]


@pytest.mark.parametrize(("spoil", "message"), WRONG, ids=[message for _, message in WRONG])
def test_files_of_strangers_are_refused_with_a_sentence(spoil, message):
    settings, arrays = copy.deepcopy(written(BAGS[1]))
    spoil(settings, arrays)
    with pytest.raises(ValueError, match=message):
        part_from_settings(settings, arrays, KNOWN)


@pytest.mark.parametrize("settings", [None, [], "BagOfWords", {}])
def test_settings_must_be_an_object(settings):
    with pytest.raises(ValueError, match="an object with a 'type'"):
        part_from_settings(settings, {}, KNOWN)


def test_an_unfitted_array_is_none_and_nothing_else():
    settings, _ = written(KMeansWords(6))
    assert settings["centres"] is None
    with pytest.raises(ValueError, match=r"KMeansWords\.centres must be"):
        part_from_settings(settings | {"centres": [[1.0]]}, {}, KNOWN)


@dataclass(frozen=True)
class Everything(Part):
    choice: Literal["a", "b"]
    pair: tuple[int, str]
    maybe: CellLayout | None
    anything: Any
    flag: bool


def test_all_kinds_of_fields():
    known = {"Everything": Everything, "Layout": CellLayout}
    for part in (
        Everything("a", (1, "x"), None, (1, (2.5, None)), True),
        Everything("b", (0, ""), CellLayout("2x2"), "text", False),
    ):
        assert part_from_settings(*written(part), known) == part
    settings, _ = written(part)
    for wrong in ({"choice": "c"}, {"pair": [1]}, {"pair": ["x", 1]}, {"maybe": 0}, {"flag": 1}):
        with pytest.raises(ValueError, match="must be"):
            part_from_settings(settings | wrong, {}, known)
