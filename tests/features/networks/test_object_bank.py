"""The object bank: classes of the network in the picture and its quarters."""

import json

import numpy as np
import pytest
import skimage
from sklearn.datasets import load_sample_image

from tagrank.features.networks.efficientnet import VARIANTS, efficientnet_model, load_weights
from tagrank.features.networks.framing import resize
from tagrank.features.networks.object_bank import ObjectBank
from tagrank.features.networks.onnx_embedding import open_session

CATS = {281, 282, 285}
TEMPLES = {442, 663, 698, 832}


def probabilities(pixels):
    """The classes of one picture, by the network itself."""
    session = open_session(efficientnet_model(load_weights(0), VARIANTS[0], classify=True))
    views = ((resize(pixels, 224, 224).astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]
    (logits,) = session.run(["logits"], {"pixels": views})
    odds = np.exp(logits[0].astype(np.float64))
    return odds / odds.sum()


def test_cells_are_seen_like_pictures_of_their_own():
    pixels = skimage.data.chelsea()[:, :400]
    row = ObjectBank()(pixels)
    assert row.shape == (5000,)
    assert row.dtype == np.float32
    middle, centre = 150, 200
    cells = [pixels, pixels[:middle, :centre], pixels[:middle, centre:]]
    cells += [pixels[middle:, :centre], pixels[middle:, centre:]]
    expected = np.array([probabilities(cell) for cell in cells])
    np.testing.assert_allclose(5 * row.reshape(5, 1000) ** 2, expected, atol=1e-5)
    largest = ObjectBank(maximum=True)(pixels) ** 2
    joined = np.concatenate([expected[0], expected[1:].max(axis=0)])
    np.testing.assert_allclose(largest, joined / joined.sum(), atol=1e-5)
    np.testing.assert_array_equal(ObjectBank()(pixels), row)


def test_things_are_found_where_they_are():
    cat, temple = (resize(p, 200, 200) for p in (skimage.data.chelsea(), load_sample_image("china.jpg")))
    grey = np.full_like(cat, 128)
    pixels = np.block([[[cat], [grey]], [[grey], [temple]]])
    cells = ObjectBank()(pixels).reshape(5, 1000)
    assert set(np.argsort(-cells[1])[:3].tolist()) & CATS
    assert set(np.argsort(-cells[4])[:5].tolist()) & TEMPLES
    for cell in cells[2:4]:
        assert cell[sorted(CATS | TEMPLES)].max() < cells[1][sorted(CATS)].max() / 2


@pytest.mark.parametrize(("levels", "columns"), [(1, 1000), (3, 21000)])
def test_levels(levels, columns):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 30, 3), dtype=np.uint8)
    row = ObjectBank(levels=levels)(pixels)
    assert row.shape == (columns,)
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)
    assert ObjectBank(levels=levels, maximum=True)(pixels).shape == (1000 * levels,)


def test_settings():
    bank = ObjectBank(2, levels=3, maximum=True)
    settings = json.loads(json.dumps(bank.settings()))
    del settings["type"], settings["version"]
    assert ObjectBank(**settings) == bank
    assert "EfficientNet-Lite2" in bank.about
    with pytest.raises(ValueError, match="variant must be 0, 1 or 2, got 3"):
        ObjectBank(3)
    with pytest.raises(ValueError, match="levels must be a whole number from 1 to 3, got 4"):
        ObjectBank(levels=4)
