"""The queue of the audit: whole pictures at random, and what being done with one of them says."""

import numpy as np
import pytest

from tagrank.archive import Answer
from tagrank.archive.audits import AUDIT
from tagrank.data.readers.audit_list import audit_order
from tagrank.desk.learning.examples import Examples
from tagrank.desk.learning.learn import learn
from tagrank.desk.queues import make_queue
from tests.desk.conftest import names
from tests.desk.learning.test_learn import examples

QUEUE = make_queue(AUDIT)


def told(desk):
    return {row["name"]: row for row in desk.overview()["queues"]}[AUDIT]


def complete(desk, picture, *answers):
    given = [Answer(picture, tag, answer) for tag, answer in answers]
    desk.decide(given, who="anna", request=f"done {picture}", queue=AUDIT, reviewed=[picture])


def drawn(archive):
    """Numbers of the pictures that list a tag, in the order of the audit."""
    ids = archive.pictures().ids
    return [int(ids[row]) for row in audit_order(names()) if row < 10]


def test_pictures_come_in_the_order_of_the_audit_whatever_was_done_elsewhere(make_desk, archive):
    desk = make_desk()
    first, second, third, *_ = drawn(archive)
    desk.decide([], who="anna", request="1", queue="missing", reviewed=[first, third])
    assert desk.next(QUEUE, who="anna")["picture"]["id"] == first
    complete(desk, first)
    assert desk.next(QUEUE, who="anna")["picture"]["id"] == second
    complete(desk, second)
    shown = desk.next(QUEUE, who="anna")
    assert (shown["picture"]["id"], shown["left"]) == (third, 8)
    # what is chosen by a filter says nothing of all pictures
    assert desk.next(make_queue(AUDIT, folder="summer"), who="ben")["picture"]["id"] in drawn(archive)[3:4]


def test_what_it_tells_follows_marks_and_undo(make_desk, archive):
    desk = make_desk()
    assert told(desk)["count"] == 10
    assert told(desk)["about"].endswith("Audit all 10 to know how complete the tags are.")
    for picture in drawn(archive)[:9]:
        complete(desk, picture)
    assert "9 pictures audited; at least 10 are needed to estimate" in told(desk)["about"]
    listed = archive.states_of(drawn(archive)[9])
    missing = next(tag for tag in ("boat", "sea", "sky") if tag not in listed)
    complete(desk, drawn(archive)[9], (missing, "yes"))
    assert "10 pictures audited: " in told(desk)["about"]
    assert "of the true tags are listed" in told(desk)["about"]
    assert told(desk)["count"] == 0
    assert desk.next(QUEUE, who="anna")["nothing"] == "decided"
    desk.undo(who="anna", request="back")
    assert told(desk)["count"] == 1
    assert desk.next(QUEUE, who="anna")["picture"]["id"] == drawn(archive)[9]


@pytest.fixture(scope="module")
def audited_examples():
    """Rows that lack half of their tags, of which forty were audited."""
    rng = np.random.default_rng(1)
    whole = examples(n=300, untagged=0)
    true = whole.rows.labels > 0
    listed = true & (rng.random(true.shape) < 0.5)
    listed[~listed.any(axis=1)] = true[~listed.any(axis=1)]
    audited = np.isin(np.arange(300), rng.choice(300, 40, replace=False))
    labels = np.where(audited[:, None], true, listed).astype(float)
    rows = whole.rows.with_labels(labels).replaced(
        names=[f"{i}" for i in range(300)], audited=[f"{i}" for i in np.flatnonzero(audited)]
    )
    found = np.nonzero(audited[:, None] & true & ~listed)
    return Examples(rows, whole.ids, found), true, listed, audited


def test_the_model_of_the_desk_learns_from_the_audit(audited_examples):
    given, true, listed, audited = audited_examples
    learned = learn(given)
    share = listed.sum() / true.sum()
    assert learned.completeness.n_audited == 40
    assert learned.completeness.low <= share <= learned.completeness.high
    # nothing is proposed where somebody looked, and nothing of it is missing
    assert learned.proposed()[audited][~true[audited]].max() < 0.001
    assert not learned.open_probabilities()[audited].any()
    missing = learned.missing
    assert missing.low <= np.count_nonzero(true & ~listed & ~audited[:, None]) <= missing.high
