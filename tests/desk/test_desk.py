import json
import threading

import numpy as np
import pytest

from tagrank.desk.desk import Desk
from tagrank.desk.learning.models import model_rows
from tagrank.desk.queues import make_queue
from tests.desk.conftest import N_PICTURES, TAGS, as_answers
from tests.desk.fakes import FakeModels, FakeProposals, FakeTrainer


def decide(desk, cells, *, request, who="anna", answer="yes"):
    answers = [{"picture": int(picture), "tag": tag, "answer": answer} for picture, tag in cells]
    return desk.decide(as_answers(answers), who=who, request=request)


@pytest.fixture
def ids(archive):
    return archive.pictures().ids


def test_the_overview_counts(make_desk, ids, probabilities):
    desk = make_desk()
    decide(desk, [(ids[10], "sea")], request="a")
    decide(desk, [(ids[0], "tree"), (ids[1], "tree")], request="b", answer="no")
    desk.decide(who="anna", request="c", reviewed=[int(ids[0])])
    found = desk.overview()
    assert found["archive"] == {
        "name": "holiday",
        "pictures": N_PICTURES,
        "tagged": 11,
        "untagged": 1,
        "tags": len(TAGS),
    }
    progress = found["progress"]
    assert [progress[word] for word in ("decisions", "yes", "no", "skip", "reviewed")] == [3, 1, 2, 0, 1]
    assert progress["share_reviewed"] == 1 / N_PICTURES
    assert found["model"] == {
        "number": 1,
        "made": "2024-05-01T12:00:00",
        "method": "fake",
        "metrics": {"MAP": 0.5},
        "quality": None,
        "is_compared": False,
    }
    counts = {queue["name"]: queue["count"] for queue in found["queues"]}
    assert counts["all"] == N_PICTURES - 1
    assert counts["untagged"] == 1
    is_open = np.ones((N_PICTURES, len(TAGS)), dtype=bool)
    is_open[np.arange(10), np.arange(10) % 3] = False
    is_open[[10, 0, 1], [1, 3, 3]] = False
    assert counts["missing"] == np.count_nonzero(is_open & (probabilities >= 0.2))


def test_missing_tags_are_estimated_from_what_is_open(make_desk, archive, ids, probabilities):
    desk = make_desk()
    is_open = np.ones((N_PICTURES, len(TAGS)), dtype=bool)
    is_open[np.arange(10), np.arange(10) % 3] = False

    def of_open():
        return probabilities[is_open].astype(np.float16).astype(float)

    def expected(n_accepted=0):
        p, width = of_open(), 1.96 * np.sqrt(np.sum(of_open() * (1 - of_open())))
        low, high = p.sum() - width, p.sum() + width
        estimate = min(whole - n_accepted, high)
        return {
            "estimate": round(estimate),
            "low": int(min(low, estimate)),
            "high": int(np.ceil(high)),
            "proposed": round(p[p >= 0.2].sum() * estimate / p.sum()),
            "is_told": True,
        }

    whole = of_open().sum()
    assert desk.overview()["progress"]["missing"] == expected()
    # each that is accepted is missing no more, each that is rejected never was
    decide(desk, [(ids[i], "tree") for i in range(3)], request="a")
    is_open[:3, 3] = False
    assert desk.overview()["progress"]["missing"] == expected(3)
    decide(desk, [(ids[3], "tree")], request="b", answer="no")
    is_open[3, 3] = False
    assert desk.overview()["progress"]["missing"] == expected(3)
    for request, n_accepted, row in (("c", 3, 3), ("d", 0, slice(0, 3))):
        desk.undo(who="anna", request=request)
        is_open[row, 3] = True
        assert desk.overview()["progress"]["missing"] == expected(n_accepted)


def test_models_are_compared_on_the_labels_of_the_newest():
    facts = {"made": "2026-01-01", "method": "x", "decisions": 0, "last_decision": 0}
    old, now = ({"right": share, "sentence": str(share)} for share in (0.5, 0.6))
    newest = {"number": 3, **facts, "metrics": {"MAP": 0.7}, "quality": now}
    newest["others"] = {"2": {"metrics": {"MAP": 0.6}, "quality": old}}
    second = {"number": 2, **facts, "metrics": {"MAP": 0.9}, "quality": now}
    first = {"number": 1, **facts, "metrics": {"MAP": 0.8}}
    rows = model_rows([newest, second, first], 2)
    assert [row["metrics"]["MAP"] for row in rows] == [0.7, 0.6, 0.8]
    assert [row["quality"] for row in rows] == [now, old, None]
    assert [row["is_compared"] for row in rows] == [True, True, False]
    assert [row["current"] for row in rows] == [False, True, False]
    assert all("others" not in row for row in rows)
    assert model_rows([], None) == []


def test_the_model_tells_how_unsure_the_estimate_is(archive, ids, probabilities):
    proposals = FakeProposals(1, ids, TAGS, probabilities)
    proposals.facts["missing"] = {"estimate": 100, "low": 50, "high": 300}
    desk = Desk(archive, FakeModels(proposals), FakeTrainer(), cache=False)
    found = desk.overview()["progress"]["missing"]
    assert found["low"] == pytest.approx(found["estimate"] / 2, abs=1)
    assert found["high"] == pytest.approx(found["estimate"] * 3, abs=2)
    desk.close()


def test_a_tag_is_complete_when_nothing_probable_is_left_and_somebody_looked(make_desk, ids, probabilities):
    desk = make_desk()
    rows = np.flatnonzero(probabilities[:, 3] >= 0.2)
    before = next(row for row in desk.tags("tre")["tags"])
    assert before == {
        "tag": "tree",
        "present": 0,
        "proposed": len(rows),
        "yes": 0,
        "no": 0,
        "complete": False,
    }
    decide(desk, [(ids[i], "tree") for i in rows], request="a", answer="no")
    after = desk.tags("TREE")["tags"]
    assert after == [before | {"proposed": 0, "no": len(rows), "complete": True}]
    assert desk.overview()["progress"]["tags_complete"] == 1


def test_a_text_becomes_tags_that_begin_with_it_first(make_desk, ids):
    desk = make_desk()
    decide(desk, [(ids[0], "blue sky"), (ids[1], "skyline")], request="a")
    assert desk.complete("sky")["tags"] == ["sky", "skyline", "blue sky"]


def test_the_same_request_counts_once(make_desk, ids):
    desk = make_desk()
    first = decide(desk, [(ids[0], "tree")], request="a")
    assert decide(desk, [(ids[0], "tree")], request="a") == first
    assert first["due_in"] == 49


def test_training_begins_after_some_decisions_and_renews_the_queues(archive, ids, probabilities):
    models, trainer = FakeModels(FakeProposals(1, ids, TAGS, probabilities)), FakeTrainer()
    desk = Desk(archive, models, trainer, cache=False, train_after=3)
    shown = desk.wall(who="anna", limit=5)
    decide(desk, [(ids[0], "new"), (ids[1], "new")], request="a")
    assert trainer.started == []
    assert decide(desk, [(ids[2], "tree")], request="b")["due_in"] == 3
    assert trainer.started == [False]
    decide(desk, [(ids[k], "other") for k in range(3)], request="c")
    assert trainer.started == [False]
    models.by_number[2] = FakeProposals(
        2, ids, [*TAGS, "new"], np.column_stack([1 - probabilities, probabilities[:, 0]])
    )
    trainer.finish(2)
    assert desk.overview()["model"]["number"] == 2
    assert trainer.started == [False, False]
    rest = desk.wall(who="anna", limit=100, cursor=shown["cursor"])
    cells = [[(item["picture"]["id"], item["tag"]) for item in wall["items"]] for wall in (shown, rest)]
    assert not set(cells[0]) & set(cells[1])
    assert {"new"} < {tag for _, tag in cells[1]}
    values = [item["probability"] for item in rest["items"]]
    assert values == sorted(values, reverse=True)
    desk.close()


def test_a_new_tag_is_learned_from_its_third_example(make_desk, ids):
    desk = make_desk()
    for k in range(2):
        decide(desk, [(ids[k], "new"), (ids[k], "tree")], request=f"{k}")
        assert desk.learning.training()["state"] == "idle"
    decide(desk, [(ids[2], "new")], request="third")
    assert desk.learning.training()["state"] == "running"


def test_nothing_is_trained_again_that_the_last_training_has_learned(archive, ids, probabilities):
    models, trainer = FakeModels(FakeProposals(1, ids, TAGS, probabilities)), FakeTrainer()
    with Desk(archive, models, trainer, cache=False, train_after=2) as desk:
        decide(desk, [(ids[0], "new"), (ids[1], "new")], request="a")
        decide(desk, [(ids[2], "new"), (ids[3], "new")], request="b")
        models.by_number[2] = FakeProposals(2, ids, TAGS, probabilities)
        models.by_number[2].facts["last_decision"] = archive.last_decision()
        trainer.finish(2)
        assert trainer.started == [False]
        assert desk.learning.training()["due_in"] == 2


def test_the_first_model_is_trained_at_once(make_desk):
    desk = make_desk(n_models=0)
    assert desk.learning.training()["state"] == "running"
    assert desk.learning.cancel()["state"] == "cancelled"


def test_one_can_go_back_to_an_older_model(make_desk):
    desk = make_desk(n_models=2)
    assert [(facts["number"], facts["current"]) for facts in desk.learning.models()["models"]] == [
        (2, True),
        (1, False),
    ]
    assert [facts["current"] for facts in desk.learning.use(1)["models"]] == [False, True]
    assert desk.overview()["model"]["number"] == 1


def test_a_scan_keeps_decisions_and_models(make_desk, ids):
    desk = make_desk()
    decide(desk, [(ids[0], "tree"), (ids[3], "new")], request="a")
    before = desk.wall(who="anna", limit=100)["items"]
    found = desk.scan()
    assert found == {name: [] for name in ("added", "moved", "changed", "gone", "problems")} | {
        "pictures": N_PICTURES
    }
    assert desk.wall(who="anna", limit=100)["items"] == before
    assert desk.overview()["progress"]["decisions"] == 2


def test_many_threads_decide_and_look(make_desk, ids):
    desk = make_desk(train_after=0)
    failures = []

    def work(person):
        try:
            for number in range(5):
                for item in desk.wall(who=person, limit=1)["items"]:
                    decide(
                        desk, [(item["picture"]["id"], item["tag"])], request=f"{person}{number}", who=person
                    )
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"p{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    cells = [(row["picture"], row["tag"]) for row in desk.history()["decisions"] if not row["undone"]]
    assert len(set(cells)) == len(cells) == desk.overview()["progress"]["decisions"] == 30


def test_answers_are_plain_values(make_desk, ids):
    desk = make_desk()
    decide(desk, [(ids[0], "tree"), (ids[11], "sea")], request="a")
    answers = [
        desk.overview(),
        desk.tags(),
        desk.complete(),
        desk.pictures(),
        desk.picture(1),
        desk.history(),
    ]
    answers += [
        desk.wall(make_queue(queue, tag="sea"), who="anna") for queue in ("missing", "untagged", "tag", "all")
    ]
    answers += [
        desk.next(who="anna"),
        desk.learning.models(),
        desk.learning.training(),
        desk.scan(),
        desk.undo(who="anna", request="b"),
    ]
    for answer in answers:
        assert json.loads(json.dumps(answer)) == answer


def test_history_says_who_and_what_was_undone(make_desk, ids):
    desk = make_desk()
    decide(desk, [(ids[0], "boat")], request="a", answer="no")
    desk.undo(who="anna", request="b")
    (row,) = [row for row in desk.history()["decisions"] if row["by"] == "anna"]
    assert (row["answer"], row["before"], row["undone"], row["name"]) == ("no", "present", True, "00.png")


def test_steps_list_all_that_can_be_undone_and_undo_says_what_it_was(make_desk, archive):
    desk = make_desk()
    first, second = archive.pictures().ids[:2].tolist()
    answers = [{"picture": one, "tag": "sky", "answer": "yes"} for one in (first, second)]
    desk.decide(as_answers(answers), who="anna", request="a")
    desk.decide(who="anna", request="b", reviewed=[first])
    more = [
        {"picture": first, "tag": "tree", "answer": "no"},
        {"picture": first, "tag": "sea", "answer": "skip"},
    ]
    desk.decide(as_answers(more), who="ben", request="c", reviewed=[first])
    told = desk.steps(who="anna")
    said = [(step["by"], step["said"], step["answers"]) for step in told["steps"][:3]]
    assert said == [
        ("ben", "2 decisions about 2 tags and 1 picture marked as done", {"no": 1, "skip": 1}),
        ("anna", "1 picture marked as done", {}),
        ("anna", "2 decisions about “sky”", {"yes": 2}),
    ]
    assert told["next"] == told["steps"][1]["batch"]
    undone = desk.undo(who="anna", request="d")
    assert (undone["said"], undone["reviewed"]) == ("1 picture marked as done undone.", [first])
    assert desk.undo(who="anna", request="e")["said"] == "2 decisions about “sky” undone."
    assert desk.steps(who="anna")["next"] is None
    assert [step["undone"] for step in desk.steps(who="anna")["steps"][:3]] == [False, True, True]


def test_undo_says_what_was_decided_again_and_is_kept(make_desk, archive):
    desk = make_desk()
    picture = int(archive.pictures().ids[0])
    for who, request, answer in (("anna", "a", "yes"), ("ben", "b", "no")):
        answers = [{"picture": picture, "tag": "sky", "answer": answer}]
        desk.decide(as_answers(answers), who=who, request=request)
    said = desk.undo(who="anna", request="c")["said"]
    assert said == "0 decisions undone; later decisions about the same tags are kept (1)."


def test_steps_come_page_by_page(make_desk, archive):
    desk = make_desk()
    for k in range(5):
        desk.decide(who="anna", request=f"r{k}", reviewed=[int(archive.pictures().ids[k])])
    first = desk.steps(who="anna", limit=3)["steps"]
    second = desk.steps(who="anna", limit=3, before=first[-1]["batch"])["steps"]
    found = [step["reviewed"][0]["picture"] for step in first + second[:2]]
    assert found == archive.pictures().ids[4::-1].tolist()
