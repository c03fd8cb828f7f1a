"""Views in files: a collection that grew takes only new rows out of the store, and memory stays flat."""

import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tagrank.annotation.bank import row_store, view_files
from tagrank.annotation.bank.bank_files import own_files
from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.row_store import CacheWarning, RowStore, pack_row
from tagrank.annotation.bank.view_files import ViewPlace, assemble_view, mean_view
from tagrank.array_files import is_mapped

sys.path.insert(0, str(Path(__file__).parent))
from bank_probes import Means

SET = "set"


def key(number):
    return (number * 7_919 % 2**61).to_bytes(8) + number.to_bytes(8)


def rows_of(numbers, n_columns=6):
    return np.array([np.full(n_columns, number, dtype=np.float32) for number in numbers])


@pytest.fixture
def store(tmp_path):
    with RowStore(tmp_path) as store:
        yield store


@pytest.fixture
def place(tmp_path):
    return ViewPlace(tmp_path / "views", 0)


@pytest.fixture
def looked_up(monkeypatch):
    """A list that grows with every row that is taken out of a store."""
    unpacked = []

    def count(packed):
        unpacked.append(packed)
        return unpack(packed)

    unpack = row_store.unpack_row
    monkeypatch.setattr(row_store, "unpack_row", count)
    return unpacked


def keep(store, numbers, n_columns=6):
    store.save_rows(
        [
            (key(number), SET, pack_row(row))
            for number, row in zip(numbers, rows_of(numbers, n_columns), strict=True)
        ]
    )


def view_of(store, numbers, place):
    return assemble_view(store, SET, [key(number) for number in numbers], place)


def assert_view(store, numbers, place):
    view = view_of(store, numbers, place)
    assert is_mapped(view)
    assert not view.flags.writeable
    np.testing.assert_array_equal(view, rows_of(numbers))


def test_of_a_collection_that_grew_only_new_rows_are_looked_up(store, place, looked_up):
    keep(store, range(400))
    assert_view(store, range(0, 400, 2), place)
    looked_up.clear()
    some_new = sorted([*range(0, 400, 2), 1, 3, 77, 399])
    assert_view(store, some_new, place)
    # the first row tells how many columns there are
    assert len(looked_up) == 1 + 4
    # one file is enough, and the keys of its rows
    assert len(list(place.folder.iterdir())) == 2


@pytest.mark.parametrize(
    "numbers",
    [range(40), range(39, -1, -1), [5, 5, 7, 6, 50, 8, 8, 51, 52, 0], [55], [*range(20, 60), *range(20)]],
)
def test_any_order_and_any_repetition(store, place, numbers):
    keep(store, range(60))
    view_of(store, range(40), place)
    assert_view(store, list(numbers), place)


def test_a_part_leaves_the_file_of_the_whole_alone(store, place, looked_up):
    keep(store, range(50))
    assert_view(store, range(50), place)
    whole = set(place.folder.iterdir())
    looked_up.clear()
    assert_view(store, range(10, 30), place)
    assert len(looked_up) == 1
    assert whole < set(place.folder.iterdir())
    assert_view(store, range(50), place)


def test_other_sets_of_features_have_files_of_their_own(store, place):
    keep(store, range(9))
    store.save_rows([(key(n), "other", pack_row(row)) for n, row in enumerate(rows_of(range(9), 3))])
    assert_view(store, range(9), place)
    other = assemble_view(store, "other", [key(n) for n in range(9)], place)
    np.testing.assert_array_equal(other, rows_of(range(9), 3))


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: b"", lambda data: bytes(16) + data[16:], lambda data: data * 2],
)
def test_damaged_keys_are_not_believed(store, place, damage):
    keep(store, range(30))
    view_of(store, range(20), place)
    (keys,) = place.folder.glob("*.keys")
    keys.write_bytes(damage(keys.read_bytes()))
    assert_view(store, range(30), place)


def test_an_older_file_that_is_damaged_is_not_copied(store, place):
    keep(store, range(30))
    view_of(store, range(20), place)
    (path,) = place.folder.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-4] + np.float32(np.nan).tobytes())
    assert_view(store, range(30), place)


def test_rows_that_became_longer_are_found_out(store, place):
    """Of an older file, rows of another length are computed anew, not mixed."""
    keep(store, range(20))
    view_of(store, range(20), place)
    keep(store, range(20, 30), n_columns=7)
    numbers = [key(number) for number in range(30)]
    with pytest.raises(row_store.StoreDamage):
        assemble_view(store, SET, numbers, place)
    with pytest.warns(CacheWarning, match="damaged"), pytest.raises(row_store.StoreDamage):
        assemble_view(store, SET, numbers, place)
    assert not store.features_of(key(25))


def test_what_fails_leaves_nothing_half_written(store, place, monkeypatch):
    keep(store, range(30))
    view_of(store, range(20), place)
    before = set(place.folder.iterdir())

    def interrupt(*_args):
        yield rows_of([20])
        raise KeyboardInterrupt

    monkeypatch.setattr(view_files, "_parts", interrupt)
    with pytest.raises(KeyboardInterrupt):
        view_of(store, range(30), place)
    assert set(place.folder.iterdir()) == before


def test_a_view_that_fits_nowhere_is_refused(store, monkeypatch):
    keep(store, range(30))
    monkeypatch.setattr(view_files, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=r"30 pictures take .* make room in the cache folder"):
        view_of(store, range(30), ViewPlace())


def test_the_files_are_the_bank_s_own(store, place):
    keep(store, range(30))
    view_of(store, range(20), place)
    assert set(own_files(place.folder)) == set(place.folder.iterdir())


def test_memory_does_not_grow_with_the_view(store, place):
    """Allocated while a view of 64 MB is written, copied and read: less than 24 MB."""
    n_columns = 8_000
    packed = pack_row(np.zeros(n_columns, dtype=np.float32))
    store.save_rows([(key(number), SET, packed) for number in range(2_000)])
    tracemalloc.start()
    try:
        view_of(store, range(1_990), place)
        view = view_of(store, range(2_000), place)
        mean = mean_view([view, view[:]], "mean", place)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert view.nbytes == mean.nbytes == 64_000_000
    assert peak < 24e6


def test_means_are_the_same_in_memory_and_in_a_file(store, place):
    views = [np.random.default_rng(seed).random((50, 7), dtype=np.float32) for seed in range(3)]
    in_memory = mean_view(views, "name", place)
    assert not is_mapped(in_memory)
    np.testing.assert_allclose(in_memory, np.mean(views, axis=0), rtol=1e-6)
    mapped = []
    place.folder.mkdir()
    for number, view in enumerate(views):
        np.save(place.folder / f"{number}.npy", view)
        mapped.append(np.load(place.folder / f"{number}.npy", mmap_mode="r"))
    in_file = mean_view(mapped, "name", place)
    assert is_mapped(in_file)
    assert in_file.tobytes() == in_memory.tobytes()
    assert mean_view(mapped, "name", place).tobytes() == in_memory.tobytes()


def test_the_bank_says_from_which_size_on(tmp_path):
    pictures = list(np.random.default_rng(0).integers(1, 255, (8, 9, 8, 3), dtype=np.uint8))
    features = {"means": Means()}
    small = FeatureBank(features, folder=tmp_path / "a").extract(pictures)
    large = FeatureBank(features, folder=tmp_path / "a", mapped_from=100).extract(pictures)
    assert (is_mapped(small.views["means"]), is_mapped(large.views["means"])) == (False, True)
    np.testing.assert_array_equal(small.views["means"], large.views["means"])
    unkept = FeatureBank(features, keep=False, mapped_from=0).extract(pictures)
    assert not is_mapped(unkept.views["means"])
