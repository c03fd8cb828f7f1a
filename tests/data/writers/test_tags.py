"""Tags written as lists and into sidecars: read back the same, nothing else changed, nothing half-written."""

import errno
import hashlib
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tagrank import files
from tagrank.data import (
    read_collection,
    read_keywords,
    read_pictures,
    read_sidecar,
    write_sidecar,
    write_tags,
)
from tagrank.files import FileError

DARKTABLE = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <!-- a comment -->
  <rdf:Description rdf:about=""
    xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:darktable="http://darktable.sf.net/"
    xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:Instructions="one&#xA;two&#9;three&#13;"
   xmp:Rating="3" darktable:xmp_version="4" darktable:auto_presets_applied="1">
   <darktable:history>
    <rdf:Seq>
     <rdf:li darktable:num="0" darktable:operation="exposure" darktable:params="gz02eJw&lt;"/>
    </rdf:Seq>
   </darktable:history>
   <dc:creator><rdf:Seq><rdf:li>Zoë&#13;</rdf:li></rdf:Seq></dc:creator>
   <dc:subject>
    <rdf:Bag>
     <rdf:li>old</rdf:li>
    </rdf:Bag>
   </dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""


@pytest.fixture
def picture(tmp_path):
    Image.new("RGB", (16, 16)).save(tmp_path / "photo.jpg")
    return tmp_path / "photo.jpg"


def everything_but_keywords(path):
    """All elements, attributes, texts and comments outside the lists of keywords."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.parse(path, parser).getroot()
    lists = ("subject", "hierarchicalSubject", "TagsList")
    for parent in list(root.iter()):
        for child in list(parent):
            if isinstance(child.tag, str) and child.tag.endswith(lists):
                parent.remove(child)
    return [(str(e.tag), sorted(e.attrib.items()), (e.text or "").strip()) for e in root.iter()]


def test_a_new_sidecar(picture):
    before = hashlib.sha256(picture.read_bytes()).digest()
    path = write_sidecar(picture, ["sky", "été & <mer>", "sky", " "])
    assert path == picture.with_name("photo.jpg.xmp")
    assert read_sidecar(path) == (("sky", "été & <mer>"), ())
    assert read_keywords(picture) == ["sky", "été & <mer>"]
    assert hashlib.sha256(picture.read_bytes()).digest() == before
    content = path.read_bytes()
    assert content.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/"')
    write_sidecar(picture, ["été & <mer>"])
    assert path.read_bytes() == content


def test_what_other_programs_read(picture):
    """Read by an independent parser at the places that the XMP specification names."""
    path = write_sidecar(picture, ["sky", "places|europe|rome"])
    rdf = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"

    def words(name, kind="Bag"):
        entry = f"./{rdf}RDF/{rdf}Description/{name}/{rdf}{kind}/{rdf}li"
        return [found.text for found in ElementTree.parse(path).getroot().findall(entry)]

    assert words("{http://purl.org/dc/elements/1.1/}subject") == ["sky", "rome"]
    assert words("{http://ns.adobe.com/lightroom/1.0/}hierarchicalSubject") == ["sky", "places|europe|rome"]
    assert words("{http://www.digikam.org/ns/1.0/}TagsList", "Seq") == ["sky", "places/europe/rome"]
    assert sorted(read_keywords(picture, hierarchical=True)) == ["places|europe|rome", "sky"]


def test_what_a_sidecar_holds_is_kept(picture):
    path = picture.with_name("photo.jpg.xmp")
    path.write_text(DARKTABLE, encoding="utf-8")
    before = everything_but_keywords(path)
    assert write_sidecar(picture, ["sky"]) == path
    assert everything_but_keywords(path) == before
    assert "a comment" in path.read_text(encoding="utf-8")
    assert "one&#10;two&#9;three&#13;" in path.read_text(encoding="utf-8")
    assert read_sidecar(path).flat == ("old", "sky")
    content = path.read_bytes()
    write_sidecar(picture, ["sky", "old"])
    assert path.read_bytes() == content
    write_sidecar(picture, ["sea", "a|b"], replace=True)
    assert read_sidecar(path) == (("sea", "b"), ("sea", "a|b"))
    assert everything_but_keywords(path) == before
    write_sidecar(picture, [], replace=True)
    assert read_sidecar(path) == ((), ())


def test_lists_of_levels_grow_with_the_flat_one(picture):
    path = picture.with_name("photo.jpg.xmp")
    write_sidecar(picture, ["a|b"])
    write_sidecar(picture, ["sky"])
    assert read_sidecar(path) == (("b", "sky"), ("a|b", "sky"))


def test_lists_that_differ_lose_nothing(picture):
    path = picture.with_name("photo.jpg.xmp")
    write_sidecar(picture, ["x|y"])
    path.write_text(path.read_text().replace("x/y", "p/q"))
    write_sidecar(picture, ["sky"])
    text = path.read_text()
    assert all(f"<rdf:li>{word}</rdf:li>" in text for word in ("p/q", "x/y", "x|y", "y", "sky"))
    write_sidecar(picture, ["sky"])
    assert path.read_text() == text


def test_no_tags_make_no_sidecar(picture):
    write_sidecar(picture, [])
    assert [path.name for path in picture.parent.iterdir()] == ["photo.jpg"]


def test_keywords_inside_the_picture_come_along(tmp_path):
    write_sidecar_of = tmp_path / "a.jpg"
    packet = DARKTABLE.encode()
    Image.new("RGB", (16, 16)).save(write_sidecar_of, xmp=packet)
    assert read_sidecar(write_sidecar(write_sidecar_of, ["sky"])).flat == ("old", "sky")
    assert read_sidecar(write_sidecar(write_sidecar_of, ["sky"], replace=True)).flat == ("sky",)


def test_a_raw_file_can_have_a_sidecar(tmp_path):
    (tmp_path / "a.cr2").write_bytes(b"raw")
    assert write_sidecar(tmp_path / "a.cr2", ["sky"]).name == "a.cr2.xmp"


def test_which_sidecar(picture):
    """The one that is there, whatever it is called; a photo.xmp only if it can belong to no other file."""
    stem, full = picture.with_suffix(".xmp"), picture.with_name("photo.jpg.xmp")
    assert write_sidecar(picture, ["sky"], style="stem") == stem
    for style in ("auto", "full", "stem"):
        assert write_sidecar(picture, [style], style=style) == stem
    assert not full.exists()
    stem.rename(full)
    assert write_sidecar(picture, ["sea"], style="stem") == full
    assert not stem.exists()
    assert read_sidecar(full).flat == ("sky", "auto", "full", "stem", "sea")
    with pytest.raises(ValueError, match="style must be one of"):
        write_sidecar(picture, ["sky"], style="lightroom")


@pytest.mark.parametrize("other", ["photo.png", "photo.cr2", "photo.NEF"])
@pytest.mark.parametrize("style", ["auto", "stem"])
def test_a_sidecar_that_could_belong_to_another_file_is_left_alone(picture, other, style):
    stem, full = picture.with_suffix(".xmp"), picture.with_name("photo.jpg.xmp")
    picture.with_name(other).write_bytes(b"another photograph")
    assert write_sidecar(picture, ["sky"], style=style) == full
    full.unlink()
    stem.write_text(DARKTABLE, encoding="utf-8")
    assert write_sidecar(picture, ["sky"], style=style) == full
    assert stem.read_text(encoding="utf-8") == DARKTABLE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<broken", "not well-formed XML"),
        ("", "not well-formed XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares a document type"),
        ("<html></html>", "is XML, but not XMP"),
        ("<a>" * 3000 + "</a>" * 3000, "more than 100 levels"),
    ],
)
def test_a_damaged_sidecar_is_left_alone(picture, content, message):
    path = picture.with_name("photo.jpg.xmp")
    path.write_text(content)
    with pytest.raises(FileError, match=message):
        write_sidecar(picture, ["sky"])
    assert path.read_text() == content
    (problem,) = write_tags({str(picture): ["sky"]})
    assert problem.path == str(picture)
    assert message in problem.reason


def test_tags_that_xml_cannot_hold(picture):
    with pytest.raises(FileError, match="a character that XML cannot hold"):
        write_sidecar(picture, ["bell\x07"])
    other = picture.with_name("lost.jpg")
    problems = write_tags({str(picture): ["bell\x07"], str(other): ["sky"]}, replace=True)
    assert [problem.path for problem in problems] == [str(picture), str(other)]
    assert problems[1].reason == "this picture does not exist"
    assert [path.name for path in picture.parent.iterdir()] == ["photo.jpg"]


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "denied"), OSError(errno.ENOSPC, "disk full")]
)
def test_read_only_folders_and_full_disks(picture, monkeypatch, error):
    path = picture.with_name("photo.jpg.xmp")
    path.write_text(DARKTABLE, encoding="utf-8")

    def refuse(*arguments, **options):
        raise error

    monkeypatch.setattr(files, "open", refuse, raising=False)
    with pytest.raises(FileError, match=rf"photo\.jpg\.xmp: cannot be written \({error.strerror}\)"):
        write_sidecar(picture, ["sky"])
    problems = write_tags({str(picture): ["sky"], str(picture.with_name("none.jpg")): ["sky"]})
    assert [problem.path for problem in problems] == [str(picture), str(picture.with_name("none.jpg"))]
    with pytest.raises(FileError):
        write_tags({str(picture): ["sky"]}, strict=True)
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == DARKTABLE
    assert sorted(entry.name for entry in picture.parent.iterdir()) == ["photo.jpg", "photo.jpg.xmp"]


def random_tags(rng):
    letters = list("ab|\\,;\"' é<&>/\n#")
    words = {"".join(rng.choice(letters, rng.integers(1, 6))).strip() for _ in range(rng.integers(0, 5))}
    return sorted(word for word in words if word)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["tags.csv", "tags.jsonl", "tags.csv.gz"])
def test_lists_read_back(tmp_path, name, seed):
    rng = np.random.default_rng(seed)
    tagged = {}
    for i in range(12):
        path = tmp_path / f"{i}.png"
        Image.new("RGB", (8, 8)).save(path)
        tagged[str(path)] = random_tags(rng)
    assert write_tags(tagged, tmp_path / name) == ()
    for collection in (read_collection(tmp_path / name), read_pictures(tmp_path, strict=True)):
        assert sorted(collection.view("pictures")) == sorted(tagged)
        for path, states in zip(collection.view("pictures"), collection.states(), strict=True):
            present = [tag for tag, state in zip(collection.tags, states, strict=True) if state > 0]
            assert sorted(present) == tagged[path]
            assert (states == 0).all() == (not present)


@pytest.mark.parametrize("seed", range(5))
def test_sidecars_read_back(tmp_path, seed):
    rng = np.random.default_rng(seed)
    tagged = {}
    for i in range(6):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{i}.png")
        words = [tag.replace("|", "").replace("\n", " ").strip() for tag in random_tags(rng)]
        tagged[str(tmp_path / f"{i}.png")] = sorted({word for word in words if word})
    for _ in range(2):
        assert write_tags(tagged) == ()
        for path, tags in tagged.items():
            assert sorted(read_keywords(path)) == tags


def test_lists_keep_the_order_of_the_tags(tmp_path):
    tagged = {str(tmp_path / "a.jpg"): ["sky", "a|b", "sea"], "/elsewhere/b.jpg": []}
    write_tags(tagged, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "image,tags\na.jpg,sky|a\\|b|sea\n/elsewhere/b.jpg,\n"
    write_tags(tagged, tmp_path / "x.csv", separator=";")
    assert (tmp_path / "x.csv").read_text() == "image,tags\na.jpg,sky;a|b;sea\n/elsewhere/b.jpg,\n"
    write_tags(tagged, tmp_path / "x", format="jsonl")
    assert (tmp_path / "x").read_text().splitlines()[0] == '{"image": "a.jpg", "tags": ["sky", "a|b", "sea"]}'


def test_names_that_are_no_text(tmp_path):
    tagged = {str(tmp_path / "odd\udcff.jpg"): ["sky"]}
    write_tags(tagged, tmp_path / "x.jsonl")
    assert read_collection(tmp_path / "x.jsonl").view("pictures") == list(tagged)
    with pytest.raises(ValueError, match=r"x\.csv: .*is not Unicode; rename it, or write \.jsonl instead"):
        write_tags(tagged, tmp_path / "x.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_what_cannot_be_written_is_named(tmp_path):
    for options in ({"format": "xmp"}, {"format": "doc"}):
        with pytest.raises(ValueError, match=r"format must be one of|sidecars lie beside"):
            write_tags({"a.jpg": ["sky"]}, tmp_path / "x.csv", **options)
    with pytest.raises(ValueError, match="a list needs a path"):
        write_tags({"a.jpg": ["sky"]}, format="csv")
    with pytest.raises(ValueError, match="blanks around a tag are lost"):
        write_tags({"a.jpg": [" sky"]}, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_tags_are_texts(picture):
    with pytest.raises(FileError, match=r"tags must be text, got 3 \(int\)"):
        write_sidecar(picture, ["sky", 3])
    assert not list(picture.parent.glob("*.xmp"))
    write_sidecar(picture, "sky")
    assert read_keywords(picture) == ["sky"]
