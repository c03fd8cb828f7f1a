"""Folders of pictures in every layout: three states, fixed order, every bad file listed with its reason."""

import json
import os
import shutil
import unicodedata

import numpy as np
import pytest
from PIL import Image

from tagrank.data import load_dataset, read_collection, read_pictures
from tagrank.data.readers.folders.folder import LAYOUTS, Layout
from tagrank.data.readers.marks import TagTable, part_in
from tagrank.files import FileError, Problem


def draw(folder, *names, size=(16, 16)):
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size, (i, 2 * i, 3 * i)).save(folder / name)


def tags_of(collection):
    """Present tags of each picture, None where all is unknown; nothing else may be unknown."""
    found = {}
    for name, row in zip(collection.names, collection.states(), strict=True):
        assert (row != 0).all() or (row == 0).all()
        known = len(row) and row[0] != 0
        found[name] = (
            {tag for tag, state in zip(collection.tags, row, strict=True) if state > 0} if known else None
        )
    return found


def reasons(collection):
    return {os.path.basename(problem.path): problem.reason for problem in collection.problems}


# Lists


@pytest.mark.parametrize("name", ["tags.csv", "tags.jsonl", "tags.json", "list.jsonl", "list.json"])
def test_lists_of_tags(tmp_path, name):
    draw(tmp_path, "b.jpg", "a.jpg", "deep/c.png", "d.jpg")
    rows = [("b.jpg", ["sky", "sea"]), ("deep/c.png", ["sky"]), ("d.jpg", [])]
    if name.endswith("csv"):
        text = "image,tags\n" + "".join(f"{image},{'|'.join(tags)}\n" for image, tags in rows)
    else:
        entries = [json.dumps({"image": image, "tags": tags}) for image, tags in rows]
        text = "[" + ",".join(entries) + "]" if name.endswith("json") else "\n".join(entries)
    (tmp_path / name).write_text(text)
    collection = read_pictures(tmp_path)
    assert tags_of(collection) == {
        "b.jpg": {"sea", "sky"},
        "deep/c.png": {"sky"},
        "d.jpg": None,
        "a.jpg": None,
    }
    assert collection.view("pictures") == [str(tmp_path / name) for name in collection.names]
    assert collection.problems == ()
    assert collection.part is None
    assert collection.name == tmp_path.name
    assert tags_of(read_collection(tmp_path, empty="absent"))["d.jpg"] == set()


def test_parts_from_the_names_of_lists(tmp_path):
    draw(tmp_path, "test/a.jpg", "train/a.jpg", "train/b.jpg", "c.jpg")
    (tmp_path / "test_tags.csv").write_text("image,tags\ntest/a.jpg,sky\ntrain/b.jpg,sky\n")
    (tmp_path / "train_tags.csv").write_text("image,tags\ntrain/a.jpg,sea\ntrain/b.jpg,sea\n")
    collection = read_pictures(tmp_path)
    assert dict(zip(collection.names, collection.part, strict=True)) == {
        "train/a.jpg": "train",
        "train/b.jpg": "train",
        "test/a.jpg": "test",
        "c.jpg": "unlisted",
    }
    assert tags_of(collection)["train/b.jpg"] == {"sea", "sky"}
    assert reasons(collection) == {"b.jpg": "is listed as 'test' too; it stays in 'train'"}


def test_other_columns_of_a_list_do_not_matter(tmp_path):
    draw(tmp_path, "a.jpg")
    (tmp_path / "tags.csv").write_text("caption,image,tags,score\na long one,a.jpg,sky,0.5\n")
    assert tags_of(read_pictures(tmp_path)) == {"a.jpg": {"sky"}}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train_tags.csv", "train"),
        ("instances_val2017", "val"),
        ("Validation", "val"),
        ("test-1", "test"),
        ("training_label", "train"),
        ("latest", ""),
        ("contest_tags", ""),
        ("valley", ""),
        ("tags", ""),
    ],
)
def test_parts_in_names(name, part):
    assert part_in(name) == part


def test_columns_of_tags_keep_their_three_states(tmp_path):
    draw(tmp_path, "a.jpg", "b.jpg")
    (tmp_path / "tags.csv").write_text("image,part,tag:sky,tag:sea\na.jpg,train,1,\n")
    collection = read_pictures(tmp_path)
    assert collection.tags == ["sea", "sky"]
    np.testing.assert_array_equal(collection.states(), [[0, 1], [0, 0]])
    assert list(collection.part) == ["train", "unlisted"]


def test_listed_pictures_that_are_not_there_or_lie_elsewhere(tmp_path):
    inside = tmp_path / "in"
    draw(tmp_path, "in/one/a.jpg", "in/two/a.jpg", "in/two/b.jpg", "out.jpg", "in/c.jpg")
    lines = ["a.jpg", "b.jpg", "none.jpg", "../out.jpg", str(tmp_path / "out.jpg"), str(inside / "c.jpg")]
    (inside / "tags.jsonl").write_text(
        "".join(json.dumps({"image": line, "tags": ["x"]}) + "\n" for line in lines)
    )
    collection = read_pictures(inside)
    assert tags_of(collection) == {"two/b.jpg": {"x"}, "c.jpg": {"x"}, "one/a.jpg": None, "two/a.jpg": None}
    found = reasons(collection)
    assert found["a.jpg"] == "stands for several pictures: one/a.jpg, two/a.jpg; list the whole path"
    assert found["none.jpg"] == "is listed, but does not exist"
    assert found["out.jpg"] == "is listed, but is outside the folder"
    assert len(collection.problems) == 4
    assert collection.summary()["problems"] == 4
    assert "problems: 4" in repr(collection)
    assert collection.subset([0]).problems == collection.problems
    with pytest.raises(FileError, match="stands for several pictures"):
        read_pictures(inside, strict=True)


def test_two_files_with_one_name_are_two_pictures(tmp_path):
    draw(tmp_path, "one/a.jpg", "two/a.jpg", "a.jpg")
    (tmp_path / "tags.csv").write_text("image,tags\none/a.jpg,x\ntwo\\a.jpg,y\na.jpg,z\n")
    assert tags_of(read_pictures(tmp_path)) == {"one/a.jpg": {"x"}, "two/a.jpg": {"y"}, "a.jpg": {"z"}}


def test_accents_composed_or_not_blanks_and_names_that_are_no_text(tmp_path):
    draw(tmp_path, unicodedata.normalize("NFD", "café été.jpg"), "with  blanks .jpg")
    shutil.copy(tmp_path / "with  blanks .jpg", os.fsencode(tmp_path) + b"/odd\xff.jpg")
    odd = os.fsdecode(b"odd\xff.jpg")
    entries = [(unicodedata.normalize("NFC", "café été.jpg"), "é"), ("with  blanks .jpg", "b"), (odd, "c")]
    lines = [json.dumps({"image": image, "tags": [tag]}) for image, tag in entries]
    (tmp_path / "tags.jsonl").write_text("\n".join(lines))
    collection = read_pictures(tmp_path, strict=True)
    assert list(tags_of(collection).values()) == [{"é"}, {"b"}, {"c"}]
    assert all(os.path.isfile(path) for path in collection.view("pictures"))
    assert collection.names[2] == odd


# Walks


def test_walks_are_sorted_pass_over_what_is_hidden_and_end(tmp_path):
    draw(
        tmp_path,
        "b/2.PNG",
        "b/1.jpg",
        "a.jpeg",
        ".hidden/x.jpg",
        "b/.x.jpg",
        ".tagrank/cache.png",
        "c/d/e/f.webp",
    )
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "b" / "self").symlink_to(tmp_path / "b" / "self")
    (tmp_path / "b" / "self.jpg").symlink_to(tmp_path / "b" / "self.jpg")
    (tmp_path / "0link").symlink_to(tmp_path / "c" / "d")
    (tmp_path / "file.jpg").symlink_to(tmp_path / "b" / "1.jpg")
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere")
    collection = read_pictures(tmp_path, layout="untagged")
    assert collection.names == ["a.jpeg", "b/1.jpg", "b/2.PNG", "c/d/e/f.webp", "file.jpg"]
    not_followed = "a link to a folder, which is not followed without follow_links"
    assert reasons(collection) == {
        "self.jpg": "a broken link",
        "gone.jpg": "a broken link",
        "loop": not_followed,
        "0link": not_followed,
    }
    followed = read_pictures(tmp_path, layout="untagged", follow_links=True)
    assert followed.names == collection.names
    assert reasons(followed) == {"self.jpg": "a broken link", "gone.jpg": "a broken link"}
    assert collection.Y.shape == (5, 0)


def test_links_to_other_folders_are_followed_once_where_asked_for(tmp_path):
    draw(tmp_path, "photos/a.jpg", "elsewhere/b.jpg")
    for name in ("one", "two"):
        (tmp_path / "photos" / name).symlink_to(tmp_path / "elsewhere")
    assert read_pictures(tmp_path / "photos", follow_links=True).names == ["a.jpg", "one/b.jpg"]
    assert read_pictures(tmp_path / "photos").names == ["a.jpg"]


def test_no_link_leads_out_where_all_must_stay_inside(tmp_path):
    draw(tmp_path, "photos/a.jpg", "photos/album/c.jpg", "elsewhere/b.jpg")
    photos = tmp_path / "photos"
    (tmp_path / "elsewhere" / "tags.csv").write_text("image,tags\na.jpg,secret\n")
    (photos / "out").symlink_to(tmp_path / "elsewhere")
    (photos / "out.jpg").symlink_to(tmp_path / "elsewhere" / "b.jpg")
    (photos / "tags.csv").symlink_to(tmp_path / "elsewhere" / "tags.csv")
    (photos / "in").symlink_to(photos / "album")
    (photos / "in.jpg").symlink_to(photos / "a.jpg")
    collection = read_pictures(photos, layout="untagged", follow_links=True, only_inside=True)
    assert collection.names == ["a.jpg", "album/c.jpg", "in.jpg"]
    assert set(reasons(collection)) == {"out", "out.jpg", "tags.csv"}


def test_photographs_in_foreign_formats_are_mentioned(tmp_path):
    draw(tmp_path, "a.jpg")
    for name in ("a.CR2", "b.jxl"):
        (tmp_path / name).write_bytes(b"raw")
    assert read_pictures(tmp_path).problems == (
        Problem(str(tmp_path / "b.jxl"), "JXL pictures cannot be read; convert it to JPEG"),
    )


def test_folders_that_cannot_be_read_are_listed(tmp_path, monkeypatch):
    draw(tmp_path, "a.jpg", "locked/b.jpg")
    scandir = os.scandir

    def refuse(path):
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    collection = read_pictures(tmp_path)
    assert collection.names == ["a.jpg"]
    assert reasons(collection) == {"locked": "the folder cannot be read (Permission denied)"}


def test_no_folder_no_pictures_no_such_layout(tmp_path):
    with pytest.raises(FileError, match="no such folder; expected one with pictures"):
        read_pictures(tmp_path / "none")
    with pytest.raises(FileError, match="has no pictures; expected files such as JPEG"):
        read_pictures(tmp_path)
    draw(tmp_path, "a.jpg")
    with pytest.raises(ValueError, match="layout must be one of 'tag_list', 'corel5k'"):
        read_pictures(tmp_path, layout="csv")
    with pytest.raises(ValueError, match=r"the layout 'untagged' of .* has no option words"):
        read_pictures(tmp_path, words="260")
    for layout in ("tag_list", "corel5k", "coco"):
        with pytest.raises(FileError):
            read_pictures(tmp_path, layout=layout)


# Sub-folders


def test_one_folder_a_tag(tmp_path):
    draw(tmp_path, "cat/1.jpg", "dog/1.jpg", "dog/deep/2.jpg", "bird/3.jpg")
    shutil.copy(tmp_path / "cat" / "1.jpg", tmp_path / "bird" / "1.jpg")
    assert tags_of(read_pictures(tmp_path)) == {
        "bird/1.jpg": {"bird", "cat"},
        "bird/3.jpg": {"bird"},
        "dog/1.jpg": {"dog"},
        "dog/deep/2.jpg": {"dog"},
    }
    draw(tmp_path, "loose.jpg")
    assert tags_of(read_pictures(tmp_path, layout="tag_folders"))["loose.jpg"] is None


def test_folders_of_tags_below_train_and_test(tmp_path):
    draw(tmp_path, "train/cat/1.jpg", "train/dog/2.jpg", "test/cat/1.jpg")
    shutil.copy(tmp_path / "train" / "cat" / "1.jpg", tmp_path / "test" / "cat" / "1.jpg")
    collection = read_pictures(tmp_path)
    assert collection.tags == ["cat", "dog"]
    assert collection.train.names == ["train/cat/1.jpg", "train/dog/2.jpg"]
    assert collection.test.names == ["test/cat/1.jpg"]


def test_pictures_in_one_folder_are_not_a_tag(tmp_path):
    draw(tmp_path, "images/1.jpg", "images/2.jpg")
    assert tags_of(read_pictures(tmp_path)) == {"images/1.jpg": None, "images/2.jpg": None}


# COCO


def coco(images, annotations, categories=((7, "dog"), (3, "cat"), (9, "kite"))):
    return {
        "images": [{"id": key, "file_name": name} for key, name in images],
        "annotations": [{"id": i, "image_id": a, "category_id": b} for i, (a, b) in enumerate(annotations)],
        "categories": [{"id": key, "name": name} for key, name in categories],
    }


def test_coco_instances(tmp_path):
    draw(tmp_path, "train2017/1.jpg", "val2017/1.jpg", "train2017/2.jpg", "train2017/unlisted.jpg")
    (tmp_path / "annotations").mkdir()
    train = coco([(1, "1.jpg"), (2, "2.jpg"), (5, "lost.jpg")], [(1, 7), (1, 7), (1, 3)])
    (tmp_path / "annotations" / "instances_train2017.json").write_text(json.dumps(train))
    (tmp_path / "annotations" / "instances_val2017.json").write_text(
        json.dumps(coco([(1, "1.jpg")], [(1, 3)]))
    )
    (tmp_path / "annotations" / "captions_val2017.json").write_text("{}")
    collection = read_pictures(tmp_path)
    assert collection.tags == ["dog", "cat", "kite"]
    expected = {"train2017/1.jpg": {"cat", "dog"}, "train2017/2.jpg": None, "val2017/1.jpg": {"cat"}}
    assert tags_of(collection) == expected
    assert list(collection.part) == ["train", "train", "val"]
    assert reasons(collection) == {"lost.jpg": "is listed, but does not exist"}
    assert tags_of(read_pictures(tmp_path, empty="absent"))["train2017/2.jpg"] == set()
    one = read_collection(tmp_path / "annotations" / "instances_val2017.json")
    assert tags_of(one) == {"val2017/1.jpg": {"cat"}}


def test_a_coco_file_beside_its_pictures(tmp_path, monkeypatch):
    draw(tmp_path, "images/1.jpg", "2.jpg")
    (tmp_path / "labels.json").write_text(json.dumps(coco([("x", "1.jpg"), ("y", "2.jpg")], [("x", 7)])))
    monkeypatch.chdir(tmp_path)
    assert tags_of(read_pictures(".")) == {"images/1.jpg": {"dog"}, "2.jpg": None}
    assert tags_of(read_collection("labels.json")) == {"images/1.jpg": {"dog"}, "2.jpg": None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "unexpected|not JSON"),
        ('{"images": [], "annotations": [], "categories": 1}', "expected an object with the lists"),
        (json.dumps(coco([(1, "1.jpg")], [(1, 8)])), r"annotations\[0\] has the unknown category 8"),
        (json.dumps(coco([(1, "")], [])), r"images\[0\] needs 'file_name'"),
        (json.dumps(coco([(None, "a")], [])), r"images\[0\] needs 'id'"),
        ("[" * 100_000, "not JSON"),
        ('[{"image": 3, "tags": []}]', 'expected an object with "image" and "tags"'),
        ('[{"image": "1.jpg", "tags": "sky"}]', "tags must be a list of texts"),
    ],
)
def test_malformed_json_is_a_sentence(tmp_path, content, message):
    draw(tmp_path, "1.jpg")
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(FileError, match=rf"x\.json: .*({message})"):
        read_collection(tmp_path / "x.json")


def test_other_json_files_do_not_disturb(tmp_path):
    draw(tmp_path, "1.jpg")
    (tmp_path / "package.json").write_text('{"name": "images"}')
    assert tags_of(read_pictures(tmp_path)) == {"1.jpg": None}


# PASCAL VOC


def voc(folder, stem, *objects):
    inner = "".join(f"<object><name>{name}</name><part><name>head</name></part></object>" for name in objects)
    (folder / "Annotations").mkdir(exist_ok=True)
    text = f"<annotation><filename>wrong.jpg</filename>{inner}</annotation>"
    (folder / "Annotations" / f"{stem}.xml").write_text(text)


def test_voc(tmp_path):
    draw(tmp_path, "JPEGImages/1.jpg", "JPEGImages/2.jpg", "JPEGImages/3.jpg", "SegmentationClass/1.png")
    voc(tmp_path, 1, "person", "dog", "person")
    voc(tmp_path, 2)
    voc(tmp_path, 9, "cat")
    (tmp_path / "ImageSets" / "Main").mkdir(parents=True)
    (tmp_path / "ImageSets" / "Main" / "train.txt").write_text("1\n2\n")
    (tmp_path / "ImageSets" / "Main" / "trainval.txt").write_text("1\n2\n3\n")
    (tmp_path / "ImageSets" / "Main" / "dog_train.txt").write_text("1 1\n2 -1\n")
    collection = read_pictures(tmp_path)
    expected = {"JPEGImages/1.jpg": {"dog", "person"}, "JPEGImages/2.jpg": None, "JPEGImages/3.jpg": None}
    assert tags_of(collection) == expected
    assert list(collection.part) == ["train", "train", "unlisted"]
    assert reasons(collection) == {"9.xml": "there is no picture '9' in JPEGImages/"}
    assert tags_of(read_pictures(tmp_path, empty="absent"))["JPEGImages/2.jpg"] == set()
    draw(tmp_path, "JPEGImages/1.png")
    assert tags_of(read_pictures(tmp_path))["JPEGImages/1.png"] == {"dog", "person"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<!DOCTYPE a [<!ENTITY b "cc">]><annotation>&b;</annotation>', "declares a document type"),
        ("<annotation><object>", "not well-formed XML"),
        ("<a>" * 1000 + "</a>" * 1000, "more than 100 levels"),
        ("<a>" + "<b/>" * 200_001 + "</a>", "200,000 elements"),
        ("<annotation>" + " " * 2**22 + "</annotation>", "has more than 4,194,304 bytes"),
        ("", "not well-formed XML"),
        ("<?xml version='1.0' encoding='klingon'?><annotation/>", "not well-formed XML"),
    ],
)
def test_malformed_annotations_leave_the_picture_untagged(tmp_path, content, message):
    draw(tmp_path, "JPEGImages/1.jpg", "JPEGImages/2.jpg")
    voc(tmp_path, 2, "dog")
    (tmp_path / "Annotations" / "1.xml").write_text(content)
    collection = read_pictures(tmp_path)
    assert tags_of(collection) == {"JPEGImages/1.jpg": None, "JPEGImages/2.jpg": {"dog"}}
    assert message in reasons(collection)["1.xml"]
    with pytest.raises(FileError, match=message):
        read_pictures(tmp_path, strict=True)


# Lists that list nothing


@pytest.mark.parametrize(
    ("name", "text"), [("tags.csv", "image,tags\n"), ("tags.csv", "image,tag:sky\n"), ("tags.jsonl", "")]
)
def test_a_list_without_pictures_leaves_all_untagged(tmp_path, name, text):
    draw(tmp_path, "1.jpg", "2.jpg")
    (tmp_path / name).write_text(text)
    assert tags_of(read_pictures(tmp_path)) == {"1.jpg": None, "2.jpg": None}


# Corel5k


def corel(folder):
    draw(folder, "train/10.jpeg", "train/11.jpeg", "test/12.jpeg")
    (folder / "labels").mkdir()
    (folder / "labels" / "words").write_bytes(b"city\r\nsun set\r\nsea\r\n")
    (folder / "labels" / "words1.txt").write_text("sea\n")
    (folder / "labels" / "training_label").write_bytes(b"10 1 2  \r\n11 2\r\n13 1\r\n")
    (folder / "labels" / "test_label").write_bytes(b"12 3 3 1 \r\n")


def test_corel_layout(tmp_path):
    corel(tmp_path)
    collection = read_pictures(tmp_path)
    assert collection.tags == ["city", "sun set", "sea"]
    expected = {
        "train/10.jpeg": {"city", "sun set"},
        "train/11.jpeg": {"sun set"},
        "test/12.jpeg": {"city", "sea"},
    }
    assert tags_of(collection) == expected
    assert list(collection.part) == ["train", "train", "test"]
    assert list(reasons(collection)) == ["13.jpeg"]
    # whose words are all left out is known to have none of the others
    some = read_pictures(tmp_path, words="1")
    assert tags_of(some) == {"train/10.jpeg": set(), "train/11.jpeg": set(), "test/12.jpeg": {"sea"}}
    (tmp_path / "labels" / "test_label").write_text("12 4\n")
    with pytest.raises(
        FileError, match=r"test_label, line 1: expected the number of a word, 1 to 3, got '4'"
    ):
        read_pictures(tmp_path)


# Published collections


def test_corel_photographs(research_data):
    if not (research_data / "corel5k_images").is_dir():
        pytest.skip("corel5k_images is absent")
    whole, common = load_dataset("corel5k_images"), load_dataset("corel5k_images_260")
    assert (len(whole.train), len(whole.test), len(whole.tags)) == (4500, 499, 374)
    assert (len(common.train), len(common.test), len(common.tags)) == (4500, 499, 260)
    assert whole.problems == ()
    assert (np.bincount((common.train.states() > 0).sum(axis=1))).sum() == 4500
    assert ((common.train.states() > 0).any(axis=0) & (common.test.states() > 0).any(axis=0)).all()
    assert (common.states() != 0).all()
    # the published cardinalities over the 260 words
    assert (common.train.states() > 0).sum() / 4500 == pytest.approx(3.3829, abs=1e-4)
    assert (common.test.states() > 0).sum() / 499 == pytest.approx(3.5190, abs=1e-4)


def test_coco_photographs(research_data):
    if not (research_data / "coco_multilabel_4k").is_dir():
        pytest.skip("coco_multilabel_4k is absent")
    collection = load_dataset("coco_multilabel_4k")
    assert (len(collection.train), len(collection.test), len(collection.tags)) == (3000, 1000, 80)
    labels = (research_data / "coco_multilabel_4k" / "labels.txt").read_text().split("\n")
    assert collection.tags == sorted(label for label in labels if label)
    assert load_dataset("coco_ccby_small").summary()["rows wholly unknown"] == 2


def test_lists_with_capitals_and_semicolons(tmp_path):
    draw(tmp_path, "a.png", "b.png")
    (tmp_path / "tags.csv").write_text("Image;Caption;Tags\na.png;a day, out;sky|sea\nb.png;;sky\n")
    assert tags_of(read_pictures(tmp_path)) == {"a.png": {"sky", "sea"}, "b.png": {"sky"}}


# One more


def test_a_layout_is_one_module_and_one_entry(tmp_path, monkeypatch):
    def read_toy(folder, *, tag="toy"):
        table = TagTable(folder)
        for name in folder.pictures:
            table.add(name, [tag])
        return table.collection()

    draw(tmp_path, "a.png", "b.png")
    (tmp_path / "toy.txt").touch()
    toy = Layout(lambda folder: "toy.txt" in folder.files, read_toy)
    monkeypatch.setattr("tagrank.data.readers.folders.folder.LAYOUTS", {"toy": toy, **LAYOUTS})
    whole = read_pictures(tmp_path)
    assert (whole.layout, whole.tags) == ("toy", ["toy"])
    assert read_pictures(tmp_path, layout="toy", tag="ball").tags == ["ball"]
    with pytest.raises(ValueError, match=r"the layout 'toy' .* has no option words"):
        read_pictures(tmp_path, words="260")


def test_all_layouts_are_described():
    assert all(f'"{name}"' in read_pictures.__doc__ for name in LAYOUTS)
