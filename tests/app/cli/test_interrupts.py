"""Ctrl-C that nobody heard: the compiler and solvers that try something out drop the first exception."""

import contextlib
import ctypes
import signal
import sys
from types import SimpleNamespace

import pytest

from tagrank.annotation import Annotator
from tagrank.annotation.describing import describe_rows
from tagrank.app.cli.progress import InterruptWatch


def press_unheard():
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def point(n_iter, gap=0.5):
    return SimpleNamespace(n_iter=n_iter, gap=gap)


def test_an_unheard_interrupt_stops_training_after_its_first_pass(capsys):
    with InterruptWatch(tol=1e-3) as watch:
        press_unheard()
        watch.check(point(0))
        assert not watch.stop()
        watch.check(point(1))
        assert watch.stop()
        watch.insist(is_finished=True)
    assert watch.seen
    assert capsys.readouterr().err.count("keeping the result") == 1


def test_an_interrupt_during_training_is_no_exception():
    with InterruptWatch(tol=1e-3) as watch:
        for n_iter in (0, 1):
            watch.check(point(n_iter))
        assert not watch.stop()
        signal.raise_signal(signal.SIGINT)
        assert watch.stop()
        watch.insist()


def test_an_interrupt_that_is_lost_in_c_leaves_no_traceback(capsys):
    before = sys.unraisablehook
    with InterruptWatch(tol=1e-3) as watch:
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        with pytest.raises(KeyboardInterrupt):
            watch.insist()
    assert capsys.readouterr().err == ""
    assert sys.unraisablehook is before


def test_an_unheard_interrupt_before_training_is_raised_again():
    with InterruptWatch(tol=1e-3) as watch:
        press_unheard()
        with pytest.raises(KeyboardInterrupt):
            watch.insist()


def test_what_breaks_after_an_unheard_interrupt_is_the_interrupt():
    def break_down():
        with InterruptWatch(tol=1e-3):
            press_unheard()
            raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt):
        break_down()


def test_a_finished_model_is_kept_after_one_interrupt_but_not_after_two():
    with InterruptWatch(tol=1e-3) as watch:
        press_unheard()
        watch.insist(is_finished=True)
        press_unheard()
        with pytest.raises(KeyboardInterrupt):
            watch.insist(is_finished=True)


# nothing is held out or compared before the one training
PLAIN = ("--C", 1, "--kernel", "linear", "--calibration", "none")


@pytest.fixture
def pressed_unheard_before_training(monkeypatch):
    """As numba's compiler drops a KeyboardInterrupt."""

    def press_and_go_on(*arguments, **options):
        press_unheard()
        return describe_rows(*arguments, **options)

    monkeypatch.setattr("tagrank.annotation.choosing.looks.describe_rows", press_and_go_on)


@pytest.mark.usefixtures("pressed_unheard_before_training")
def test_training_stops_early_and_is_kept(tagrank, table, tmp_path):
    options = ("--method", "label-ranker", "--tol", 1e-6, "--C", 1000, *PLAIN[2:])
    result = tagrank("train", table, "-o", tmp_path / "m", *options)
    assert result.exit_code == 130
    assert "stopping and keeping the result" in result.stderr
    assert "training was asked to stop" in result.stderr
    assert 1e-6 < Annotator.load(tmp_path / "m").metadata["duality_gap"] < 1


@pytest.mark.usefixtures("pressed_unheard_before_training")
@pytest.mark.parametrize(
    "options",
    [
        ("--method", "label-frequency"),
        ("--method", "incomplete-label-ranker", "--set", "solver=paper", *PLAIN),
    ],
)
def test_a_method_without_measurements_keeps_its_finished_model(tagrank, table, tmp_path, options):
    result = tagrank("train", table, "-o", tmp_path / "m", *options)
    assert result.exit_code == 130
    assert "model written" in result.stderr
    assert Annotator.load(tmp_path / "m").tags == ["Sky", "sea", "boat"]


def test_a_solver_that_learned_nothing_leaves_the_old_model(tagrank, table, tmp_path, monkeypatch):
    """An interrupt before the first pass, which the solver takes for its own."""
    options = ("--lower-case", "-o", tmp_path / "m")
    assert tagrank("train", table, *options).exit_code == 0
    before = (tmp_path / "m" / "model.json").read_text()
    pressed = "tagrank.solvers.dual_ascent.BlockPasses.make_pass"
    monkeypatch.setattr(pressed, lambda *_: signal.raise_signal(signal.SIGINT))
    result = tagrank("train", table, *options)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert (tmp_path / "m" / "model.json").read_text() == before


def test_a_demonstration_does_not_go_on(tagrank, tmp_path, monkeypatch):
    def press_and_go_on(*_, progress, **__):
        press_unheard()
        progress(1, 3, "describing")
        raise AssertionError("went on")

    monkeypatch.setattr("tagrank.annotation.describing.describe_pictures", press_and_go_on)
    result = tagrank("demo", "--output", tmp_path / "tour", "--n-pictures", 20)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
