"""Fresh folders for compiled code (a cached caller keeps its old callee), features, state; public data.

Tests pass in any order: `--random-order` shuffles them, and a file that leaves a process or a running event
loop behind fails.
"""

import asyncio
import gc
import os
import random
import secrets
import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.left_processes import end_left, mark_children

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
MARK = mark_children()
collect_ignore = [] if find_spec("tagrank_papers") else ["papers", "test_benchmarks.py"]


def pytest_addoption(parser):
    parser.addoption(
        "--random-order",
        metavar="SEED",
        help="shuffle files, and the tests of each, by this number; 'new' draws one",
    )


def pytest_configure(config):
    # worker processes are given the options of this one, and so the same seed
    if config.option.random_order == "new":
        config.option.random_order = str(secrets.randbelow(10**6))


def pytest_terminal_summary(terminalreporter, config):
    if collect_ignore:
        terminalreporter.write_line("tagrank-papers is not installed: its tests and benchmarks are left out")
    if config.option.random_order is not None:
        terminalreporter.write_line(f"in random order: --random-order {config.option.random_order}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    seed = config.option.random_order
    if seed is None:
        return
    drawn, files = random.Random(seed), {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for path in drawn.sample(list(files), len(files)):
        drawn.shuffle(files[path])
        items += files[path]
    del items[: len(items) // 2]


@pytest.fixture(scope="module", autouse=True)
def _nothing_left():
    """After a file no process that it started is alive, and no event loop runs in this thread."""
    yield
    _end_waiting()
    left = end_left(MARK)
    assert left == [], "processes were left, and are ended now; end them in a fixture or a with block"
    assert not is_loop_running(), "a running event loop was left: asyncio.run() of later tests would fail"


def _end_waiting():
    """End the processes that wait for more work, as they are meant to."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    if loky is not None and loky._executor is not None:
        loky._executor.shutdown(wait=True)
    if networks := sys.modules.get("tagrank.features.networks.onnx_embedding"):
        networks._open_network.cache_clear()
    gc.collect()  # a failed test may hold some in a circle


def is_loop_running():
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


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


@pytest.fixture(scope="module")
def dask_client():
    """A client of a Dask cluster of two worker processes here; those that are killed are replaced."""
    distributed = pytest.importorskip(
        "distributed", reason="distributed is absent: pip install 'tagrank[dask]'"
    )
    size = {"n_workers": 2, "threads_per_worker": 1}
    where = {"dashboard_address": "127.0.0.1:0", "protocol": "tcp", "host": "127.0.0.1"}
    # nothing may need a client that was not handed over
    alone = {"set_as_default": False}
    with distributed.LocalCluster(**size, **where) as cluster, distributed.Client(cluster, **alone) as client:
        yield client


@pytest.fixture
def two_workers(dask_client):
    """The client, once both workers are there."""
    dask_client.wait_for_workers(2, timeout=60)
    return dask_client
