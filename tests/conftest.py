"""Fresh folders for compiled code (a cached caller keeps its old callee), features, state; public data."""

import os
import signal
import tempfile
from pathlib import Path

import pytest

if "NUMBA_CACHE_DIR" not in os.environ:
    _compiled = tempfile.TemporaryDirectory(prefix="tagrank-numba-")
    os.environ["NUMBA_CACHE_DIR"] = _compiled.name
# usage errors are not wrapped, however long the paths in them are
os.environ["TERMINAL_WIDTH"] = "500"
_cache = tempfile.TemporaryDirectory(prefix="tagrank-cache-")
os.environ["TAGRANK_CACHE"] = _cache.name
_state = tempfile.TemporaryDirectory(prefix="tagrank-state-")
os.environ["TAGRANK_STATE"] = _state.name
# a shell lets what runs in its background ignore Ctrl-C, and so would the processes that tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def research_data():
    """The folder of public data sets, or a skip that says what is missing."""
    folder = os.environ.get("TAGRANK_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the public data sets are absent: set TAGRANK_DATA to the folder that holds them")
    return Path(folder)


@pytest.fixture(scope="module")
def quick_words():
    """Vocabularies of pictures are learned in two rounds, where a test does not ask how good they are."""
    from tagrank.features.words import vocabulary

    learn = vocabulary.learn_centres
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            vocabulary, "learn_centres", lambda *sample, **asked: learn(*sample, **asked | {"max_iter": 2})
        )
        yield
