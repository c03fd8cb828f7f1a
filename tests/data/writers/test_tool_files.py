"""What Label Studio and FiftyOne import: every picture, its tags, and odd names that stay what they are."""

import json
import os
from urllib.parse import parse_qs, unquote_to_bytes, urlsplit
from xml.etree import ElementTree

import pytest

from tagrank.data.writers.tags import PictureTags
from tagrank.data.writers.tool_files import write_tool_files

ODD = os.fsdecode(b"old/caf\xe9 & 100%.jpg")
PICTURES = [
    PictureTags(1, "a.jpg", b"", "", ("sea", 'a "b" <c> & d'), frozenset({"sea"}), was_decided=True),
    PictureTags(2, "sub/b #1?.jpg", b"", "", ("sky",)),
    PictureTags(3, ODD, b"", ""),
    PictureTags(4, "none.jpg", b"", "", was_decided=True),
]
TAGS = ['a "b" <c> & d', "sea", "sky"]


@pytest.fixture
def label_studio(tmp_path):
    tasks, configuration = write_tool_files(tmp_path / "out" / "t.json", "label-studio", PICTURES, tmp_path)
    return json.loads(tasks.read_text()), ElementTree.parse(configuration).getroot()


def test_label_studio_finds_every_picture(label_studio):
    tasks, _ = label_studio
    parts = [urlsplit(task["data"]["image"]) for task in tasks]
    assert {part.path for part in parts} == {"/data/local-files/"}
    assert not any(part.fragment for part in parts)
    assert [parse_qs(part.query)["d"][0] for part in parts[:2]] == ["a.jpg", "sub/b #1?.jpg"]
    assert unquote_to_bytes(parts[2].query.removeprefix("d=")) == os.fsencode(ODD)


def test_decided_pictures_are_annotated_and_others_predicted(label_studio):
    tasks, view = label_studio
    assert [sorted(task.keys() - {"data"}) for task in tasks] == [
        ["annotations"],
        ["predictions"],
        [],
        ["annotations"],
    ]
    region = tasks[0]["annotations"][0]["result"][0]
    assert region["value"] == {"choices": ["sea", TAGS[0]]}
    assert tasks[3]["annotations"] == [{"result": []}]
    assert tasks[1]["predictions"][0]["result"][0]["value"] == {"choices": ["sky"]}
    # the names by which regions find their control are those of the configuration
    control, shown = view.find("Choices"), view.find("Image")
    assert (region["from_name"], region["to_name"]) == (control.get("name"), shown.get("name"))
    assert control.get("toName") == shown.get("name")
    assert shown.get("value") == "$image"
    assert [choice.get("value") for choice in control] == TAGS


def test_fiftyone_has_whole_paths_and_classifications(tmp_path):
    (path,) = write_tool_files(tmp_path / "labels.json", "fiftyone", PICTURES, tmp_path)
    document = json.loads(path.read_text())
    assert document["classes"] == TAGS
    assert list(document["labels"]) == [str(tmp_path.resolve() / one.name) for one in PICTURES]
    assert [
        [(one["label"], one["attributes"]["accepted"]) for one in labels]
        for labels in document["labels"].values()
    ] == [[("sea", True), (TAGS[0], False)], [("sky", False)], [], []]


def test_other_tools_are_refused(tmp_path):
    with pytest.raises(ValueError, match="label-studio"):
        write_tool_files(tmp_path / "a.json", "paint", PICTURES, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_characters_that_xml_and_utf8_cannot_hold_are_replaced(tmp_path):
    odd = [PictureTags(1, "a.jpg", b"", "", ("bell\x07", "half\ud800", "tab\tend", "smile\U0001f600"))]
    tasks, configuration = write_tool_files(tmp_path / "t.json", "label-studio", odd, tmp_path)
    named = [choice.get("value") for choice in ElementTree.parse(configuration).getroot().find("Choices")]
    assert sorted(named) == ["bell\ufffd", "half\ufffd", "smile\U0001f600", "tab\tend"]
    region = json.loads(tasks.read_text())[0]["predictions"][0]["result"][0]
    assert sorted(region["value"]["choices"]) == sorted(named)
