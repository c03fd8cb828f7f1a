"""What commands are handed: parts, tags by name, destinations."""

import numpy as np
import pytest
from PIL import Image

from tagrank.annotation.model_files.storage import ModelFileError
from tagrank.commands.destinations import check_file, check_folder
from tagrank.commands.evaluate import evaluate
from tagrank.commands.given_data import (
    check_has_tags,
    choose_part,
    is_picture,
    open_collection,
    open_model,
    open_pictures,
)
from tagrank.commands.missing.missing import missing
from tagrank.commands.steps.evaluating import align_tags
from tagrank.commands.train import train
from tagrank.data import Collection, Reading
from tagrank.errors import ArgumentError


@pytest.fixture
def coast():
    return Collection(
        views={"features": np.arange(8.0).reshape(4, 2)},
        labels=[{"sea", "sky"}, {"boat"}, None, {"sea"}],
        part=["train", "train", "test", "test"],
        name="coast",
    )


@pytest.mark.parametrize(
    ("part", "usual", "n_rows"),
    [(None, "train", 2), (None, "validation", 4), ("test", "train", 2), ("all", "train", 4)],
)
def test_parts(coast, part, usual, n_rows):
    assert len(choose_part(coast, part, usual=usual)) == n_rows


def test_unknown_part_lists_those_there_are(coast):
    with pytest.raises(ValueError, match="choose one of test, train, all"):
        choose_part(coast, "dev", usual="train")


@pytest.mark.filterwarnings("ignore:(treating|ignoring) tags")
def test_missing_tags_are_absent_where_anything_is_known(coast):
    aligned = align_tags(coast, ["sky", "gull", "sea"])
    expected = [[1, 0, 1], [0, 0, 0], [np.nan] * 3, [0, 0, 1]]
    np.testing.assert_array_equal(aligned.Y, expected)
    assert aligned.tags == ["sky", "gull", "sea"]


def test_differences_are_said(coast):
    with pytest.warns(UserWarning, match="the data do not have as absent: 1"):
        align_tags(coast, [*coast.tags, "gull"])
    with pytest.warns(UserWarning, match="the data that the model does not know: 2"):
        align_tags(coast, ["sky"])


def test_collections_pass_through_and_pictures_are_told_from_rows(coast, tmp_path):
    assert open_collection(coast) is coast
    assert is_picture(tmp_path / "photo.JPG")
    assert open_collection(tmp_path / "photo.JPG").view("pictures") == [str(tmp_path / "photo.JPG")]


def test_destinations_are_judged_without_being_touched(tmp_path):
    (tmp_path / "file").write_text("")
    check_file(tmp_path / "new" / "deep" / "a.csv")
    check_folder(tmp_path / "new" / "deep")
    check_folder(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_file(tmp_path)
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_folder(tmp_path / "file")
    with pytest.raises(NotADirectoryError, match="cannot be created"):
        check_file(tmp_path / "file" / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_files_without_rows_or_tags_are_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,tag:sky\n")
    with pytest.raises(ValueError, match=r"x.csv: has no rows"):
        open_collection(path)
    path.write_text("a,b\n1,2\n3,4\n")
    assert len(open_collection(path)) == 2
    for learn in (train, missing):
        with pytest.raises(
            ValueError,
            match=r"x.csv: has no tags .* column 'tags' .* for each tag a column such as 'tag:sky'",
        ):
            learn(path)


def test_misspelt_names_are_guessed():
    with pytest.raises(ValueError, match=r"no file, folder or data set .* mean 'drawn-pictures'\?") as caught:
        open_collection("drawn-picture")
    assert "'tagrank datasets' lists all" in str(caught.value)
    assert "corel5k" not in str(caught.value)
    with pytest.raises(ValueError, match="did you mean 'scene'"):
        open_collection("scen")


def test_a_misspelt_path_is_guessed(tmp_path):
    (tmp_path / "holiday").mkdir()
    with pytest.raises(
        ValueError, match=r"did you mean '.*holiday'\? 'tagrank datasets' lists all data sets"
    ):
        open_collection(tmp_path / "holidya")


def test_features_are_for_pictures(coast):
    for learn in (train, missing):
        with pytest.raises(
            ValueError, match=r"describe pictures, but coast has rows .* leave the features out"
        ):
            learn(coast, features="fast")
        with pytest.raises(ValueError, match="foo"):
            learn(coast, features="foo")


def test_texts_are_no_flags(coast):
    with pytest.raises(ValueError, match="center must be True or False, got 'false'"):
        train(coast, method="joint-svm", center="false")


def test_lists_of_pictures_that_are_not_there(tmp_path):
    (tmp_path / "list.csv").write_text("image,tags\n" + "".join(f"{i}.jpg,sky|sea\n" for i in range(4)))
    with pytest.raises(ValueError, match=r"0.jpg: No such file.* \(nor can any other of the 4 "):
        train(tmp_path / "list.csv", cache=False)


def test_a_count_that_no_tag_reaches(coast):
    for learn, found in {train: "'boat', is in 1 of 2", missing: "'sea', is in 2 of 4"}.items():
        with pytest.raises(
            ValueError, match=f"min_count=9 leaves no tags: the most frequent of all 3 .* {found} pictures"
        ):
            learn(coast, reading=Reading(min_count=9))


def test_an_empty_name_is_not_the_working_folder():
    """As a shell gives it for a variable that is not set."""
    for read in (open_collection, open_pictures):
        with pytest.raises(ArgumentError, match="data is an empty name"):
            read("")


def tagged_rows(n_rows, tags):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(n_rows, 3)), rng.integers(0, 2, size=(n_rows, len(tags))).astype(float)
    labels[:2] = [[0.0], [1.0]]
    return Collection(views={"features": X}, labels=labels, tags=tags)


def test_one_row_is_too_little_to_learn_from(coast):
    with pytest.raises(
        ValueError, match=r"only 1 row of coast has tags, .* tag at least two rows with different tags"
    ):
        train(coast.subset([0]), method="label-frequency")


@pytest.mark.parametrize("test_size", [None, 0.5])
def test_nothing_is_said_of_quality_where_nothing_is_ranked(test_size):
    one = train(tagged_rows(40, ["sky"]), method="one-vs-all", C=1.0, test_size=test_size)
    assert one.quality is None
    assert one.to_dict()["quality"] is None
    two = train(tagged_rows(40, ["sky", "sea"]), method="one-vs-all", C=1.0, test_size=test_size)
    assert two.quality is not None


def test_evaluation_of_one_tag_tells_no_quality():
    rows = tagged_rows(30, ["sky"])
    measured = evaluate(train(rows, method="one-vs-all", C=1.0).annotator, rows)
    assert not measured.is_telling
    assert measured.to_dict()["quality"] is None


def test_pictures_in_the_place_of_a_model(tmp_path):
    photos = tmp_path / "my photos"
    photos.mkdir()
    Image.new("RGB", (8, 8)).save(photos / "a.png")
    with pytest.raises(
        ModelFileError, match=r"is a folder of pictures, .* 'tagrank train '.*my photos' -o model'"
    ):
        open_model(photos)
    with pytest.raises(ModelFileError, match=r"a.png: is a picture; name the model first"):
        open_model(photos / "a.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFileError, match="is not a model"):
        open_model(tmp_path / "empty")


def test_separators_are_for_tables(tmp_path, coast):
    (tmp_path / "x.csv").write_text("file,labels\na.jpg,sky/sea\n")
    assert open_collection(tmp_path / "x.csv", reading=Reading(separator="/")).tags == ["sea", "sky"]
    for other in (coast, "drawn-pictures", tmp_path / "x.npz"):
        with pytest.raises(ArgumentError, match="separator needs a CSV file"):
            open_collection(other, reading=Reading(separator="/"))


def test_a_list_of_other_pictures_is_named_where_no_tags_are_left(tmp_path):
    Image.new("RGB", (16, 16)).save(tmp_path / "here.png")
    (tmp_path / "tags.csv").write_text("image,tags\nD:/elsewhere.png,sky\n")
    with pytest.raises(
        ValueError, match=r"no tags to learn from; 1 picture skipped, such as .*elsewhere.png: is"
    ):
        check_has_tags(open_collection(tmp_path), tmp_path)
