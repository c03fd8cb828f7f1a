"""Pages and the files that they load, as the server sends them."""

import re

import pytest

from tagrank.app.web.pages import StaticFiles
from tagrank.app.web.routes_pages import PAGES
from tests.app.web.conftest import BASE, PASSWORD

ALL = [*PAGES, "/pictures/1"]


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
