"""The catalog against the published counts, and what it says when a data set is absent or damaged."""

import shutil

import numpy as np
import pytest

from tagrank.data.catalog import find_dataset, list_datasets, load_dataset

OFFICIAL = {
    "corel5k": (4500, 500),
    "bibtex": (4880, 2515),
    "delicious": (12920, 3185),
    "enron": (1123, 579),
    "medical": (333, 645),
    "genbase": (463, 199),
    "scene": (1211, 1196),
    "yeast": (1500, 917),
    "emotions": (391, 202),
    "birds": (322, 323),
    "flags": (129, 65),
    "corel5k_images": (4500, 499),
    "corel5k_images_260": (4500, 499),
    "coco_multilabel_4k": (3000, 1000),
    "iaprtc12": (17665, 1962),
    "voc2006": (2618, 2686),
}


@pytest.mark.parametrize("entry", list_datasets(), ids=lambda entry: entry.name)
def test_published_counts(research_data, entry):
    if find_dataset(entry.name) is None:
        pytest.skip(f"{entry.name} is absent")
    # load_dataset itself refuses other numbers of rows, columns and tags than the catalog's
    collection = load_dataset(entry.name, verify=True)
    assert collection.name == entry.name
    facts = collection.summary()
    assert (facts["rows"], facts["tags"]) == (entry.n_rows, entry.n_tags)
    assert facts["cardinality"] == pytest.approx(entry.cardinality, abs=1e-3)
    assert facts["tags never present"] == 0
    if entry.name in OFFICIAL:
        assert (len(collection.train), len(collection.test)) == OFFICIAL[entry.name]
    else:
        assert collection.part is None


def test_rows_without_any_tag(research_data):
    assert load_dataset("birds").summary()["rows without tag"] == 294
    assert load_dataset("delicious").summary()["rows without tag"] == 14


def test_natural_views(research_data):
    views = load_dataset("yeast", split_views=True).summary()["views"]
    assert views == {"expression": 79, "phylogeny": 24}
    assert load_dataset("emotions", split_views=True).summary()["views"] == {"timbre": 64, "rhythm": 8}
    whole, _ = load_dataset("yeast", split_views=True).stacked()
    np.testing.assert_array_equal(whole, load_dataset("yeast").X)
    digits = load_dataset("mfeat")
    assert digits.summary()["views"] == {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
    np.testing.assert_array_equal(digits.Y.sum(axis=0), np.full(10, 200))


@pytest.fixture
def empty_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TAGRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_an_absent_set_says_where_to_get_it_and_where_to_put_it(empty_folders):
    with pytest.raises(FileNotFoundError) as error:
        load_dataset("scene")
    for part in (
        "mulan",
        "scene-train.arff",
        str(empty_folders / "data" / "scene"),
        str(empty_folders / "cache"),
    ):
        assert part in str(error.value)


def test_a_mistyped_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="did you mean 'delicious'"):
        load_dataset("delicius")


def test_damaged_files_are_noticed(research_data, empty_folders):
    folder = empty_folders / "cache" / "flags"
    shutil.copytree(research_data / "flags", folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    assert len(load_dataset("flags", verify=True)) == 194
    text = (folder / "flags.xml").read_text().replace('<label name="red"></label>', "")
    (folder / "flags.xml").unlink()
    (folder / "flags.xml").write_text(text)
    with pytest.raises(ValueError, match="SHA-256"):
        load_dataset("flags", verify=True)
    with pytest.raises(ValueError, match=r"expected rows, columns, tags \(194, 43, 7\)"):
        load_dataset("flags")
