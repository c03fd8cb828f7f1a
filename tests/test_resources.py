"""How many threads work may use, and that the settings come back."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numba
import pytest
from threadpoolctl import threadpool_info

from tagrank import resources
from tagrank.resources import count_threads, limited_threads


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(resources.os, "sched_getaffinity", lambda process: set(range(4)), raising=False)


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-9, 1), (1, 1), (3, 3), (9, 4), (2.0, 2)]
)
def test_number_of_threads(four_cores, n_jobs, expected):
    assert count_threads(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [0, 1.5])
def test_senseless_numbers_are_refused(n_jobs):
    with pytest.raises(ValueError, match=rf"other than 0.*got {n_jobs}"):
        count_threads(n_jobs)


def settings():
    return numba.get_num_threads(), [library["num_threads"] for library in threadpool_info()]


@pytest.mark.parametrize("ends_in_an_error", [False, True])
def test_settings_are_restored(ends_in_an_error):
    before = settings()
    try:
        with limited_threads(1) as n_threads:
            assert n_threads == 1
            assert numba.get_num_threads() == 1
            assert set(settings()[1]) <= {1}
            if ends_in_an_error:
                raise RuntimeError
    except RuntimeError:
        assert ends_in_an_error
    assert settings() == before


def blas():
    """The different numbers of threads of all BLAS libraries; some that others bring were built without."""
    return {
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == "blas" and library.get("threading_layer") != "disabled"
    }


@pytest.mark.skipif(count_threads() < 2, reason="takes two cores")
@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (1, 1)])
@pytest.mark.parametrize("ends_in_an_error", [False, True])
def test_blocks_of_two_threads_leave_no_limit_behind(first, second, ends_in_an_error):
    """The thread that begins first ends first, while the other one still works."""
    before = settings()
    has_begun, may_end = threading.Event(), threading.Event()

    def work():
        with suppress(RuntimeError), limited_threads(first):
            has_begun.set()
            may_end.wait(60)
            if ends_in_an_error:
                raise RuntimeError

    thread = threading.Thread(target=work)
    thread.start()
    has_begun.wait(60)
    with limited_threads(second):
        assert numba.get_num_threads() == second
        assert blas() == {min(first, second)}
        may_end.set()
        thread.join(60)
        assert blas() == {second}
        with limited_threads(1):
            assert blas() == {1}
        assert blas() == {second}
    assert settings() == before


def test_a_setting_shared_by_many_threads_comes_back():
    number = [8]
    setting = resources.SharedSetting(lambda: number[0], lambda new: number.__setitem__(0, new))

    def work(limit):
        for _ in range(200):
            with setting.limited(limit):
                assert number[0] <= limit

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [1, 2, 3, 4, 5, 6]))
    assert number == [8]
    assert setting.limits == {}


def test_no_more_threads_than_compiled_code_has():
    with limited_threads(None) as n_threads:
        assert 1 <= n_threads <= numba.config.NUMBA_NUM_THREADS


def test_limits_do_not_load_the_compiler():
    code = """
import sys
from tagrank.resources import limited_threads
with limited_threads(1) as n_threads:
    assert n_threads == 1
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_libraries_that_come_later_are_limited_too():
    code = """
import numpy
from tagrank.resources import limited_threads
with limited_threads(1):
    pass
import sklearn.svm
import numba
numba.get_num_threads()
from threadpoolctl import threadpool_info
with limited_threads(1):
    found = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
assert len(found) > 1 and set(found.values()) == {1}, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)
