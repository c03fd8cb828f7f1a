"""The page of tags: a change is checked, done and undone by keyboard, in every look."""


def test_a_tag_is_renamed_and_renamed_back(anna, open_page, look):
    page = open_page(anna, "/tags")
    page.get_by_role("button", name="Change sky").focus()
    page.keyboard.press("Enter")
    page.get_by_label("New name").fill("heaven")
    page.keyboard.press("Enter")
    page.get_by_text("tagged 'sky' become 'heaven'").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Change heaven").wait_for()
    assert page.get_by_role("button", name="Change sky").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= look.width
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_role("button", name="Change sky").wait_for()


def test_what_cannot_be_meant_is_said_in_the_dialog(anna, open_page):
    page = open_page(anna, "/tags", may_fail=("Failed to load resource",))
    page.get_by_role("button", name="Change sky").click()
    page.get_by_label("Action").select_option("parent")
    page.get_by_role("combobox", name="Parent tag").fill("sky")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("must differ").wait_for()
