"""Annotator takes pictures and tags in the forms that people have them; broken files are reported."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tagrank.annotation import Annotator, explain
from tagrank.data import Collection, ProblemWarning, read_pictures
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.files import FileError

FEATURES = ["colour", "lbp"]


@pytest.fixture(scope="module")
def drawings():
    return draw_pictures(40, size=48)


@pytest.fixture(scope="module")
def tag_sets(drawings):
    return [[drawings.tags[j] for j in np.flatnonzero(row > 0)] for row in drawings.states()]


@pytest.fixture(scope="module")
def annotator(drawings):
    return Annotator("one-vs-all", features=FEATURES).fit(drawings)


@pytest.fixture
def folder(drawings, tmp_path):
    """The first pictures as files."""
    for i, pixels in enumerate(drawings.X[:6]):
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
    return tmp_path


def entries(ranked):
    return [row.entries for row in ranked]


def test_one_picture_in_every_form(drawings, annotator, folder):
    pixels, path = drawings.X[0], folder / "0.png"
    expected = entries(annotator.annotate(Collection({"pictures": [str(path)]})))
    with Image.open(path) as image:
        forms = [
            *(str(path), path, path.read_bytes(), io.BytesIO(path.read_bytes()), image, pixels),
            *(pixels[None], pixels / 255, np.dstack([pixels, np.full((48, 48), 255, np.uint8)])),
            *([path], (path,), np.array([str(path)]), pd.Series([path], index=[7]), folder.glob("0.png")),
        ]
        for form in forms:
            assert entries(annotator.annotate(form)) == expected, type(form)
    assert annotator.annotate(path)[0].name == str(path)
    (why,) = explain(annotator, path, tags=["sky"])
    assert why == explain(annotator, [str(path)], tags=["sky"])[0]


def test_a_grey_array_is_a_picture_and_rows_stay_rows(drawings, annotator):
    grey = drawings.X[0][:, :, 1]
    as_colours = entries(annotator.annotate([np.dstack([grey] * 3)]))
    assert entries(annotator.annotate(grey)) == entries(annotator.annotate([grey])) == as_colours
    rows = annotator.training_.stacked()[0][:2]
    np.testing.assert_allclose(annotator.scores(rows), annotator.scores(drawings)[:2], atol=1e-5)


def test_a_folder_and_a_mixed_list(annotator, folder, drawings):
    names = [str(folder / f"{i}.png") for i in range(6)]
    ranked = annotator.annotate(folder)
    assert [row.name for row in ranked] == names
    mixed = annotator.annotate([drawings.X[0], folder, (folder / "3.png").read_bytes()])
    assert [row.name for row in mixed] == ["picture 0", *names, "picture 7"]
    assert entries(mixed)[1:7] == entries(ranked)
    assert mixed[-1].entries == ranked[3].entries


def test_broken_pictures_are_reported_in_their_place(annotator, folder):
    broken = folder / "1.png"
    broken.write_bytes(broken.read_bytes()[:200])
    given = [folder / "0.png", broken, b"hello", folder / "none.png", folder / "2.png"]
    with pytest.warns(ProblemWarning, match=r"3 pictures were skipped: .*1\.png: .*strict=True") as caught:
        ranked = annotator.annotate(given, known=[["sky"], [], [], [], ["sea"]])
    assert [one.filename for one in caught] == [__file__]
    assert [row.name for row in ranked] == [
        str(given[0]),
        str(broken),
        "picture 2",
        str(given[3]),
        str(given[4]),
    ]
    assert [bool(row.problem) for row in ranked] == [False, True, True, True, False]
    assert [len(row) > 0 for row in ranked] == [True, False, False, False, True]
    assert ranked[1].to_dict()["problem"] == ranked[1].problem
    alone = annotator.annotate([given[0], given[4]], known=[["sky"], ["sea"]])
    assert entries(alone) == [ranked[0].entries, ranked[4].entries]
    with pytest.raises(FileError, match="picture 2: not a picture"):
        annotator.annotate(given, strict=True)
    for call in (annotator.scores, annotator.predict, annotator.probabilities):
        with pytest.raises(FileError, match=r"1\.png: "):
            call(given[:2])


def test_if_no_picture_can_be_read_it_is_an_error(annotator, folder):
    with pytest.raises(FileError, match=r"none\.png: No such file"):
        annotator.annotate(folder / "none.png")
    with pytest.raises(FileError, match=r"picture 0: not a picture .*nor can any other of the 2 be read"):
        annotator.annotate([b"hello", b"world"])
    with pytest.raises(ValueError, match="got no pictures; expected a path, a Pillow picture"):
        annotator.annotate([])
    for wrong in (None, 3):
        with pytest.raises(TypeError, match=r"expected a path, a Pillow picture, .* got "):
            annotator.annotate(wrong)


def test_a_model_of_rows_refuses_pictures(make_collection, folder):
    rows = Annotator("one-vs-all").fit(make_collection())
    for pictures in (folder, [folder / "0.png"], np.zeros((9, 9, 3))):
        with pytest.raises(ValueError, match="trained on rows of numbers, got pictures"):
            rows.annotate(pictures)


def test_pictures_and_tags_teach_as_a_collection_does(drawings, tag_sets, folder):
    with pytest.warns(UserWarning, match="never present in training"):
        expected = Annotator("one-vs-all", features=FEATURES).fit(drawings.subset(slice(6)))
    paths = sorted(folder.glob("*.png"))
    frame = pd.DataFrame(drawings.states()[:6] > 0, columns=drawings.tags).astype("boolean")
    forms = (frame, frame.to_numpy(dtype=float), drawings.labels[:6])
    for data, tags in zip(
        (paths, folder, iter(paths), list(drawings.X[:6]), drawings.X[:6]), forms * 2, strict=False
    ):
        with pytest.warns(UserWarning, match="never present in training"):
            taught = Annotator("one-vs-all", features=FEATURES).fit(data, tags)
        np.testing.assert_allclose(taught.scores(paths), expected.scores(paths), atol=1e-5)
    by_sets = Annotator("one-vs-all", features=FEATURES).fit(paths, tag_sets[:6])
    assert by_sets.tags == sorted({tag for tags in tag_sets[:6] for tag in tags})
    assert by_sets.training_names_ == list(map(str, paths))


def test_a_folder_of_tagged_pictures_is_enough(tag_sets, folder):
    lines = [f"{i}.png,{'|'.join(tags)}" for i, tags in enumerate(tag_sets[:5])]
    (folder / "tags.csv").write_text("image,tags\n" + "\n".join(lines) + "\n")
    whole = Annotator("one-vs-all", features=FEATURES).fit(folder)
    listed = Annotator("one-vs-all", features=FEATURES).fit(read_pictures(folder).subset(slice(5)))
    # the picture without tags teaches nothing, and is not described
    assert whole.training_names_ == listed.training_names_ == [f"{i}.png" for i in range(5)]
    np.testing.assert_allclose(whole.scores(folder), listed.scores(folder), atol=1e-5)


def test_broken_pictures_are_left_out_of_the_training(tag_sets, folder):
    (folder / "1.png").write_bytes(b"broken")
    given = [*sorted(folder.glob("*.png")), b"broken, too"]
    with pytest.warns(ProblemWarning, match="2 pictures were skipped"), pytest.warns(match="never present"):
        taught = Annotator("one-vs-all", features=FEATURES).fit(given, tag_sets[:7])
    assert [Path(problem.path).name for problem in taught.problems_] == ["1.png", "picture 6"]
    sound = [0, 2, 3, 4, 5]
    labels = [[tag in tag_sets[i] for tag in taught.tags] for i in sound]
    with pytest.warns(match="never present"):
        expected = Annotator("one-vs-all", features=FEATURES).fit([given[i] for i in sound], labels)
    assert expected.problems_ == ()
    np.testing.assert_allclose(taught.scores(given[0]), expected.scores(given[0]), atol=1e-5)
    with pytest.raises(FileError, match=r"1\.png: "):
        Annotator("one-vs-all", features=FEATURES).fit(given[:2], tag_sets[:2], strict=True)


def test_rows_and_labels(make_collection):
    collection = make_collection()
    X, Y = collection.X, collection.labels
    expected = Annotator("one-vs-all").fit(Collection({"features": X}, Y)).scores(X)
    columns = [f"column {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    for rows in (X, X.tolist(), frame, frame.astype("Float64"), {"features": X}):
        np.testing.assert_allclose(Annotator("one-vs-all").fit(rows, Y).scores(X), expected, atol=1e-12)
    named = Annotator("one-vs-all").fit(frame, pd.DataFrame(Y, columns=collection.tags).astype("Int64"))
    assert named.tags == collection.tags
    np.testing.assert_allclose(named.scores(frame[columns[::-1]]), expected, atol=1e-12)


WRONG = {
    "no tags": (lambda: ([b"a"],), "fit needs the tags, too: fit"),
    "texts": (lambda: (["a.png"], ["sky"]), r"got the text 'sky', write \['sky'\] for a single tag"),
    "a text": (lambda: (["a.png"], "sky"), "must be a list of tag sets"),
    "a number": (lambda: (["a.png"], 3), "must be a list of tag sets"),
    "nothing": (lambda: ([], []), "got nothing to learn from"),
    "too few": (lambda: (["a.png", "b.png"], [["sky"]]), "got 2 pictures or rows, but tags for 1"),
    "twice": (lambda: (Collection({"x": np.ones((1, 1))}), [["a"]]), r"collection\.with_labels\(tags\)"),
    "no folder": (lambda: ("no-such-folder",), "no-such-folder: no such file or folder"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_learned_from_says_so(name):
    given, message = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=message):
        Annotator(features=FEATURES).fit(*given())
