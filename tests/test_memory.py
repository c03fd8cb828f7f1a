"""How much memory there is: the lowest of what the system and a container tell."""

import pytest

from tagrank import memory


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_KNOWN", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_LIMIT", tmp_path / "memory.max")
    return tmp_path


def test_the_lowest_counts(told):
    (told / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert memory.available_memory() == 4000 * 1024
    (told / "memory.max").write_text("1000000\n")
    (told / "memory.current").write_text("400000\n")
    assert memory.available_memory() == 600_000
    (told / "memory.max").write_text("max\n")
    assert memory.available_memory() == 4000 * 1024


def test_where_nothing_is_told(told, monkeypatch):
    assert memory.available_memory() > 2**20
    monkeypatch.delattr("os.sysconf")
    assert memory.available_memory() == float("inf")


def test_words():
    assert memory.gibibytes(1.5 * 2**30) == "1.5 GiB"
