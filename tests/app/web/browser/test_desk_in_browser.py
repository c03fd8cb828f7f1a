"""The desk as a keeper uses it, in a real browser on a real server."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.app.web.browser.conftest import MARKUP, new_context, sign_in
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
# tables and boxes that have to be pushed aside to be read
TOO_WIDE = """() =>
  [...document.querySelectorAll('main *')]
    .filter((node) => node.offsetParent !== null && node.clientWidth > 0)
    .filter((node) => ['auto', 'scroll'].includes(getComputedStyle(node).overflowX))
    .filter((node) => node.scrollWidth > node.clientWidth + 1)
    .map((node) => node.outerHTML.slice(0, 200))"""
# buttons that lie beside the window, or under another one
OUT_OF_REACH = """() => {
  const found = [...document.querySelectorAll('main button, main a.button')];
  return found.filter((node) => node.checkVisibility()).filter((node) => {
    node.scrollIntoView({ block: 'center' });
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return left < 0 || right > innerWidth || !(node.contains(above) || above?.contains(node));
  }).map((node) => node.outerHTML);
}"""
HAS_VISIBLE_FOCUS = """() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const isNone = node === document.body || node.id === 'main';
  return isNone || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
}"""
# texts whose colour is too near to that behind them (WCAG 2.2, level AA), as the browser draws them
FAINT_TEXTS = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const isShown = (node) => node.offsetParent !== null && getComputedStyle(node).visibility === 'visible';
  const isText = (node) => node.nodeType === 3 && node.textContent.trim();
  const hasText = (node) => [...node.childNodes].some(isText);
  return [...document.querySelectorAll('main *, header *')]
    .filter((node) => isShown(node) && hasText(node))
    .filter((node) => !node.closest('svg, :disabled, .undone, .loading, .unseen'))
    .filter((node) => {
      const [one, other] = [light(channels(getComputedStyle(node).color)), light(behind(node))].sort();
      return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
    }).map((node) => node.outerHTML.slice(0, 200));
}"""
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


def decide_page(page):
    """Accept a page, or reject all of it where nothing is accepted by itself; answers how many decisions."""
    shown = pairs_of(page)
    page.keyboard.press("r" if page.locator("#reject").is_visible() else "Enter")
    page.wait_for_function(
        "(first) => !document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=shown[0]
    )
    return len(shown)


class TestStart:
    def test_signing_in_leads_back_to_what_was_asked_for(self, browser, desk, open_page):
        context = new_context(browser, desk)
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
        # one number, or only between which numbers it is
        assert re.search("between|too early", page.locator("#missing").inner_text())
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


def shares_of(page):
    """The probabilities on the tiles of a wall."""
    texts = [text.strip(" %<>") for text in page.locator(".tile .share").all_inner_texts()]
    return [int(text) / 100 for text in texts]


class TestByTag:
    def test_enter_accepts_only_what_the_model_would_write(self, open_page, anna):
        page = open_wall(open_page, anna)
        shares, n = shares_of(page), len(history(anna))
        assert min(shares) >= 0.5
        said = page.locator("#guide").inner_text()
        assert said.startswith("Mark what is wrong. The rest is accepted. About ")
        claimed, of = map(int, said.split("About ")[1].removesuffix(" are right.").split(" of "))
        assert of == len(shares)
        assert claimed == pytest.approx(sum(shares), abs=0.6)
        while "accepted" in page.locator("#guide").inner_text():
            n += page.locator(".tile").count()
            decide_page(page)
        assert "Mark what is right. The rest stays undecided." in page.locator("#guide").inner_text()
        assert max(shares_of(page)) <= 0.5
        first = pairs_of(page)[0]
        assert page.locator("#accept").inner_text() == "Leave all undecided"
        page.keyboard.press("Enter")
        page.wait_for_function(
            "(first) => !document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=first
        )
        wait_until_sent(page)
        assert len(history(anna)) == n
        assert {one["answer"] for one in history(anna)[:3]} == {"yes"}

    def test_what_is_marked_as_right_is_accepted_and_the_rest_left(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=informative")
        n, total = len(history(anna)), page.locator("#count").inner_text()
        page.locator(".tile").nth(1).click()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("n")
        assert page.locator("#accept").inner_text() == "Accept 1, reject 1, leave the rest undecided"
        page.keyboard.press("Enter")
        wait_until_sent(page)
        assert [one["answer"] for one in history(anna)[:2]] == ["no", "yes"]
        assert len(history(anna)) == n + 2
        page.keyboard.press("u")
        page.get_by_text("2 decisions about").wait_for()
        page.wait_for_function("(text) => document.getElementById('count').textContent === text", arg=total)

    def test_the_count_of_a_queue_is_that_of_the_server(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=informative")

        def counted():
            return int(page.locator("#count").inner_text().split()[0].replace(",", ""))

        before, n = counted(), page.locator(".tile").count()
        decide_page(page)
        wait_until_sent(page)
        page.wait_for_function(
            "(text) => document.getElementById('count').textContent.startsWith(text)", arg=f"{before - n:,} "
        )
        page.keyboard.press("u")
        page.get_by_text("undone").wait_for()
        assert counted() == before
        page.reload()
        page.locator(".tile").first.wait_for()
        assert counted() == before

    def test_the_last_page_says_what_was_left(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=tag&tag=beach")
        left = 0
        while page.locator(".tile").count():
            first = pairs_of(page)[0]
            if "undecided" in page.locator("#guide").inner_text():
                left += page.locator(".tile").count()
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("End")
                for _ in range(page.locator(".tile").count()):
                    page.keyboard.press("s")
                    page.keyboard.press("ArrowLeft")
                page.keyboard.press("Enter")
            page.wait_for_function(
                "(first) => !document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=first
            )
        page.get_by_text(f"You left {left} proposals undecided.").wait_for()
        page.get_by_role("button", name="Show them again").click()
        page.locator(".tile").first.wait_for()

    def test_an_unknown_tag_is_said_to_be_unknown(self, open_page, anna):
        page = open_wall(open_page, anna, may_fail=LOST)
        field = page.get_by_role("combobox", name="Tag")
        field.fill("baech")
        field.press("Enter")
        page.get_by_text("The tag “baech” is unknown. Did you mean “beach”").wait_for()
        page.goto("/wall?queue=missing&tag=baech")
        said = "The tag 'baech' is unknown in this archive; did you mean 'beach'?"
        page.locator("#empty p", has_text=said).wait_for()

    def test_click_sweep_and_keys_mark(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=informative")
        tiles = page.locator(".tile")
        tiles.nth(0).click()
        first, last = tiles.nth(3).bounding_box(), tiles.nth(5).bounding_box()
        page.mouse.move(first["x"] + 30, first["y"] + 30)
        page.mouse.down()
        page.mouse.move(last["x"] + 30, last["y"] + 30, steps=3)
        page.mouse.up()
        tiles.nth(6).click()
        tiles.nth(7).click(modifiers=["Shift"])
        page.keyboard.press("ArrowRight")
        page.keyboard.press("s")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        n = tiles.count()
        assert page.locator("#accept").inner_text() == "Accept 6, skip 1, leave the rest undecided"
        assert page.locator("#reject").inner_text() == "Accept 6, reject the rest"
        assert decide_page(page) == n
        wait_until_sent(page)
        latest = history(anna)[:n]
        assert len({one["batch"] for one in latest}) == 1
        answers = [one["answer"] for one in latest]
        assert [answers.count(answer) for answer in ("yes", "no", "skip")] == [6, n - 7, 1]

    def test_undo_brings_the_page_back_with_its_marks(self, open_page, anna):
        page = open_wall(open_page, anna, "queue=informative")
        before, n = pairs_of(page), len(history(anna))
        page.locator(".tile").nth(1).click()
        decide_page(page)
        page.keyboard.press("u")
        page.get_by_text(re.compile(rf"{len(before)} decisions about .* undone\.")).wait_for()
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
        page.locator("#title", has_text="beach").wait_for(state="attached")
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
        shown = decide_page(page)
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
        page.get_by_text(f"1 decision about “{tags[2]}” undone.").wait_for()
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
        page.get_by_text("1 picture marked as done undone.").wait_for()
        page.wait_for_function("(name) => document.getElementById('name').textContent === name", arg=name)
        assert "reviewed" not in page.locator("#about").inner_text()

    def test_a_suspect_tag_comes_first_and_is_answered_first(self, open_page, anna):
        page = open_page(anna, "/review?queue=wrong")
        page.locator(".row").first.wait_for()
        assert page.locator(".rows:visible h2").first.inner_text() == "Possibly wrong"
        suspect = page.locator(".rows:visible").first.locator(".row bdi").first.inner_text()
        assert page.evaluate("document.activeElement.querySelector('bdi')?.textContent") == suspect
        name = page.locator("#name").inner_text()
        page.keyboard.press("y")
        wait_until_sent(page)
        latest = history(anna)[0]
        assert (latest["name"], latest["tag"], latest["before"]) == (name, suspect, "present")
        page.keyboard.press("u")
        page.get_by_text(f"1 decision about “{suspect}” undone.").wait_for()

    def test_a_slip_while_typing_is_asked_about(self, open_page, anna):
        page = open_page(anna, "/review?queue=all")
        page.locator(".row").first.wait_for()
        n = len(history(anna))
        page.keyboard.press("a")
        page.keyboard.type("baech")
        page.keyboard.press("Enter")
        page.get_by_text("“baech” is not a tag yet. Did you mean “beach”").wait_for()
        assert len(history(anna)) == n
        page.get_by_role("option", name="beach", exact=True).click()
        page.get_by_text("“beach” was added.").wait_for()
        wait_until_sent(page)
        assert history(anna)[0]["tag"] == "beach"

    def test_a_new_tag_is_made_when_it_is_asked_for_twice(self, open_page, anna):
        page = open_page(anna, "/review?queue=all")
        page.locator(".row").first.wait_for()
        page.keyboard.press("a")
        page.keyboard.type("lantern <i>")
        page.keyboard.press("Enter")
        page.get_by_text("Enter again makes it a new tag.").wait_for()
        page.get_by_role("option", name="lantern <i> new tag").wait_for()
        page.keyboard.press("Enter")
        page.get_by_text("“lantern <i>” was added as a new tag.").wait_for()
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


def before_the_first_model(page):
    """Let a page see the desk as it is while the first model is trained."""
    running = {"state": "running", "what": "describing pictures", "done": 3, "of": 10, "seconds": 2.0}

    def overview(route):
        found = route.fetch().json()
        found["model"], found["training"] = None, found["training"] | running
        found["progress"] = found["progress"] | {"decisions": 0, "missing": None}
        route.fulfill(json=found)

    page.route("**/api/overview", overview)
    page.route("**/api/training", lambda route: route.fulfill(json=route.fetch().json() | running))


class TestLearning:
    def test_the_first_training_stands_on_top_of_the_page(self, open_page, anna, model):
        page = open_page(anna, "/tags")
        before_the_first_model(page)
        page.goto("/")
        page.get_by_text("Training: describing pictures").wait_for()
        bar = page.get_by_role("progressbar", name="Training")
        assert bar.get_attribute("aria-valuenow") == "30"
        place = bar.bounding_box()
        assert place["y"] + place["height"] < page.viewport_size["height"]
        assert place["y"] < page.locator("#queues").bounding_box()["y"]
        for name in ("#progress", "#learning", "#changes"):
            assert not page.locator(name).is_visible(), name

    def test_why_proposals_are_not_the_missing_tags(self, open_page, anna, model):
        page = open_page(anna)
        page.locator("#missing svg").wait_for()
        if "too early" in page.locator("#missing").inner_text():
            assert not page.locator("#missing-why").is_visible()
        else:
            assert (
                " proposed, with a probability of 20 % or more: about "
                in page.locator("#missing-why").inner_text()
            )

    def test_training_shows_what_changed_and_one_can_go_back(self, open_page, anna):
        page = open_page(anna)
        page.get_by_role("button", name="Train now").click()
        page.get_by_role("heading", name="What changed").wait_for(timeout=300_000)
        assert page.locator("#changes-metrics tbody tr").count() >= 1
        # one number wherever it is shown: the sentence of the model, what changed, and the list of models
        page.locator("#changes-line").filter(has_text=" compared with model ").wait_for(timeout=300_000)
        number = page.locator("#changes-line").inner_text().split(" compared ")[0]
        page.locator("#model-line").filter(has_text=number).wait_for()
        sentence = page.locator("#model-quality").inner_text()
        assert sentence.startswith("Of 100 predicted tags, ")
        after = page.locator("#changes-quality tbody td:nth-child(3)").all_inner_texts()
        assert not page.locator("#model-method").is_visible()
        page.goto("/models")
        page.locator("#models tbody tr").first.wait_for()
        assert page.locator("#quality").inner_text() == sentence
        row = page.locator("#models tbody tr").filter(has_text="in use").locator("td").all_inner_texts()
        assert row[2:4] == after
        assert not page.locator("#measures").is_visible()
        page.get_by_role("button", name="Use model 1").click()
        page.get_by_text("Model 1 is in use now.").wait_for()
        page.get_by_role("row").filter(has_text="in use").get_by_role("rowheader", name="1").wait_for()


class TestArchive:
    def test_sidecars_are_shown_before_they_are_written(self, open_page, anna, desk):
        wall = open_wall(open_page, anna, "queue=informative")
        wall.locator(".tile").first.click()
        wall.keyboard.press("Enter")
        wall.get_by_text("1 decision saved").wait_for()
        wait_until_sent(wall)
        page = open_page(anna, "/archive")
        page.locator("#sidecars-look").click()
        page.get_by_text("Nothing is written yet.").wait_for()
        n = page.locator("#sidecars-result tbody tr").count()
        assert n > 0
        assert list(desk.folder.glob("*.xmp")) == []
        page.locator("#sidecars-write").click()
        page.get_by_text(re.compile(rf"{n} sidecars? written\.")).wait_for()
        assert len(list(desk.folder.glob("*.xmp"))) == n
        page.locator("#sidecars-look").click()
        page.get_by_text("All sidecars are up to date.").wait_for()
        # what is taken back is taken out again
        answer = anna.request.post(
            "/api/undo", data={"request": f"undo-{n}"}, headers={"Origin": desk.address}
        )
        assert answer.ok, answer.text()
        page.locator("#sidecars-look").click()
        page.get_by_text("0 tags added,").wait_for()
        assert "removed: " in page.locator("#sidecars-result tbody").inner_text()
        page.locator("#sidecars-write").click()
        page.get_by_text("written.").wait_for()
        page.locator("#sidecars-look").click()
        page.get_by_text("All sidecars are up to date.").wait_for()

    def test_the_list_is_completed_and_the_former_one_is_kept(self, open_page, anna, desk):
        wall = open_wall(open_page, anna)
        decide_page(wall)
        wait_until_sent(wall)
        before = (desk.folder / "tags.csv").read_bytes()
        page = open_page(anna, "/archive")
        with page.expect_download() as downloading:
            page.get_by_role("link", name="Download").click()
        assert downloading.value.path().read_bytes().startswith(b"image,tags\n")
        page.locator("#list-look").click()
        page.get_by_text("tags.csv would change. Nothing is written yet.").wait_for()
        assert "added: " in page.locator("#list-result tbody").inner_text()
        assert (desk.folder / "tags.csv").read_bytes() == before
        page.get_by_role("button", name="Write tags.csv").click()
        page.get_by_text("tags.csv written.").wait_for()
        page.get_by_text("A copy of the old list is kept on the machine of the desk.").wait_for()
        kept = Path(os.environ["TAGRANK_STATE"]).glob("originals/??/*.csv")
        assert before in [path.read_bytes() for path in kept]
        page.locator("#list-look").click()
        page.get_by_text("tags.csv is up to date.").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

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
    for page in (hers, his):
        decide_page(page)
        wait_until_sent(page)
    page = open_page(anna, "/history")
    page.locator(".step b", has_text="ben").first.wait_for()
    page.locator(".step b", has_text="anna").first.wait_for()
    ben.close()


class TestNothingIsLost:
    def test_a_server_that_is_killed_gets_them_when_it_is_back(self, open_page, anna, desk):
        page = open_wall(open_page, anna, may_fail=LOST)
        n = len(history(anna))
        # the next page is asked for while the first is shown; without it there is none to go on to
        page.wait_for_load_state("networkidle")
        desk.kill()
        try:
            n_decided = decide_page(page)
            page.get_by_text(f"{n_decided} decisions are waiting to be saved: no connection").wait_for()
        finally:
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
        n_decided = decide_page(page)
        wait_until_sent(page)
        assert lost == [True]
        assert len(history(anna)) == n + n_decided

    def test_what_waits_is_sent_after_a_reload(self, open_page, anna):
        page = open_wall(open_page, anna, may_fail=LOST)
        n = len(history(anna))
        page.route("**/api/decisions", lambda route: route.abort())
        n_decided = decide_page(page)
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
        page.keyboard.press("r" if page.locator("#reject").is_visible() else "Enter")
        page.get_by_text("Not recorded: the disk is full").wait_for()
        page.wait_for_function(
            "(first) => document.querySelector('.tile')?.ariaLabel.endsWith(first)", arg=before[0]
        )
        assert pairs_of(page) == before

    def test_whoever_is_signed_out_signs_in_and_goes_on(self, open_page, browser, desk):
        context = sign_in(browser, desk, "dora")
        page = open_wall(open_page, context, may_fail=LOST)
        context.clear_cookies()
        n_decided = decide_page(page)
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

    @pytest.mark.parametrize("path", PAGES)
    def test_nothing_is_too_wide_too_small_hidden_or_without_a_name(self, open_page, anna, look, path):
        page = open_page(anna, path)
        page.locator(PAGES[path]).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= look.width
        assert page.evaluate(SMALL_OR_NAMELESS) == []
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate(OUT_OF_REACH) == []

    @pytest.mark.parametrize("path", PAGES)
    def test_the_focus_is_seen_and_texts_stand_out(self, open_page, anna, path):
        page = open_page(anna, path)
        page.locator(PAGES[path]).first.wait_for()
        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate(HAS_VISIBLE_FOCUS)
        assert page.evaluate(FAINT_TEXTS) == []

    def test_history_lists_what_can_be_undone_and_undoes_what_it_names(self, open_page, anna):
        wall = open_page(anna, "/review?queue=all")
        wall.locator(".row").first.wait_for()
        wall.keyboard.press("Enter")
        wait_until_sent(wall)
        page = open_page(anna, "/history")
        page.get_by_text("Your last step: 1 picture marked as done, just now.").wait_for()
        page.locator(".step").first.locator(".done img").wait_for()
        page.get_by_role("button", name="Undo my last step").click()
        page.get_by_text("1 picture marked as done undone.").wait_for()
        page.locator(".step.undone").first.wait_for()

    def test_a_date_is_shown_only_of_pictures_that_have_one(self, open_page, anna):
        page = open_page(anna, "/review?queue=all")
        page.locator(".row").first.wait_for()
        assert not re.search(r"\d{4}-\d\d-\d\d", page.locator("#about").inner_text())
        page.goto("/pictures?end=2100-01-01")
        page.get_by_text("Pictures without a camera date are not shown.").wait_for()
        page.get_by_text("No picture matches these filters.").wait_for()

    def test_pictures_show_their_tags(self, open_page, anna):
        page = open_page(anna, "/pictures?text=drawing-0001")
        page.locator("#browse li").first.wait_for()
        found = anna.request.get("/api/pictures?text=drawing-0001").json()["items"][0]["tags"]
        assert found
        assert page.locator("#browse li .named").first.inner_text() == ", ".join(found)

    @pytest.mark.parametrize(
        ("reason", "said"),
        [
            ("pictures", "This folder has no pictures."),
            ("tags", "No picture has a tag."),
            ("model", "There is no model yet."),
            ("decided", "Nothing is left to decide in this queue."),
        ],
    )
    def test_a_wall_without_proposals_says_why(self, open_page, anna, reason, said):
        page = open_page(anna, "/history")
        empty = {"items": [], "cursor": None, "total": 0, "rule": "mark", "right": None, "nothing": reason}
        page.route("**/api/wall?*", lambda route: route.fulfill(json=empty))
        page.goto("/wall")
        page.get_by_text(said).wait_for()

    def test_fingers_mark_and_decide(self, open_page, browser, desk):
        context = sign_in(browser, desk, "emil", has_touch=True)
        page = open_wall(open_page, context, "queue=informative")
        page.locator(".tile").nth(1).tap()
        n = page.locator(".tile").count()
        assert page.locator("#reject").inner_text() == "Accept 1, reject the rest"
        page.locator("#reject").tap()
        wait_until_sent(page)
        assert len(history(context, who="emil")) == n
        page.locator("#undo").tap()
        page.get_by_text(re.compile(rf"{n} decisions about .* undone\.")).wait_for()
        context.close()

    def test_pictures_that_are_filtered_can_be_reviewed(self, open_page, anna, look):
        page = open_page(anna, "/pictures")
        if look.width < 720:
            page.locator("summary", has_text="Filters").click()
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
