"""One browser and one desk on drawn pictures for all tests of a file; two people use it.

They end with the file: playwright keeps an event loop running in this thread, in which no other could start.
"""

import pytest

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.hidden_labels import hide_labels
from tagrank.data.writers.picture_folder import write_picture_folder
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


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Of 60 pictures, every tenth without tags; one tag is markup."""
    folder = tmp_path_factory.mktemp("desk") / "photos"
    drawn = draw_pictures(60, size=48)
    labels = hide_labels(drawn.labels, 0.5, random_state=0)
    labels[::10] = 0
    tags = [MARKUP if tag == "clouds" else tag for tag in drawn.tags]
    write_picture_folder(drawn.replaced(labels=labels, tags=tags), folder)
    live = LiveDesk(folder)
    yield live
    live.close()


def sign_in(browser, desk, name, **options):
    """A context of `name`, who is signed in."""
    context = browser.new_context(
        base_url=desk.address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce", **options
    )
    context.set_default_timeout(60_000)
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
def model(anna):
    """Wait for the first model, which the desk trains by itself."""
    page = anna.new_page()
    page.goto("/models")
    page.get_by_text("answers", exact=True).wait_for(timeout=300_000)
    page.close()
