"""Pages and the files that they load, as the server sends them."""

import re

import pytest

from tagrank.app.web.application import desk_app
from tagrank.app.web.pages import PAGES, MenuEntry, StaticFiles
from tagrank.desk.queues import QUEUES, Missing
from tests.app.web.conftest import BASE, PASSWORD, TestClient

ALL = [*(path for path, _ in PAGES.values()), "/pictures/1"]


@pytest.mark.parametrize("path", ALL)
def test_every_page_comes_with_nothing_inline_and_nothing_from_outside(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"https?://|<script>|<style|\sstyle=|\son\w+=|javascript:", answer.text)
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
        assert browser.get(address).status_code == 200


def test_files_are_kept_for_ever_under_an_address_that_changes_with_them(browser, tmp_path):
    static = StaticFiles()
    name = next(iter(static._files))
    kept = browser.get(static.address(name))
    assert "immutable" in kept.headers["cache-control"]
    assert browser.get(f"/static/before/{name}").headers["cache-control"] == "no-cache"
    for content in (b"a", b"b"):
        (tmp_path / "x.js").write_bytes(content)
        assert StaticFiles(tmp_path).address("x.js") != static.version
    (tmp_path / "x.js").write_bytes(b"a")
    assert StaticFiles(tmp_path).version != static.version


@pytest.mark.parametrize("path", ALL)
def test_without_the_token_a_page_says_where_to_find_it(outside, path):
    answer = outside.get(path)
    assert answer.status_code == 401
    assert "address that the command printed" in answer.text


def test_where_people_sign_in_they_are_led_there_and_back(new_browser):
    browser = new_browser()
    answer = browser.get("/wall?queue=tag&tag=a b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/wall%3Fqueue%3Dtag%26tag%3Da%2520b"
    page = browser.get(answer.headers["location"])
    assert 'data-next="/wall?queue=tag&amp;tag=a%20b"' in page.text
    browser.post("/api/sign-in", json={"name": "anna", "password": PASSWORD})
    assert browser.get("/sign-in?next=/tags").headers["location"] == "/tags"
    assert browser.get("/sign-in?next=//evil.example").headers["location"] == "/"


def test_the_name_of_a_person_is_text(new_browser):
    browser = new_browser()
    browser.post("/api/sign-in", json={"name": "<b onclick=x>'\"", "password": PASSWORD})
    page = browser.get("/").text
    assert "<b onclick" not in page
    assert "&lt;b onclick=x&gt;" in page


def test_what_is_wrong_is_told_on_a_page(browser):
    answer = browser.get("/nothing<script>")
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
    assert "<script>" not in answer.text
    assert browser.get("/pictures/abc").status_code == 422
    assert browser.get(f"{BASE}/", headers={"Host": "evil.example"}).status_code == 421


@pytest.fixture
def open_app(desk, security):
    """Opens addresses of an application that is made now, as a browser that came with the token."""

    def get(address):
        client = TestClient(desk_app(desk, security), base_url=BASE, headers={"Origin": BASE})
        return client.get(address, headers={"Authorization": "Bearer the-token"})

    return get


def test_a_toy_page_is_an_entry(open_app, monkeypatch):
    assert open_app("/toy").status_code == 404
    pages = {"history": MenuEntry("/toy", "A toy")}
    monkeypatch.setattr("tagrank.app.web.pages.PAGES", PAGES | pages)
    page = open_app("/toy")
    assert page.status_code == 200
    assert "<title>A toy · tagrank</title>" in page.text
    assert '<a href="/toy" aria-current="page">A toy</a>' in page.text
    assert '<a href="/toy">A toy</a>' in open_app("/").text


def test_a_toy_queue_is_on_the_pages_and_in_the_api(open_app, desk, monkeypatch):
    class Toy(Missing):
        name, title, about = "toy", "A toy", "Nothing."

    option = '<option value="toy">A toy</option>'
    assert option not in open_app("/wall").text
    assert open_app("/api/wall?queue=toy").status_code == 422
    monkeypatch.setitem(QUEUES, "toy", Toy)
    assert option in open_app("/wall").text
    assert option in open_app("/review").text
    assert open_app("/api/wall?queue=toy&tag=boats").json()["items"]
    assert desk.calls[-1] == ("wall", Toy(tag="boats"))
    assert open_app("/api/next?queue=toy").status_code == 200


def test_pages_know_which_queues_need_a_tag_and_which_keep_tags(open_app):
    assert '<option value="tag" data-needs-tag>' in open_app("/wall").text
    assert '<option value="wrong" data-keeps-tags>' in open_app("/review").text
    assert 'value="tag"' not in open_app("/review").text
    assert 'data-need-tag="tag"' in open_app("/").text
    assert '<option value="audit" data-wants-all>' in open_app("/review").text
    assert 'value="audit"' not in open_app("/wall").text
    assert 'data-want-all="audit"' in open_app("/").text
