"""How many looks at a picture are taken, and that each is computed once."""

import numpy as np
import pytest

import tagrank
from tagrank import choose_features
from tagrank.annotation import Annotator, FeatureBank
from tagrank.annotation.choosing import looks as choosing
from tagrank.annotation.choosing.looks import check_looks, choose_looks, describe_with_looks
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.errors import ArgumentError
from tagrank.features.networks.efficientnet import EfficientNetEmbedding
from tagrank.features.networks.looks import with_looks

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(30, size=32, random_state=0)


def test_the_bank_keeps_every_look_once(drawn, tmp_path, monkeypatch):
    pictures = drawn.view("pictures")[:4]
    one = choose_features("efficientnet_lite0")
    options = {"folder": tmp_path, "n_jobs": 1}
    before = FeatureBank(one, **options).extract(pictures)
    counted, describe = [], EfficientNetEmbedding.describe
    monkeypatch.setattr(
        EfficientNetEmbedding, "describe", lambda self, picture: counted.append(1) or describe(self, picture)
    )
    two, four = (FeatureBank(with_looks(one, number), **options).extract(pictures) for number in (2, 4))
    # the mirror image, then the centre and its mirror image
    assert len(counted) == len(pictures) * (1 + 2)
    feature = with_looks(one, 2)["efficientnet_lite0"]
    by_hand = np.array([feature(picture) for picture in pictures])
    np.testing.assert_allclose(two.views["efficientnet_lite0"], by_hand, atol=1e-6)
    np.testing.assert_array_equal(two.views["efficientnet_lite0"], four.views["efficientnet_lite0"])
    assert list(four.views) == ["efficientnet_lite0", "efficientnet_lite0_centre"]
    assert four.seconds.keys() == four.seconds_a_picture.keys() == four.views.keys()
    seconds = (described.seconds_a_picture["efficientnet_lite0"] for described in (two, before))
    assert next(seconds) > next(seconds)


def test_a_model_with_looks_is_stored_and_answers_the_same(drawn, tmp_path):
    features = with_looks(choose_features("efficientnet_lite0"), 2)
    annotator = Annotator("label-ranker", features=features, costs=[1.0]).fit(drawn)
    annotator.save(tmp_path / "model")
    again = Annotator.load(tmp_path / "model")
    pictures = list(drawn.view("pictures")[:3])
    np.testing.assert_allclose(again.scores(pictures), annotator.scores(pictures), atol=1e-5)


@pytest.mark.parametrize(
    ("gains", "taken"), [((0.01, 0.02), 4), ((0.01, 0.011), 2), ((0.001, 0.003), 1), ((0.001, 0.01), 4)]
)
def test_looks_are_taken_where_they_pay(gains, taken):
    """Two looks must gain 0.2 points over one, four as much over two, or twice as much over one."""
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=1e-3, size=(2, 400))
    base = rng.uniform(0.5, 1, 400)
    values = {1: base, 2: base + gains[0] + noise[0], 4: base + gains[1] + noise[1]}
    choice = choosing._chosen(values, 400)
    assert choice.n_looks == taken
    assert choice.to_dict()["trials"][1]["gain"] == pytest.approx(gains[0], abs=1e-3)
    assert choice.words.startswith(f"{taken} (points on held-out pictures for 2: +")


def test_a_gain_by_chance_is_no_gain():
    noise = np.random.default_rng(0).normal(size=100)
    values = {1: np.zeros(100), 2: 0.003 + noise - noise.mean(), 4: np.zeros(100)}
    assert choosing._chosen(values, 100).n_looks == 1


def test_pictures_that_show_it_get_their_looks(drawn, monkeypatch):
    """The whole way on few pictures: every number of looks is measured on the same pictures."""
    monkeypatch.setattr(choosing, "FEWEST_TO_WEIGH", 20)
    described, choice = describe_with_looks(drawn, "efficientnet_lite0", "auto", n_jobs=1)
    assert [trial.looks for trial in choice.trials] == [1, 2, 4]
    assert all(0 < trial.value <= 1 for trial in choice.trials)
    assert (
        described.features.keys() == with_looks(choose_features("efficientnet_lite0"), choice.n_looks).keys()
    )
    assert choice.n_pictures == 30


def test_few_pictures_are_looked_at_once(drawn):
    choice = choose_looks(drawn, choose_features("efficientnet_lite0"))
    assert (choice.n_looks, choice.trials) == (1, ())
    assert "too few pictures" in choice.words


@pytest.mark.parametrize("looks", [0, 3, "many", 2.5, True])
def test_other_numbers_are_refused_before_anything_is_read(looks):
    with pytest.raises(ArgumentError, match="looks must be 1, 2, 4 or 'auto', got"):
        tagrank.train("no-such-folder", looks=looks)


def test_looks_are_for_pictures():
    rows = tagrank.Collection({"features": np.eye(12)}, np.eye(12)[:, :2], ["a", "b"])
    with pytest.raises(ArgumentError, match="needs pictures, but the data has rows of numbers"):
        tagrank.train(rows, looks=2)
    with pytest.raises(ArgumentError, match="needs an embedding, but the features are gist"):
        describe_with_looks(draw_pictures(3, size=32), "gist", 2)
    assert [check_looks(word) for word in (None, "4", 2, "auto")] == [1, 4, 2, "auto"]
