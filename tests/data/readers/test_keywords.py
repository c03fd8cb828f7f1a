"""Keywords inside pictures and in sidecars, as photo programs write them."""

import struct

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from tagrank.data import read_keywords, read_pictures, read_sidecar
from tagrank.data.readers.xmp import Keywords
from tagrank.files import FileError

LIGHTROOM = """<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 5.6">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:lr="http://ns.adobe.com/lightroom/1.0/" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
    crs:Exposure2012="+0.35">
   <dc:subject>
    <rdf:Bag><rdf:li>Rome</rdf:li><rdf:li>Europe</rdf:li><rdf:li>sunset &amp; sea</rdf:li></rdf:Bag>
   </dc:subject>
   <dc:title><rdf:Alt><rdf:li xml:lang="x-default">not a keyword</rdf:li></rdf:Alt></dc:title>
   <lr:hierarchicalSubject><rdf:Bag><rdf:li>Places|Europe|Rome</rdf:li></rdf:Bag></lr:hierarchicalSubject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>"""
# prefixes are a matter of taste
DIGIKAM = """<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 <r:Description r:about="" xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:k="http://www.digikam.org/ns/1.0/">
  <k:TagsList><r:Seq><r:li>Animals/Cat</r:li></r:Seq></k:TagsList>
  <d:subject><r:Bag><r:li>Cat</r:li><r:li>Cat</r:li><r:li> été </r:li><r:li/></r:Bag></d:subject>
 </r:Description></r:RDF></x:xmpmeta>"""


def iptc(*words, charset=None):
    entries = [] if charset is None else [(1, 90, charset)]
    entries += [(2, 0, b"\0\2"), *((2, 25, word) for word in words)]
    return b"".join(
        bytes([0x1C, record, number]) + len(value).to_bytes(2, "big") + value
        for record, number, value in entries
    )


def save_with_iptc(path, record):
    Image.new("RGB", (16, 16)).save(path)
    padded = record + b"\0" * (len(record) % 2)
    body = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + len(record).to_bytes(4, "big") + padded
    content = path.read_bytes()
    segment = b"\xff\xed" + (len(body) + 2).to_bytes(2, "big") + body
    path.write_bytes(content[:2] + segment + content[2:])


def test_sidecars_of_several_programs(tmp_path):
    (tmp_path / "a.xmp").write_text(LIGHTROOM)
    assert read_sidecar(tmp_path / "a.xmp") == Keywords(
        ("Rome", "Europe", "sunset & sea"), ("Places|Europe|Rome",)
    )
    (tmp_path / "b.xmp").write_text(DIGIKAM, encoding="utf-8")
    assert read_sidecar(tmp_path / "b.xmp") == Keywords(("Cat", "été"), ("Animals|Cat",))
    (tmp_path / "c.xmp").write_bytes(DIGIKAM.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert read_sidecar(tmp_path / "c.xmp").flat == ("Cat", "été")
    with pytest.raises(FileError, match="this sidecar does not exist"):
        read_sidecar(tmp_path / "none.xmp")


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tiff"])
def test_xmp_inside_pictures(tmp_path, name):
    if name.endswith("png"):
        notes = PngInfo()
        notes.add_itxt("XML:com.adobe.xmp", LIGHTROOM)
        Image.new("RGB", (16, 16)).save(tmp_path / name, pnginfo=notes)
    elif name.endswith("tiff"):
        Image.new("RGB", (16, 16)).save(tmp_path / name, tiffinfo={700: LIGHTROOM.encode()})
    else:
        Image.new("RGB", (16, 16)).save(tmp_path / name, xmp=LIGHTROOM.encode())
    assert read_keywords(tmp_path / name) == ["Rome", "Europe", "sunset & sea"]
    assert read_keywords(tmp_path / name, hierarchical=True) == ["Places|Europe|Rome", "sunset & sea"]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (iptc(b"sky", b"sea", b"sky"), ["sky", "sea"]),
        (iptc("été".encode(), charset=b"\x1b%G"), ["été"]),
        (iptc("été".encode("latin-1")), ["été"]),
        (iptc(b"sky")[:-1], ["sk"]),
        (iptc(b"sky") + b"\x1c\x02\x19\xff\xff" + b"a" * 40, ["sky"]),
        (b"garbage", []),
    ],
    ids=["plain", "utf-8", "latin-1", "cut", "lies about its length", "garbage"],
)
def test_iptc_keywords(tmp_path, record, expected):
    save_with_iptc(tmp_path / "a.jpg", record)
    assert read_keywords(tmp_path / "a.jpg") == expected


@pytest.mark.parametrize("kind", ["bytes", "integers"])
def test_iptc_in_tiff(tmp_path, kind):
    record = iptc(b"sky!")
    path = tmp_path / "a.tiff"
    info = ImageFileDirectory_v2()
    info.tagtype[33723] = 7
    info[33723] = record
    Image.new("RGB", (16, 16)).save(path, tiffinfo=info)
    if kind == "integers":
        # as Photoshop declares it: type 4, a quarter of the count
        as_bytes = struct.pack("<HHI", 33723, 7, len(record))
        assert as_bytes in path.read_bytes()
        as_integers = struct.pack("<HHI", 33723, 4, len(record) // 4)
        path.write_bytes(path.read_bytes().replace(as_bytes, as_integers))
    assert read_keywords(path) == ["sky!"]


def test_xmp_goes_before_iptc_which_is_cut(tmp_path):
    save_with_iptc(tmp_path / "a.jpg", iptc(b"sunset & s"))
    with Image.open(tmp_path / "a.jpg") as image:
        photoshop = image.app["APP13"]
    image = Image.new("RGB", (16, 16))
    extra = b"\xff\xed" + (len(photoshop) + 2).to_bytes(2, "big") + photoshop
    image.save(tmp_path / "a.jpg", xmp=LIGHTROOM.encode(), extra=extra)
    assert read_keywords(tmp_path / "a.jpg") == ["Rome", "Europe", "sunset & sea"]


def test_a_folder_with_keywords(tmp_path):
    for name in ("a.jpg", "b.JPG", "c.png", "in/d.jpg", "e.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (16, 16)).save(tmp_path / name)
    save_with_iptc(tmp_path / "in" / "f.jpg", iptc(b"Cat"))
    (tmp_path / "a.jpg.xmp").write_text(DIGIKAM, encoding="utf-8")
    (tmp_path / "a.xmp").write_text(LIGHTROOM)
    (tmp_path / "b.XMP").write_text(LIGHTROOM)
    (tmp_path / "c.xmp").write_text("<broken")
    (tmp_path / "e.jpg").write_bytes(b"no picture")
    collection = read_pictures(tmp_path)
    assert collection.names == ["a.jpg", "b.JPG", "c.png", "in/d.jpg", "in/f.jpg"]
    assert collection.tags == ["Cat", "Europe", "Rome", "sunset & sea", "été"]
    expected = [[1, 1, 1, 1, 1], [-1, 1, 1, 1, -1], [0] * 5, [0] * 5, [1, -1, -1, -1, -1]]
    np.testing.assert_array_equal(collection.states(), expected)
    assert [problem.path for problem in collection.problems] == [
        str(tmp_path / "c.xmp"),
        str(tmp_path / "e.jpg"),
    ]
    assert "not well-formed XML" in collection.problems[0].reason
    assert "not a picture" in collection.problems[1].reason
    levels = read_pictures(tmp_path, hierarchical=True)
    assert levels.tags == ["Animals|Cat", "Cat", "Places|Europe|Rome", "sunset & sea", "été"]
    with pytest.raises(FileError, match=r"c\.xmp: not well-formed"):
        read_pictures(tmp_path, strict=True)


def test_embedded_keywords_alone_decide_the_layout(tmp_path):
    for name in ("2019/a.jpg", "2020/b.jpg"):
        (tmp_path / name).parent.mkdir()
        save_with_iptc(tmp_path / name, iptc(b"sky"))
    assert read_pictures(tmp_path).tags == ["sky"]


@pytest.mark.parametrize(
    "packet",
    [
        b"<broken",
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"<a>" * 500,
    ],
)
def test_malformed_keywords_leave_the_picture_untagged(tmp_path, packet):
    Image.new("RGB", (16, 16)).save(tmp_path / "a.jpg", xmp=packet)
    with pytest.raises(FileError, match="its embedded keywords cannot be read"):
        read_keywords(tmp_path / "a.jpg")
    collection = read_pictures(tmp_path, layout="keywords")
    assert collection.names == ["a.jpg"]
    assert "its embedded keywords cannot be read" in collection.problems[0].reason
