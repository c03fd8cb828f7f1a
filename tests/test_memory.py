"""How much memory there is: the lowest of what the system and a container tell."""

import numpy as np
import pytest

import tagrank
from tagrank import resources
from tagrank.kernels import Linear
from tagrank.kernels.stack_files import stack_of_kernels


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(resources, "_LIMIT", tmp_path / "memory.max")
    return tmp_path


def test_the_lowest_counts(told):
    (told / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert resources.available_memory() == 4000 * 1024
    (told / "memory.max").write_text("1000000\n")
    (told / "memory.current").write_text("400000\n")
    assert resources.available_memory() == 600_000
    # files that were read can be let go
    (told / "memory.stat").write_text("anon 300000\nfile 100000\ninactive_file 70000\nactive_file 30000\n")
    assert resources.available_memory() == 670_000
    (told / "memory.current").write_text("1200000\n")
    assert resources.available_memory() == 0
    (told / "memory.max").write_text("max\n")
    assert resources.available_memory() == 4000 * 1024


def test_where_nothing_is_told(told, monkeypatch):
    assert resources.available_memory() > 2**20
    monkeypatch.delattr("os.sysconf")
    assert resources.available_memory() == float("inf")


def test_words():
    assert resources.gibibytes(1.5 * 2**30) == "1.5 GiB"


def limit_container(folder, n_bytes):
    (folder / "memory.max").write_text(f"{n_bytes}\n")
    (folder / "memory.current").write_text("0\n")


def test_a_gram_matrix_that_a_container_cannot_hold(told):
    X, Y = np.random.default_rng(0).normal(size=(40, 3)), np.eye(4)[np.arange(40) % 4]
    limit_container(told, 40**2)
    with pytest.raises(MemoryError, match=r"the similarities of 40 samples take .* MiB are free"):
        tagrank.OneVsAllSVM(kernel="rbf").fit(X, Y)
    limit_container(told, 10**12)
    tagrank.OneVsAllSVM(kernel="rbf").fit(X, Y)


def test_a_stack_of_kernels_in_a_container(told):
    X = np.random.default_rng(0).normal(size=(40, 3))
    limit_container(told, 10**12)
    assert stack_of_kernels([Linear()], X)[1].dtype == np.float64
    limit_container(told, 8 * 40**2)
    # on disk
    assert stack_of_kernels([Linear()], X)[1].dtype == np.float32
