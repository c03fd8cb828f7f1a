"""A queue is a class and an entry; what it says is what pages and programs get."""

import numpy as np
import pytest

from tagrank.desk.queues import QUEUES, Missing, OneTag, Queue, Wrong, make_queue
from tests.desk.conftest import N_PICTURES, TAGS, wall


class LeastProbable(Queue):
    """A toy: what is open, the least probable first."""

    name = "least"
    title = "Least probable"
    about = "Tags that pictures hardly have."

    def priorities(self, probabilities, n_present, n_tagged):
        return -probabilities, probabilities >= 0


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(QUEUES, LeastProbable.name, LeastProbable)


def test_a_toy_queue_is_shown_counted_and_done(toy, make_desk, archive, probabilities):
    desk = make_desk()
    n_open = N_PICTURES * len(TAGS) - 10  # ten pictures list a tag
    told = {row["name"]: row for row in desk.overview()["queues"]}["least"]
    about = "Tags that pictures hardly have."
    assert told == {"name": "least", "title": "Least probable", "about": about, "count": n_open}
    page = wall(desk, queue="least", limit=100)
    shown = [item["probability"] for item in page["items"]]
    assert (page["total"], page["rule"], len(shown)) == (n_open, "mark", n_open)
    assert shown == sorted(shown)
    is_open = np.ones(probabilities.shape, dtype=bool)
    is_open[np.arange(10), np.arange(10) % 3] = False
    rows, _ = np.nonzero(is_open & (probabilities == probabilities[is_open].min()))
    assert desk.next(make_queue("least"), who="anna")["picture"]["id"] == archive.pictures().ids[rows[0]]


def test_every_queue_says_what_people_read():
    for name, queue in QUEUES.items():
        assert queue.name == name
        assert queue.title
        assert queue.about.endswith(".")
        assert issubclass(queue, Queue)


def test_queues_are_told_apart_by_their_class_and_filters():
    assert Missing(tag="sea") == make_queue("missing", tag="sea") != Missing()
    assert Missing() != Wrong()
    assert len({Missing(), Wrong(), make_queue("missing"), OneTag("sea")}) == 3


def test_a_queue_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"queue must be one of missing, .*, got 'nothing'"):
        make_queue("nothing")
    with pytest.raises(ValueError, match="needs the name of a tag"):
        make_queue("tag")
    with pytest.raises(ValueError, match="state must be one of"):
        make_queue("missing", state="purple")
