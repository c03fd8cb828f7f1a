"""One browser, and for each look a desk on drawn pictures for all tests of a file; two people use it.

A look is a width and a colour scheme: every test runs at the width of a telephone and of a screen, in light
and in dark. Browser and desk end with the file: playwright keeps an event loop running in this thread, in
which no other could start.
"""

from typing import NamedTuple

import pytest

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.splits import hide_labels
from tagrank.data.writers.tags import write_picture_folder
from tests.app.web.browser.live_desk import PASSWORD, LiveDesk, find_browser

BROWSER = find_browser()
MARKUP = "<b onclick=alert(1)>clouds</b>"
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def pytest_collection_modifyitems(items):
    if BROWSER is None:
        missing = pytest.mark.skip(reason="no chromium was found: install it, or name one with CHROMIUM")
        for item in items:
            if "/web/browser/" in item.path.as_posix():
                item.add_marker(missing)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS.split())
        yield opened
        opened.close()


class Look(NamedTuple):
    """How a window looks."""

    scheme: str
    width: int
    height: int


LOOKS = {
    "light-1280": Look("light", 1280, 800),
    "dark-1280": Look("dark", 1280, 800),
    "light-390": Look("light", 390, 844),
    "dark-390": Look("dark", 390, 844),
}


@pytest.fixture(scope="module", params=LOOKS.values(), ids=LOOKS)
def look(request):
    return request.param


@pytest.fixture(scope="module")
def desk(look, tmp_path_factory):
    """Of 60 pictures, every tenth without tags; one tag is markup; one for each look."""
    folder = tmp_path_factory.mktemp("desk") / "photos"
    drawn = draw_pictures(60, size=48)
    labels = hide_labels(drawn.labels, 0.5, random_state=0)
    labels[::10] = 0
    tags = [MARKUP if tag == "clouds" else tag for tag in drawn.tags]
    write_picture_folder(drawn.replaced(labels=labels, tags=tags), folder)
    live = LiveDesk(folder)
    live.look = look
    yield live
    live.close()


def new_context(browser, desk, **options):
    """A window of the look that is tried, in which nobody is signed in."""
    context = browser.new_context(
        base_url=desk.address,
        viewport={"width": desk.look.width, "height": desk.look.height},
        color_scheme=desk.look.scheme,
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(60_000)
    return context


def sign_in(browser, desk, name, **options):
    """A context of `name`, who is signed in."""
    context = new_context(browser, desk, **options)
    body = {"name": name, "password": PASSWORD}
    answer = context.request.post("/api/sign-in", data=body, headers={"Origin": desk.address})
    assert answer.ok, answer.text()
    return context


@pytest.fixture(scope="module")
def anna(browser, desk):
    context = sign_in(browser, desk, "anna")
    yield context
    context.close()


@pytest.fixture
def open_page(desk):
    """A page of a context; whatever it complains of, or asks of another server, fails the test."""
    pages = []

    def open_it(context, path="/", *, may_fail=()):
        page, problems = context.new_page(), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: line.type in ("error", "warning") and problems.append(line.text))
        page.on("request", lambda asked: asked.url.startswith(desk.address) or problems.append(asked.url))
        pages.append((page, problems, may_fail))
        page.goto(path)
        return page

    yield open_it
    for page, problems, may_fail in pages:
        page.close()
        assert [line for line in problems if not any(text in line for text in may_fail)] == []


@pytest.fixture
def page(open_page, anna):
    """The first page, for anna."""
    return open_page(anna)


@pytest.fixture(scope="module")
def model(anna, desk):
    """Wait for the first model, which the desk trains by itself; then there are proposals."""
    page = anna.new_page()
    page.goto("/models")
    page.get_by_text("in use", exact=True).wait_for(timeout=300_000)
    page.close()
    # so that there is a history, whichever test is the first
    done = anna.request.post(
        "/api/decisions", data={"request": "first", "reviewed": [60]}, headers={"Origin": desk.address}
    )
    assert done.ok, done.text()
