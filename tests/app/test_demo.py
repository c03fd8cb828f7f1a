"""`tagrank demo`, on fewer pictures: a table, ranked tags, a model and a page that needs nothing else."""

import json

import pytest

from tagrank.annotation import Annotator
from tagrank.data.pictures import draw_pictures


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "tour"


@pytest.fixture(scope="module")
def document(tagrank, folder):
    result = tagrank("demo", "--output", folder, "--n-pictures", 120, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def value(document, method, name):
    return next(row["value"] for row in document["metrics"][method]["rows"] if row["name"] == name)


def test_learning_beats_counting(document):
    counted = value(document, "LabelFrequency", "Image-AUC")
    assert value(document, "LabelRanker", "Image-AUC") > counted + 0.1
    assert value(document, "OneVsAllSVM", "Image-AUC") > counted + 0.1


def test_ranked_tags_come_with_the_truth(document):
    assert document["pictures"]
    for picture in document["pictures"]:
        assert picture["true_tags"]
        assert all(0 <= entry["probability"] <= 1 for entry in picture["tags"])


def test_page_is_self_contained(document, folder):
    page = (folder / "report.html").read_text()
    assert "data:image/jpeg;base64," in page
    assert "LabelFrequency" in page
    assert "<script" not in page
    assert 'src="http' not in page


def test_model_ranks_tags_of_new_pictures(document, folder):
    assert sorted(path.name for path in folder.iterdir()) == ["model", "report.html"]
    pictures = draw_pictures(3, random_state=99)
    assert len(Annotator.load(folder / "model").annotate(pictures, n_tags=4)[0]) == 4


def test_output_for_people(tagrank, folder, document):
    result = tagrank("demo", "--output", folder, "--n-pictures", 60)
    assert result.exit_code == 0
    assert "LabelRanker" in result.stdout
    assert "drawing-0002" in result.stdout
    assert "report.html" in result.stderr


def test_destination_is_a_file(tagrank, tmp_path):
    (tmp_path / "file").write_text("mine")
    result = tagrank("demo", "--output", tmp_path / "file")
    assert result.exit_code == 1
    assert "is a file" in result.stderr
