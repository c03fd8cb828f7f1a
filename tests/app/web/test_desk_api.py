"""The desk over HTTP: every address answers as its page reads it."""

import pytest

YES = {"picture": 1, "tag": "boats", "answer": "yes"}


def decide(browser, request="a", **more):
    return browser.post(
        "/api/decisions", json={"request": request, "queue": "missing", "answers": [YES], **more}
    )


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/api/overview", {"archive", "progress", "queues", "model", "training", "person"}),
        ("/api/tags?text=boa", {"tags"}),
        ("/api/complete?text=bo", {"tags", "known", "near", "meant"}),
        (
            "/api/wall?queue=missing&tag=&folder=&state=&text=&start=&end=&limit=60&cursor=",
            {"items", "cursor", "total", "rule", "right", "nothing"},
        ),
        ("/api/next?queue=missing&after=3", {"picture", "tags", "proposed", "doubtful", "left", "nothing"}),
        ("/api/pictures?limit=5", {"items", "cursor", "total"}),
        ("/api/pictures/1", {"picture", "tags", "proposed", "doubtful", "left", "nothing"}),
        ("/api/history?limit=5", {"decisions"}),
        ("/api/steps?limit=5", {"steps", "next"}),
        ("/api/vocabulary", {"tags", "conflicts", "n_conflicts", "circles", "history"}),
        ("/api/why?picture=1&tag=boats", {"tag", "probability", "note", "for", "against", "features"}),
        ("/api/models", {"models"}),
    ],
)
def test_what_is_asked_is_answered_in_its_shape(browser, path, keys):
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer.json().keys() == keys


def test_a_decision_carries_the_name_of_its_person(browser, desk):
    assert decide(browser).json() == {"batch": 1, "decisions": 1, "due_in": 49}
    assert desk.decided[1, "boats"] == ("yes", "anna")
    assert browser.get("/api/overview").json()["person"] == "anna"


def test_the_same_request_counts_once(browser, desk):
    assert decide(browser).json() == decide(browser).json()
    assert len(desk.batches) == 1


def test_undo_takes_the_last_step_back(browser, desk):
    decide(browser)
    answer = browser.post("/api/undo", json={"request": "b"})
    assert answer.json()["restored"][0]["tag"] == "boats"
    assert not desk.decided
    assert browser.post("/api/undo", json={"request": "c"}).status_code == 404


def test_training_is_started_and_cancelled(browser):
    assert browser.post("/api/training", json={"fresh": False}).json()["state"] == "running"
    assert browser.delete("/api/training").json()["state"] == "cancelled"


def test_a_model_is_chosen_by_its_number(browser):
    assert browser.post("/api/models/2/use", json={}).json()["models"][0]["current"]
    assert browser.post("/api/models/9/use", json={}).status_code == 404
    browser.post("/api/models/1/use", json={})


def test_pictures_are_jpegs_that_the_browser_keeps(browser):
    answer = browser.get("/thumbnails/1?side=256")
    assert answer.content.startswith(b"\xff\xd8")
    assert "private" in answer.headers["cache-control"]
    again = browser.get("/thumbnails/1?side=256", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_decisions_leave_and_come_back(browser, desk):
    decide(browser)
    answer = browser.get("/api/export?format=csv")
    assert b"boats,yes" in answer.content
    assert answer.headers["content-disposition"] == 'attachment; filename="drawn-decisions.csv"'
    taken = browser.post("/api/import?format=csv&dry_run=true", content=answer.content)
    assert taken.json()["applied"] is False
    assert browser.post("/api/sidecars", json={"dry_run": True, "style": "stem"}).json()["changes"] == []
    assert browser.post("/api/sidecars", json={"style": "lightroom"}).status_code == 422
    assert browser.post("/api/tag-list", json={"dry_run": True}).json()["action"] == "keep"
    answer = browser.get("/api/export?format=tags")
    assert answer.headers["content-disposition"] == 'attachment; filename="drawn-tags.csv"'
    assert browser.post("/api/scan", json={}).json()["pictures"] == 40


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("no such queue"), 422),
        (LookupError("gone"), 404),
        (OSError(28, "No space left on device"), 507),
    ],
)
def test_what_the_desk_refuses_is_said_in_a_sentence(browser, desk, monkeypatch, error, status):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(desk, "decide", fail)
    answer = decide(browser)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert str(error.args[-1]) in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"request": "a", "answers": [{**YES, "answer": "perhaps"}]},
        {"request": "a", "answers": [{**YES, "picture": -1}]},
        {"request": "a", "answers": [{**YES, "tag": ""}]},
        {"request": "a", "answers": [YES], "unknown": 1},
        {"request": "a" * 101, "answers": [YES]},
        {"request": "a", "answers": [YES], "shown": {"queue": "nonsense"}},
        {"request": "a", "answers": [YES], "shown": {"unknown": 1}},
        {"request": "a", "answers": [YES] * 1001},
    ],
)
def test_a_decision_that_cannot_be_meant_is_refused(browser, desk, body):
    answer = browser.post("/api/decisions", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert not desk.batches


def test_the_addresses_are_described_for_programs(browser):
    paths = browser.get("/api/openapi.json").json()["paths"]
    assert {"/api/decisions", "/api/wall", "/api/training"} <= paths.keys()
    assert "/sign-in" not in paths
