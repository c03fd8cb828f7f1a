"""Machine-made tags in sidecars: marked, not read as the truth, taken out again, and nothing else touched."""

import re
from xml.etree import ElementTree

import pytest
from PIL import Image

from tagrank.data import read_keywords, read_pictures, read_sidecar, write_sidecar
from tagrank.data.readers.xmp import read_marks
from tagrank.data.writers.sidecar_tags import add_machine_tags, new_run, settle_machine_tags
from tagrank.files import FileError

RUN, LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"

OTHERS = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about='' xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:Rating="3">
   <dc:creator><rdf:Seq><rdf:li>Zoë</rdf:li></rdf:Seq></dc:creator>
   <dc:subject><rdf:Bag><rdf:li>old</rdf:li></rdf:Bag></dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""


def everything_in(path):
    """All elements, attributes and texts; blanks between elements mean nothing."""
    root = ElementTree.parse(path).getroot()
    return [(e.tag, sorted(e.attrib.items()), (e.text or "").strip()) for e in root.iter()]


@pytest.fixture
def picture(tmp_path):
    Image.new("RGB", (16, 16)).save(tmp_path / "photo.jpg")
    return tmp_path / "photo.jpg"


def add(picture, *tags, run=RUN, **options):
    return add_machine_tags(picture, dict.fromkeys(tags, 0.75), run=run, model="m", **options)


def undo(picture, *runs, **options):
    return settle_machine_tags(picture, sidecar_of(picture), runs or (RUN,), **options)


def sidecar_of(picture):
    return picture.with_name("photo.jpg.xmp")


def test_machine_tags_are_seen_by_others_and_not_taken_for_the_truth(picture):
    change = add(picture, "sky", "sea & <sun>")
    assert (change.action, change.tags) == ("create", ("sky", "sea & <sun>"))
    assert read_keywords(picture) == []
    assert read_keywords(picture, machine_tags=True) == ["sky", "sea & <sun>"]
    assert read_sidecar(sidecar_of(picture), machine_tags=True).flat == ("sky", "sea & <sun>")
    (mark, _) = read_marks(sidecar_of(picture))
    assert (mark.word, mark.run, mark.model, mark.probability) == ("sky", RUN, "m", "0.750")


def test_what_was_there_is_never_marked(picture):
    write_sidecar(picture, ["sky"])
    change = add(picture, "sky", "sea")
    assert (change.action, change.tags, change.present) == ("change", ("sea",), ("sky",))
    assert read_keywords(picture) == ["sky"]
    content = sidecar_of(picture).read_bytes()
    assert add(picture, "sky", "sea", run=LATER).action == "keep"
    assert sidecar_of(picture).read_bytes() == content


@pytest.mark.parametrize("has_sidecar", [False, True])
def test_what_stands_inside_the_picture_is_never_marked(picture, has_sidecar):
    Image.new("RGB", (16, 16)).save(picture, xmp=OTHERS.encode())
    if has_sidecar:
        write_sidecar(picture, ["mine"], replace=True)
    assert add(picture, "old", "sea").tags == ("sea",)
    assert sorted(read_keywords(picture)) == (["mine", "old"] if has_sidecar else ["old"])
    assert undo(picture).action == ("change" if has_sidecar else "delete")


def test_what_stands_in_the_other_sidecar_is_never_marked(picture):
    write_sidecar(picture, ["sky"]).rename(picture.with_suffix(".xmp.kept"))
    write_sidecar(picture, ["mine"])
    picture.with_suffix(".xmp.kept").rename(picture.with_suffix(".xmp"))
    assert add(picture, "sky", "sea").present == ("sky",)
    assert sorted(read_keywords(picture)) == ["mine", "sky"]


def test_a_tag_that_a_person_removes_or_gives_is_no_machine_tag(picture):
    add(picture, "sky", "sea")
    path = sidecar_of(picture)
    path.write_text(path.read_text().replace("<rdf:li>sky</rdf:li>", ""))
    assert [mark.word for mark in read_marks(path)] == ["sea"]
    assert read_keywords(picture, machine_tags=True) == ["sea"]
    write_sidecar(picture, ["sea"])
    assert read_keywords(picture) == ["sea"]
    assert read_marks(path) == []


def test_marks_that_another_program_rewrote(picture):
    """Fields of a structure may be attributes or elements, in a description or not: to RDF it is the same."""
    add(picture, "sky")
    path = sidecar_of(picture)
    text = path.read_text()
    entry = re.search("<rdf:li tagrank:list.*/>", text)[0]
    known = {"list": "dc:subject", "word": "sky", "run": RUN}
    attributes = " ".join(f'tagrank:{name}="{value}"' for name, value in known.items())
    elements = "".join(f"<tagrank:{name}>{value}</tagrank:{name}>" for name, value in known.items())
    for other in (
        f'<rdf:li rdf:parseType="Resource">{elements}</rdf:li>',
        f"<rdf:li><rdf:Description>{elements}</rdf:Description></rdf:li>",
        f"<rdf:li><rdf:Description {attributes}/></rdf:li>",
    ):
        path.write_text(text.replace(entry, other))
        assert read_keywords(picture) == []
    assert undo(picture).action == "delete"
    assert not path.exists()


def test_undo_deletes_what_was_made(picture):
    assert add(picture, "sky").action == "create"
    assert undo(picture, dry_run=True).action == "delete"
    assert sidecar_of(picture).exists()
    change = undo(picture)
    assert (change.action, change.tags) == ("delete", ("sky",))
    assert [path.name for path in picture.parent.iterdir()] == ["photo.jpg"]


@pytest.mark.parametrize("tags", [["mine"], ["a|b", "mine"]])
def test_undo_of_our_own_sidecars_gives_the_same_bytes(picture, tags):
    before = write_sidecar(picture, tags).read_bytes()
    add(picture, "sky", "x|y|z")
    assert sidecar_of(picture).read_bytes() != before
    undo(picture)
    assert sidecar_of(picture).read_bytes() == before


def test_undo_keeps_what_others_wrote(picture):
    path = sidecar_of(picture)
    path.write_text(OTHERS, encoding="utf-8")
    before = everything_in(path)
    add(picture, "sky", "x|y", "old")
    assert read_sidecar(path) == (("old",), ("old",))
    undo(picture)
    assert everything_in(path) == before
    assert read_sidecar(path, machine_tags=True) == (("old",), ())


def test_runs_are_undone_one_by_one(picture):
    add(picture, "sky")
    add(picture, "sea", "a|b", run=LATER)
    undo(picture, LATER)
    assert read_sidecar(sidecar_of(picture), machine_tags=True) == (("sky",), ())
    add(picture, "sea", "a|b", run=LATER)
    undo(picture, RUN)
    assert read_keywords(picture, machine_tags=True) == ["sea", "b"]
    assert read_keywords(picture, hierarchical=True) == []
    undo(picture, LATER)
    assert not sidecar_of(picture).exists()


def test_accepted_tags_are_the_truth(picture):
    add(picture, "sky", "a|b")
    assert undo(picture, accept=True).action == "change"
    assert read_keywords(picture) == ["sky", "b"]
    assert sorted(read_keywords(picture, hierarchical=True)) == ["a|b", "sky"]
    assert undo(picture).action == "keep"


def test_a_dry_run_writes_nothing(picture):
    assert add(picture, "sky", dry_run=True).action == "create"
    assert not sidecar_of(picture).exists()


@pytest.mark.parametrize(
    "content", ["<broken", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "<a>" * 3000, "x" * (2**23 + 1)]
)
def test_hostile_sidecars_are_left_alone(picture, content):
    sidecar_of(picture).write_text(content)
    with pytest.raises(FileError):
        add(picture, "sky")
    with pytest.raises(FileError):
        undo(picture)
    assert sidecar_of(picture).read_text() == content


def test_runs_are_in_order():
    runs = [new_run() for _ in range(3)]
    assert runs == sorted(runs)
    assert runs[0].endswith("Z")


def folder_of(tmp_path, *names):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (16, 16)).save(tmp_path / name)
    return [tmp_path / name for name in names]


def present(collection):
    rows = zip(collection.names, collection.states(), strict=True)
    return {name: [t for t, s in zip(collection.tags, row, strict=True) if s > 0] for name, row in rows}


def test_folders_of_keywords_leave_machine_tags_out(tmp_path):
    a, b = folder_of(tmp_path, "a.jpg", "b.jpg")
    write_sidecar(a, ["sky"])
    add(a, "sea")
    add(b, "sea", "sun")
    with pytest.warns(UserWarning, match="ignoring machine-written tags: 3 .pictures: 2.; machine_tags uses"):
        collection = read_pictures(tmp_path)
    assert present(collection) == {"a.jpg": ["sky"], "b.jpg": []}
    assert collection.known_rows().tolist() == [True, False]
    collection = read_pictures(tmp_path, machine_tags=True)
    assert present(collection) == {"a.jpg": ["sea", "sky"], "b.jpg": ["sea", "sun"]}


def test_a_folder_is_read_as_before_its_machine_tags(tmp_path):
    """Folders called as tags were forgotten as soon as there was a sidecar."""
    a, _ = folder_of(tmp_path, "sky/a.jpg", "sea/b.jpg")
    before = present(read_pictures(tmp_path))
    add(a, "sun")
    with pytest.warns(UserWarning, match="ignoring machine-written tags: 1 .pictures: 1."):
        collection = read_pictures(tmp_path)
    assert (collection.layout, present(collection)) == ("tag_folders", before)
    assert read_pictures(tmp_path, machine_tags=True).layout == "keywords"


def test_a_folder_with_nothing_but_machine_tags_says_so(tmp_path):
    (a,) = folder_of(tmp_path, "a.jpg")
    add(a, "sun")
    with pytest.warns(UserWarning, match="ignoring machine-written tags: 1 .pictures: 1."):
        assert not read_pictures(tmp_path).known_rows().any()
    assert present(read_pictures(tmp_path, machine_tags=True)) == {"a.jpg": ["sun"]}


def test_sidecars_beside_a_list_are_read_with_it_or_left_out(tmp_path):
    a, b, c = folder_of(tmp_path, "a.jpg", "b.jpg", "c.jpg")
    (tmp_path / "tags.csv").write_text("image,tags\na.jpg,sky\nb.jpg,sea|sun\n")
    for picture, tag in ((a, "hill"), (c, "sun")):
        write_sidecar(picture, [tag])
    add(b, "moon")
    collection = read_pictures(tmp_path, join_sidecars=False)
    assert present(collection) == {"a.jpg": ["sky"], "b.jpg": ["sea", "sun"], "c.jpg": []}
    for layout in (None, "tag_list"):
        with pytest.warns(UserWarning, match="ignoring machine-written tags: 1 .pictures: 1."):
            collection = read_pictures(tmp_path, layout=layout)
        assert {name: sorted(tags) for name, tags in present(collection).items()} == {
            "a.jpg": ["hill", "sky"],
            "b.jpg": ["sea", "sun"],
            "c.jpg": ["sun"],
        }
        assert collection.layout == "tag_list"
    collection = read_pictures(tmp_path, machine_tags=True)
    assert sorted(present(collection)["b.jpg"]) == ["moon", "sea", "sun"]
