"""`tagrank demo`, on fewer pictures: a table, ranked tags, a model and a page that needs nothing else."""

import json

import numpy as np
import pytest
from PIL import Image

from tagrank.annotation import Annotator
from tagrank.annotation.choosing import choose
from tagrank.commands.demo import demo
from tagrank.data.drawn_pictures import draw_pictures

pytestmark = pytest.mark.usefixtures("quick_words")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "tour"


@pytest.fixture(scope="module")
def document(tagrank, folder):
    result = tagrank("demo", "--output", folder, "--n-pictures", 80, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def value(document, method, name):
    return next(row["value"] for row in document["metrics"][method]["rows"] if row["name"] == name)


def test_learning_beats_counting(document):
    counted = value(document, "LabelFrequency", "Image-AUC")
    assert value(document, "LabelRanker", "Image-AUC") > counted + 0.1
    assert value(document, "OneVsAllSVM", "Image-AUC") > counted + 0.1


def test_costs_are_chosen_on_the_training_pictures_and_used(tmp_path, monkeypatch):
    rows, chosen = [], []

    def choose_seen(plan, X, labels, **options):
        rows.append(labels.shape[0])
        chosen.append(choose(plan, X, labels, **options))
        return chosen[-1]

    monkeypatch.setattr("tagrank.annotation.annotator.choose", choose_seen)
    found = demo(tmp_path / "tour", n_pictures=60)
    assert rows == [len(draw_pictures(60, random_state=0).train)] * 3
    costs = [one.estimator.C for one in chosen[:2]]
    assert found.costs == dict(zip(("LabelRanker", "OneVsAllSVM"), costs, strict=True))
    assert costs[0] == Annotator.load(found.model).estimator_.estimator_.C


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


def test_model_reads_picture_files(tagrank, document, folder, tmp_path):
    pictures = draw_pictures(4, random_state=99)
    for name, image in zip("abcd", pictures.view("pictures"), strict=True):
        Image.fromarray(image).save(tmp_path / f"{name}.png")
    rows = "".join(
        f"{name}.png,{'|'.join(np.array(pictures.tags)[labels == 1])}\n"
        for name, labels in zip("abcd", pictures.Y, strict=True)
    )
    (tmp_path / "list.csv").write_text("image,tags\n" + rows)
    alone = json.loads(tagrank("annotate", folder / "model", tmp_path / "b.png", "--json").stdout)["pictures"]
    listed = json.loads(tagrank("annotate", folder / "model", tmp_path / "list.csv", "--json").stdout)[
        "pictures"
    ]
    assert alone[0]["name"] == "b.png"
    assert [entry["tag"] for entry in alone[0]["tags"]] == [entry["tag"] for entry in listed[1]["tags"]]
    result = tagrank("evaluate", folder / "model", tmp_path / "list.csv", "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "page.html").read_text().count("data:image/jpeg;base64,") >= 4


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
