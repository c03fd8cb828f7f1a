"""An audit in words."""

import numpy as np
import pytest

from tagrank.estimators.calibration.audit import Audit
from tagrank.estimators.calibration.completeness import Completeness
from tagrank.reports.audits import dependence_words, n_wanted, told_words, wanted_words


def audit(n_samples=40, low=0.4, high=0.6, by_frequency=0.0, by_count=0.0):
    told = Completeness((low + high) / 2, low, high, n_samples)
    return Audit(n_samples, 100, 50, 0, told, np.ones(3), by_frequency, by_count)


def test_before_the_first_and_with_a_few():
    assert told_words(None) == "No picture is audited yet."
    assert wanted_words(None, 500) == "Audit 30 to know how complete the tags are, to about ± 10 points."
    few = audit(4)
    assert (
        told_words(few, "row")
        == "4 rows audited; at least 10 are needed to estimate how complete the tags are."
    )
    assert wanted_words(few, 500) == "Audit 26 more to know it to about ± 10 points."
    assert (n_wanted(None), n_wanted(few)) == (30, 26)


def test_no_more_are_wanted_than_are_left():
    wide = audit(40, 0.35, 0.65)
    assert wanted_words(wide, 60) == "Audit 50 more to know it to about ± 10 points."
    assert wanted_words(None, 12) == "Audit all 12 to know how complete the tags are."
    assert wanted_words(wide, 12) == "Audit the other 12 to know it better."
    assert wanted_words(wide, 0) == wanted_words(None, 0) == ""


def test_how_many_more_make_which_interval():
    wide, narrow, done = audit(40, 0.35, 0.65), audit(80, 0.42, 0.58), audit(400, 0.47, 0.53)
    assert told_words(wide) == "40 pictures audited: about 35 to 65 % of the true tags are listed."
    assert wanted_words(wide, 500) == "Audit 50 more to know it to about ± 10 points, or 320 more for ± 5."
    assert wanted_words(narrow, 500) == "Audit 125 more to know it to about ± 5 points."
    assert wanted_words(done, 500) == ""
    assert (n_wanted(wide), n_wanted(narrow), n_wanted(done)) == (50, 125, 0)


def test_what_completeness_depends_on():
    assert dependence_words(audit()) == ""
    assert dependence_words(audit(by_frequency=-0.4)) == "Frequent tags are listed less often."
    both = audit(by_frequency=0.3, by_count=-1.0)
    assert (
        dependence_words(both, "row")
        == "Rare tags are listed less often and rows with many tags miss more tags."
    )


@pytest.mark.parametrize(
    ("told", "words", "sentence"),
    [
        (Completeness(0.6, 0.6, 0.6), "60%", "60%"),
        (Completeness(1.0, 0.92, 1.0), "nearly all", "nearly all"),
        (Completeness(0.5, 0.42, 0.58), "about 42 to 58 %", "about 42 to 58 %"),
        (
            Completeness(1.0, 0.6, 1.0),
            "between about 60 % and all",
            "unknown (between about 60 % and all); audit 30 to find out (tagrank audit)",
        ),
        (
            Completeness(0.5, 0.3, 0.75),
            "about 30 to 75 %",
            "unknown (about 30 to 75 %); audit 30 to find out (tagrank audit)",
        ),
        (
            Completeness(0.5, 0.35, 0.65, 20),
            "about 35 to 65 %",
            "about 35 to 65 %, from 20 audited",
        ),
    ],
)
def test_nearly_all_are_said_to_be_there_only_where_the_interval_says_so(told, words, sentence):
    assert told.words == words
    assert told.told == sentence
