"""Model folders of format 2 still open, and answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tagrank import Annotator, Collection, draw_pictures

FOLDER = Path(__file__).parent / "format_2"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def rows_of(name):
    """The first rows that the models were trained on, in the views of each."""
    X = np.random.default_rng(0).random((24, 4))
    if name == "pictures":
        return draw_pictures(30, random_state=0).test.subset(slice(3))
    if "views" in name or "power" in name:
        return Collection({"a": X[:3, :2], "b": X[:3, 2:]})
    if "sparse" in name:
        return Collection({"features": sparse.csr_array(np.where(X > 0.4, X, 0))[:3]})
    if "precomputed" in name:
        return Collection({"features": (X @ X.T + np.eye(24))[:3]})
    return Collection({"features": X[:3]})


@pytest.mark.parametrize("name", EXPECTED)
def test_old_models_answer_as_they_did(name, tmp_path):
    annotator = Annotator.load(FOLDER / f"{name}.zip")
    rows = rows_of(name)
    for model in (annotator, _saved_again(annotator, tmp_path)):
        np.testing.assert_allclose(model.scores(rows), EXPECTED[name]["scores"], rtol=1e-6, atol=1e-9)
        assert model.predict(rows).tolist() == EXPECTED[name]["predicted"]


def _saved_again(annotator, folder):
    annotator.save(folder / "model")
    assert json.loads((folder / "model" / "model.json").read_text())["version"] == 3
    return Annotator.load(folder / "model")
