"""A cluster that cannot be worked with is refused in a sentence, soon."""

import importlib.metadata
import socket
import sys

import pytest

from tagrank.solvers.cluster import client as module
from tagrank.solvers.cluster.client import (
    answers_as_done,
    answers_of,
    ask,
    check_cluster,
    check_version,
    own_version,
    reached,
)

distributed = pytest.importorskip("distributed", reason="distributed is absent: pip install 'tagrank[dask]'")


@pytest.fixture(scope="module")
def empty_client():
    """A client of a cluster without workers."""
    where = {"dashboard_address": "127.0.0.1:0", "protocol": "tcp", "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(n_workers=0, **where) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_scheduler_is_reached_by_its_address(two_workers):
    with reached(two_workers.scheduler.address) as client:
        assert answers_of(client, [ask(client, divmod, 7, 2)]) == [(3, 1)]
    assert client.status == "closed"


def test_a_client_stays_open(two_workers):
    with reached(two_workers) as client:
        assert client is two_workers
    assert two_workers.status == "running"


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_TO_ANSWER", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(ConnectionError, match=f"no Dask scheduler answered at {address} within 0.2 sec"),
            reached(address),
        ):
            pass


@pytest.mark.parametrize("address", ["nonsense", "photos://127.0.0.1:1"])
def test_what_is_no_address(address):
    with pytest.raises(ValueError, match=f"was expected of a scheduler, got '{address}'"), reached(address):
        pass


def test_what_is_no_scheduler():
    with pytest.raises(TypeError, match=r"a distributed\.Client, got 8786"), reached(8786):
        pass


def test_a_cluster_without_workers(empty_client, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_TO_ANSWER", 0.2)
    with pytest.raises(ConnectionError, match="has no workers; start some: dask worker tcp://"):
        check_cluster(empty_client)


def test_a_cluster_whose_workers_are_gone(empty_client, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(module, "SECONDS_WITHOUT_WORKERS", 0.2)
    with pytest.raises(RuntimeError, match="no worker is left at the Dask scheduler tcp://"):
        answers_of(empty_client, [ask(empty_client, divmod, 7, 2)])


def test_a_scheduler_that_lets_go_of_the_work(two_workers):
    futures = [ask(two_workers, divmod, 7, 2)]
    two_workers.cancel(futures, force=True)
    with pytest.raises(ConnectionError, match=r"the Dask scheduler at tcp://.* dropped the work"):
        answers_of(two_workers, futures)


def test_workers_of_another_version(two_workers, monkeypatch):
    monkeypatch.setattr(module, "own_version", lambda: "99.1")
    with pytest.raises(
        RuntimeError, match=rf"has tagrank {importlib.metadata.version('tagrank')}, but 99\.1 is here"
    ):
        check_cluster(two_workers)


def test_a_worker_of_another_version_that_came_late(two_workers):
    with pytest.raises(RuntimeError, match=rf"tcp://\S+ has tagrank {own_version()}, but 99\.1 is here"):
        answers_of(two_workers, [ask(two_workers, check_version, "99.1")])
    assert answers_of(two_workers, [ask(two_workers, check_version, own_version())]) == [None]


def test_workers_without_tagrank(two_workers, monkeypatch):
    run = two_workers.run
    monkeypatch.setattr(two_workers, "run", lambda work, name, **how: run(work, "no-such-package", **how))
    with pytest.raises(RuntimeError, match="has no tagrank: install version"):
        check_cluster(two_workers)


def test_a_worker_that_ends_just_now_is_passed_over(two_workers, monkeypatch):
    answers = {"tcp://10.0.0.2:1": OSError("closed"), "tcp://10.0.0.3:1": own_version()}
    monkeypatch.setattr(two_workers, "run", lambda *work, **how: answers)
    check_cluster(two_workers)
    answers["tcp://10.0.0.3:1"] = "0.0.1"
    with pytest.raises(RuntimeError, match=r"10\.0\.0\.3:1 has tagrank 0\.0\.1, but"):
        check_cluster(two_workers)


def test_distributed_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"pip install 'tagrank\[dask\]'"),
        reached("tcp://127.0.0.1:1"),
    ):
        pass


def test_few_tasks_are_under_way(two_workers):
    asked = []

    def tasks():
        for number in range(40):
            asked.append(number)
            yield number, divmod, (number, 7)

    answers = answers_as_done(two_workers, tasks())
    first = next(answers)
    assert len(asked) <= 8
    assert dict([first, *answers]) == {number: divmod(number, 7) for number in range(40)}
