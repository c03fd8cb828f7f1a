"""The desk as a keeper uses it, in a real browser on a real server."""

import json

import pytest

from tests.app.web.browser.conftest import MARKUP, sign_in
from tests.app.web.browser.live_desk import PASSWORD

pytestmark = pytest.mark.usefixtures("model")
# what a page shows once it has its answer
PAGES = {
    "/": "#queue-list li",
    "/wall": ".tile",
    "/review?queue=all": ".row",
    "/pictures": "#browse li",
    "/tags": "#tags tbody tr",
    "/models": "#models tbody tr",
    "/history": ".step",
    "/archive": "#scan",
}
SMALL_OR_NAMELESS = """() =>
  [...document.querySelectorAll('button, select, input, .button, nav a')]
    .filter((node) => node.offsetParent !== null)
    .filter((node) => node.getBoundingClientRect().height < 24
      || !(node.ariaLabel || node.textContent.trim() || node.labels?.length))
    .map((node) => node.outerHTML)"""
LOST = ("Failed to load resource",)


def history(context, **choices):
    """Decisions that count, the latest first."""
    found = context.request.get("/api/history", params={"limit": 1000} | choices).json()["decisions"]
    return [one for one in found if not one["undone"]]


def pairs_of(page):
    """What the tiles of a wall say, without what will be decided about them."""
    labels = [tile.get_attribute("aria-label") for tile in page.locator(".tile").all()]
    return [label.split(": ", 1)[1] for label in labels]


def open_wall(open_page, context, choices="queue=missing", **options):
    page = open_page(context, f"/wall?{choices}", **options)
    page.locator(".tile").first.wait_for()
    return page


def wait_until_sent(page):
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.startsWith('tagrank/'))")


def accept(page):
    """Press Enter; answers how many decisions that makes."""
    shown = pairs_of(page)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "(first) => !document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=shown[0]
    )
    return len(shown)


class TestStart:
    def test_signing_in_leads_back_to_what_was_asked_for(self, browser, desk, open_page):
        context = browser.new_context(base_url=desk.address)
        page = open_page(context, "/tags", may_fail=LOST)
        page.get_by_label("Name").fill("clara")
        page.get_by_label("Password").fill("a guess")
        page.get_by_role("button", name="Sign in").click()
        assert "wrong" in page.get_by_role("alert").filter(has_text="password").inner_text()
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.locator(PAGES["/tags"]).first.wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in")
        context.close()

    def test_progress_queues_and_model(self, page):
        page.get_by_role("heading", name="photos").wait_for()
        assert page.locator("#summary").inner_text().startswith("60 pictures, ")
        assert "between" in page.locator("#missing").inner_text()
        assert page.locator("#missing svg line.range").count() == 1
        page.get_by_role("listitem").filter(has_text="Untagged").get_by_role(
            "link", name="By picture"
        ).click()
        page.wait_for_url("**/review?queue=untagged*")

    def test_an_archive_without_tags_says_what_to_do_first(self, open_page, anna):
        page = open_page(anna, "/history")
        found = anna.request.get("/api/overview").json()
        found["archive"] |= {"tagged": 0, "tags": 0}
        page.route("**/api/overview", lambda route: route.fulfill(json=found))
        page.goto("/")
        page.get_by_role("link", name="Type the first tags").click()
        page.wait_for_url("**/review?queue=untagged*")


class TestByTag:
    def test_click_sweep_and_keys_mark_what_is_wrong(self, open_page, anna):
        page = open_wall(open_page, anna)
        tiles = page.locator(".tile")
        tiles.nth(0).click()
        first, last = tiles.nth(2).bounding_box(), tiles.nth(5).bounding_box()
        page.mouse.move(first["x"] + 30, first["y"] + 30)
        page.mouse.down()
        page.mouse.move(last["x"] + 30, last["y"] + 30, steps=3)
        page.mouse.up()
        tiles.nth(7).click()
        tiles.nth(9).click(modifiers=["Shift"])
        page.keyboard.press("ArrowRight")
        page.keyboard.press("s")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        n = tiles.count()
        assert page.locator("#accept").inner_text() == f"Accept {n - 9}, reject 8, skip 1"
        assert accept(page) == n
        wait_until_sent(page)
        latest = history(anna)[:n]
        assert len({one["batch"] for one in latest}) == 1
        answers = [one["answer"] for one in latest]
        assert [answers.count(answer) for answer in ("yes", "no", "skip")] == [n - 9, 8, 1]

    def test_undo_brings_the_page_back_with_its_marks(self, open_page, anna):
        page = open_wall(open_page, anna)
        before, n = pairs_of(page), len(history(anna))
        page.locator(".tile").nth(1).click()
        accept(page)
        page.keyboard.press("u")
        page.get_by_text(f"{len(before)} decisions undone.").wait_for()
        assert pairs_of(page) == before
        assert page.locator(".tile").nth(1).get_attribute("aria-selected") == "true"
        assert len(history(anna)) == n

    def test_what_is_perhaps_wrong_is_kept_unless_marked(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=wrong")
        page.locator(".tile").first.click()
        n = page.locator(".tile").count()
        assert page.locator("#accept").inner_text() == f"Keep {n - 1}, remove 1"
        page.locator("#accept").click()
        wait_until_sent(page)
        answers = [one["answer"] for one in history(anna)[:n]]
        assert (answers.count("yes"), answers.count("no")) == (n - 1, 1)
        page.locator("#undo").click()
        page.get_by_text("undone").wait_for()

    def test_one_tag_is_chosen_by_typing(self, open_page, anna):
        page = open_wall(open_page, anna)
        field = page.get_by_role("combobox", name="Tag")
        field.fill("bea")
        page.get_by_role("option", name="beach", exact=True).wait_for()
        field.press("ArrowDown")
        field.press("Enter")
        page.get_by_role("heading", name="beach").wait_for()
        page.locator(".tile[aria-label*=': beach,']").first.wait_for()
        assert "tag=beach" in page.url

    def test_why_and_keys_open_and_close(self, open_page, anna):
        page = open_wall(open_page, anna)
        page.keyboard.press("w")
        page.locator("#why .side.for img").first.wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.get_by_role("heading", name="Keys").wait_for()
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0

    def test_a_held_key_decides_one_page(self, open_page, anna):
        page = open_wall(open_page, anna)
        n = len(history(anna))
        shown = accept(page)
        page.evaluate(
            "document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', {key: 'Enter', repeat: true, bubbles: true}))"
        )
        wait_until_sent(page)
        assert len(history(anna)) == n + shown


class TestByPicture:
    def test_keys_answer_row_after_row(self, open_page, anna):
        page = open_page(anna, "/review?queue=missing")
        page.locator(".row").nth(2).wait_for()
        name = page.locator("#name").inner_text()
        tags = [row.inner_text() for row in page.locator(".row .tag-name bdi").all()[:3]]
        for key in "yns":
            page.keyboard.press(key)
        wait_until_sent(page)
        latest = {one["tag"]: one["answer"] for one in history(anna)[:3] if one["name"] == name}
        assert latest == dict(zip(tags, ("yes", "no", "skip"), strict=True))
        page.keyboard.press("u")
        page.get_by_text("1 decision undone.").wait_for()
        page.wait_for_function(
            "(tag) => [...document.querySelectorAll('.row')].some((row) => "
            "row.dataset.answer === '' && row.querySelector('bdi').textContent === tag)",
            arg=tags[2],
        )

    def test_done_goes_on_and_undo_comes_back(self, open_page, anna):
        page = open_page(anna, "/review?queue=all")
        page.locator(".row").first.wait_for()
        name = page.locator("#name").inner_text()
        page.keyboard.press("Enter")
        page.wait_for_function("(name) => document.getElementById('name').textContent !== name", arg=name)
        page.keyboard.press("u")
        page.wait_for_function("(name) => document.getElementById('name').textContent === name", arg=name)
        assert "reviewed" not in page.locator("#about").inner_text()

    def test_a_new_tag_is_typed_and_said_to_be_new(self, open_page, anna):
        page = open_page(anna, "/review?queue=all")
        page.locator(".row").first.wait_for()
        page.keyboard.press("a")
        page.keyboard.type("lantern <i>")
        page.get_by_role("option", name="lantern <i> new tag").wait_for()
        page.keyboard.press("Enter")
        page.get_by_text("“lantern <i>” is a new tag, and was added.").wait_for()
        wait_until_sent(page)
        assert (history(anna)[0]["tag"], history(anna)[0]["answer"]) == ("lantern <i>", "yes")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.tagName") != "INPUT"

    def test_a_reload_shows_the_same_picture(self, open_page, anna):
        page = open_page(anna, "/review?queue=missing")
        page.locator(".row").first.wait_for()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.getElementById('name').textContent.trim()")
        name = page.locator("#name").inner_text()
        page.reload()
        page.locator(".row").first.wait_for()
        assert page.locator("#name").inner_text() == name


class TestLearning:
    def test_training_shows_what_changed_and_one_can_go_back(self, open_page, anna):
        page = open_page(anna)
        page.get_by_role("button", name="Train now").click()
        page.get_by_role("heading", name="What changed").wait_for(timeout=300_000)
        assert page.locator("#changes-metrics tbody tr").count() >= 1
        page.goto("/models")
        page.get_by_role("button", name="Use model 1").click()
        page.get_by_text("Model 1 answers now.").wait_for()
        page.get_by_role("row").filter(has_text="answers").get_by_role("rowheader", name="1").wait_for()


class TestArchive:
    def test_sidecars_are_shown_before_they_are_written(self, open_page, anna, desk):
        wall = open_wall(open_page, anna)
        accept(wall)
        wait_until_sent(wall)
        page = open_page(anna, "/archive")
        page.locator("#sidecars-look").click()
        page.get_by_text("Nothing is written yet.").wait_for()
        n = page.locator("#sidecars-result tbody tr").count()
        assert n > 0
        assert list(desk.folder.glob("*.xmp")) == []
        page.locator("#sidecars-write").click()
        page.get_by_text(f"{n} sidecars written.").wait_for()
        assert len(list(desk.folder.glob("*.xmp"))) == n

    def test_decisions_go_out_and_come_back_in(self, open_page, anna):
        page = open_page(anna, "/archive")
        with page.expect_download() as downloading:
            page.get_by_role("link", name="CSV").click()
        page.locator("#file").set_input_files(
            {"name": "d.csv", "mimeType": "text/csv", "buffer": downloading.value.path().read_bytes()}
        )
        page.locator("#import").get_by_role("button", name="Show the differences").click()
        page.get_by_text("Nothing would change.").wait_for()

    def test_a_scan_says_what_it_found(self, open_page, anna):
        page = open_page(anna, "/archive")
        page.get_by_role("button", name="Scan").click()
        page.get_by_text("60 pictures.").wait_for()


def test_two_people_get_different_items_and_both_names_are_kept(open_page, anna, browser, desk):
    ben = sign_in(browser, desk, "ben")
    hers, his = open_wall(open_page, anna), open_wall(open_page, ben)
    assert not set(pairs_of(hers)) & set(pairs_of(his))
    his.keyboard.press("Enter")
    wait_until_sent(his)
    page = open_page(anna, "/history")
    page.locator(".step b", has_text="ben").first.wait_for()
    page.locator(".step b", has_text="anna").first.wait_for()
    ben.close()


class TestNothingIsLost:
    def test_a_server_that_is_killed_gets_them_when_it_is_back(self, open_page, anna, desk):
        page = open_wall(open_page, anna, may_fail=LOST)
        n = len(history(anna))
        desk.kill()
        n_decided = accept(page)
        page.get_by_text(f"{n_decided} decisions are waiting: no connection").wait_for()
        desk.start()
        wait_until_sent(page)
        page.locator("#waiting").wait_for(state="hidden")
        assert len(history(anna)) == n + n_decided

    def test_an_answer_that_is_lost_does_not_double_them(self, open_page, anna):
        page = open_wall(open_page, anna, may_fail=LOST)
        n = len(history(anna))
        lost = []

        def lose(route):
            if not lost:
                lost.append(route.fetch().ok)
                route.abort()
            else:
                route.continue_()

        page.route("**/api/decisions", lose)
        n_decided = accept(page)
        wait_until_sent(page)
        assert lost == [True]
        assert len(history(anna)) == n + n_decided

    def test_what_waits_is_sent_after_a_reload(self, open_page, anna):
        page = open_wall(open_page, anna, may_fail=LOST)
        n = len(history(anna))
        page.route("**/api/decisions", lambda route: route.abort())
        n_decided = accept(page)
        page.get_by_text("decisions are waiting").wait_for()
        page.unroute("**/api/decisions")
        page.reload()
        wait_until_sent(page)
        assert len(history(anna)) == n + n_decided

    def test_marks_survive_a_reload(self, open_page, anna):
        page = open_wall(open_page, anna)
        page.locator(".tile").nth(3).click()
        before = pairs_of(page)
        page.reload()
        page.locator(".tile").first.wait_for()
        assert pairs_of(page) == before
        assert page.locator(".tile[aria-selected=true]").count() == 1

    def test_what_is_refused_comes_back_with_a_sentence(self, open_page, anna):
        page = open_wall(open_page, anna, may_fail=LOST)
        before = pairs_of(page)
        refusal = {"status": 507, "json": {"error": "the disk is full"}}
        page.route("**/api/decisions", lambda route: route.fulfill(**refusal))
        page.keyboard.press("Enter")
        page.get_by_text("Not recorded: the disk is full").wait_for()
        page.wait_for_function(
            "(first) => document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=before[0]
        )
        assert pairs_of(page) == before

    def test_whoever_is_signed_out_signs_in_and_goes_on(self, open_page, browser, desk):
        context = sign_in(browser, desk, "dora")
        page = open_wall(open_page, context, may_fail=LOST)
        context.clear_cookies()
        n_decided = accept(page)
        page.get_by_role("link", name="Sign in again").click()
        page.get_by_label("Name").fill("dora")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/wall*")
        wait_until_sent(page)
        assert len(history(context, who="dora")) == n_decided
        context.close()


class TestPages:
    def test_markup_in_names_stays_text(self, open_page, anna):
        page = open_page(anna, "/tags")
        page.get_by_role("link", name=MARKUP).click()
        page.locator(".tile").first.wait_for()
        assert page.locator("h1").inner_text() == MARKUP
        assert page.locator("b[onclick]").count() == 0

    def test_on_a_telephone_nothing_is_too_wide_too_small_or_without_a_name(self, open_page, anna):
        page = open_page(anna)
        page.set_viewport_size({"width": 390, "height": 844})
        for path, content in PAGES.items():
            page.goto(path)
            page.locator(content).first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            assert page.evaluate(SMALL_OR_NAMELESS) == [], path

    def test_fingers_mark_and_decide(self, open_page, browser, desk):
        context = sign_in(browser, desk, "emil", has_touch=True)
        page = open_wall(open_page, context)
        page.locator(".tile").nth(1).tap()
        n = page.locator(".tile").count()
        assert page.locator("#accept").inner_text() == f"Accept {n - 1}, reject 1"
        page.locator("#accept").tap()
        wait_until_sent(page)
        assert len(history(context, who="emil")) == n
        page.locator("#undo").tap()
        page.get_by_text(f"{n} decisions undone.").wait_for()
        context.close()

    def test_pictures_that_are_filtered_can_be_reviewed(self, open_page, anna):
        page = open_page(anna, "/pictures")
        page.get_by_label("Text").fill("drawing-003")
        page.keyboard.press("Enter")
        page.get_by_text("10 pictures").wait_for()
        page.get_by_role("link", name="Review by tag").click()
        page.get_by_text("Only: text drawing-003").wait_for()
        page.locator(".tile").first.wait_for()
        assert all("drawing-003" in pair for pair in pairs_of(page))

    def test_only_a_window_of_many_pictures_is_in_the_document(self, open_page, anna):
        page = open_page(anna, "/history")
        one = anna.request.get("/api/pictures?limit=1").json()["items"][0]

        def answer(route):
            first = (
                int(route.request.url.rpartition("cursor=")[2] or 0) if "cursor=" in route.request.url else 0
            )
            items = [one | {"name": f"{i}.png"} for i in range(first, first + 120)]
            route.fulfill(body=json.dumps({"items": items, "cursor": str(first + 120), "total": 100_000}))

        page.route("**/api/pictures?*", answer)
        page.goto("/pictures")
        for _ in range(12):
            page.mouse.wheel(0, 4000)
            page.wait_for_timeout(60)
        shown = page.locator("#browse li")
        assert 0 < shown.count() < 150
        assert int(shown.first.get_attribute("aria-posinset")) > 150


def test_characters_that_cannot_be_seen_are_shown_by_their_number(page):
    """A folder may list such tags."""
    show = """async (text) => {
      const script = document.querySelector("script[type=module]").src;
      return (await import(script.replace(/[^/]+$/, "dom.js"))).words(text).textContent;
    }"""
    assert page.evaluate(show, "\u202eyks\u200b") == "‹U+202E›yks‹U+200B›"
    family = "\N{MAN}\u200d\N{WOMAN}"
    assert page.evaluate(show, family) == family
