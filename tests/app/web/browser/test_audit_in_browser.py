"""The queue of the audit as somebody sees it: being done with a picture says that it is complete."""

import pytest

from tests.app.web.browser.test_desk_in_browser import wait_until_sent

pytestmark = pytest.mark.usefixtures("model")


def audited(context):
    row = next(one for one in context.request.get("/api/overview").json()["queues"] if one["name"] == "audit")
    return row["about"]


def test_complete_rejects_what_nobody_accepted_and_is_one_step(page, anna):
    line = page.get_by_role("listitem").filter(has_text="Audit")
    assert line.get_by_role("link", name="By tag").count() == 0
    line.get_by_role("link", name="By picture").click()
    page.wait_for_url("**/review?queue=audit*")
    page.locator(".row").first.wait_for()
    assert page.locator("#wants-all").is_visible()
    button = page.get_by_role("button", name="Complete, next")
    first, n_before = page.locator("#name").inner_text(), len(steps(anna))
    proposed = page.locator("section", has_text="Proposed").locator(".row")
    proposed.first.get_by_role("button", name="Yes").click()
    # the answer speaks for other tags, which are proposed then, too
    wait_until_sent(page)
    n_proposed = proposed.count()
    button.click()
    page.wait_for_function("name => document.querySelector('#name').innerText !== name", arg=first)
    wait_until_sent(page)
    assert "1 picture audited" in audited(anna)
    latest = steps(anna)[0]
    assert (latest["queue"], latest["n_reviewed"]) == ("audit", 1)
    assert latest["answers"].get("no", 0) == n_proposed - 1
    assert len(steps(anna)) == n_before + 2  # the answer, and all else
    page.keyboard.press("u")
    page.wait_for_function("name => document.querySelector('#name').innerText === name", arg=first)
    assert "audited" not in audited(anna)
    page.get_by_label("Queue").select_option("missing")
    page.get_by_role("button", name="Done, next").wait_for()
    assert page.locator("#wants-all").is_hidden()


def steps(context):
    return context.request.get("/api/steps").json()["steps"]
