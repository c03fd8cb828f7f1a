"""The whole desk over HTTP: the real archive and queues behind the real application."""

import pytest
from PIL import Image

from tagrank.app.web.application import desk_app
from tagrank.app.web.protection.guard import HostNames
from tagrank.app.web.protection.security import Security
from tagrank.app.web.protection.sessions import SessionFile, Sessions
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.desk.desk import Desk
from tests.app.web.conftest import BASE, PASSWORD, TestClient

SQL = ["' OR 1=1 --", "'; DROP TABLE decisions; --", "%' UNION SELECT value FROM settings --", "\\", "%", '"']


@pytest.fixture(scope="module")
def real_desk(tmp_path_factory):
    """Untagged pictures: nothing is trained."""
    folder = tmp_path_factory.mktemp("archive")
    for k, pixels in enumerate(draw_pictures(6, size=32).view("pictures")):
        Image.fromarray(pixels).save(folder / f"{k}.png")
    with Desk.open(folder, features=["hsv"], train_after=0) as desk:
        yield desk


@pytest.fixture
def people(real_desk, stored_password):
    """Two browsers, of anna and ben."""
    sessions = Sessions(SessionFile(real_desk.archive.own.folder / "sessions.json"), stored_password)
    app = desk_app(real_desk, Security(HostNames(), sessions, password=stored_password, port=8477))
    browsers = []
    for name in ("anna", "ben"):
        browser = TestClient(app, base_url=BASE, headers={"Origin": BASE}, follow_redirects=False)
        assert browser.post("/api/sign-in", json={"name": name, "password": PASSWORD}).status_code == 200
        browsers.append(browser)
    return browsers


def decide(browser, request, *answers):
    given = [{"picture": picture, "tag": tag, "answer": answer} for picture, tag, answer in answers]
    return browser.post("/api/decisions", json={"request": request, "answers": given})


@pytest.mark.parametrize("text", SQL)
@pytest.mark.parametrize("path", ["/api/wall", "/api/next", "/api/pictures"])
def test_sql_in_filters_finds_nothing_and_changes_nothing(people, path, text):
    for name in ("tag", "text", "folder"):
        answer = people[0].get(path, params={name: text, "queue": "all"})
        assert answer.status_code in (200, 404, 422)
        if answer.status_code == 200:
            assert not answer.json().get("items")
            assert answer.json().get("picture") is None
    assert people[0].get("/api/pictures").json()["total"] == 6


@pytest.mark.parametrize("cursor", ["x", "-1", "1;DROP TABLE pictures", "9" * 100, "[1]"])
def test_a_cursor_that_was_not_given_is_refused(people, cursor):
    for path in ("/api/wall?queue=all", "/api/pictures?limit=2"):
        assert people[0].get(path, params={"cursor": cursor}).status_code in (200, 422)


def test_markup_in_a_tag_comes_back_as_it_went(people):
    tag = "<img src=x onerror=alert(1)>"
    assert decide(people[0], "markup", (1, tag, "no")).status_code == 200
    assert tag in [pair["tag"] for pair in people[0].get("/api/history").json()["decisions"]]
    answer = people[0].get("/api/complete", params={"text": "<img"})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("tag", ["a\nb", "a\0b", "\x1b[31m", " ", "x" * 201])
def test_a_tag_that_cannot_be_seen_is_refused_or_cleaned(people, tag):
    answer = decide(people[0], f"odd-{len(tag)}-{ord(tag[0])}", (1, tag, "no"))
    known = people[0].get("/api/complete", params={"text": ""}).json()["tags"]
    assert answer.status_code in (200, 422)
    assert all(name.isprintable() and name.strip() == name for name in known)


def test_two_people_get_different_pictures(people):
    shown = [person.get("/api/next?queue=untagged").json()["picture"]["id"] for person in people]
    assert shown[0] != shown[1]


def test_a_picture_that_is_not_there_is_not_decided(people):
    assert decide(people[0], "nowhere", (999, "sea", "no")).status_code == 404
    assert people[0].get("/images/999").status_code == 404


def test_the_same_request_again_changes_nothing(people):
    first, again = (decide(people[0], "same", (2, "sea", "no")).json() for _ in range(2))
    assert first["batch"] == again["batch"]
    assert first["decisions"] == again["decisions"]


def test_undo_is_of_ones_own(people):
    decide(people[0], "of-anna", (3, "sea", "no"))
    decide(people[1], "of-ben", (4, "sea", "no"))
    undone = people[0].post("/api/undo", json={"request": "undo-of-anna"}).json()
    assert [cell["picture"] for cell in undone["restored"]] == [3]


def test_decisions_go_out_and_come_in(people, real_desk):
    decide(people[0], "out", (5, "snow", "no"))
    file = people[0].get("/api/export?format=csv")
    assert b"snow" in file.content
    taken = people[0].post("/api/import?format=csv&dry_run=true", content=file.content)
    assert taken.status_code == 200
    assert taken.json()["applied"] is False
    nonsense = people[0].post("/api/import?format=jsonl&dry_run=true", content=b"\xff\xfe not json")
    assert nonsense.status_code == 422 or nonsense.json()["problems"]


def test_a_session_outlives_a_restart(people, real_desk, stored_password):
    sessions = Sessions(SessionFile(real_desk.archive.own.folder / "sessions.json"), stored_password)
    again = desk_app(real_desk, Security(HostNames(), sessions, password=stored_password, port=8477))
    browser = TestClient(again, base_url=BASE, cookies=people[1].cookies)
    assert browser.get("/api/overview").json()["person"] == "ben"


def test_a_full_disk_is_said_aloud_and_nothing_is_recorded(people, real_desk, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    before = real_desk.archive.n_decisions()
    monkeypatch.setattr(real_desk.archive, "decide", full)
    answer = decide(people[0], "full", (1, "sea", "no"))
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    assert real_desk.archive.n_decisions() == before
