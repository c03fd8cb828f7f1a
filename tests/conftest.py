"""A fresh folder for compiled code (a cached caller would keep its old callee); the public data sets."""

import os
import tempfile
from pathlib import Path

import pytest

if "NUMBA_CACHE_DIR" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="tagrank-numba-")
    os.environ["NUMBA_CACHE_DIR"] = _cache.name


@pytest.fixture(scope="session")
def research_data():
    """The folder of public data sets, or a skip that says what is missing."""
    folder = os.environ.get("TAGRANK_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the public data sets are absent: set TAGRANK_DATA to the folder that holds them")
    return Path(folder)
