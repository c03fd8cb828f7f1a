"""Small seeded problems, and a model folder to damage."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators import CalibratedRanker, LabelRanker

TAGS = ["sea", "boat", "street", "night"]


def draw_collection(n_rows=36, *, kind="dense", seed=0):
    """Rows without negative numbers and tags that depend on them; some labels unknown."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 7)) * (rng.random((n_rows, 7)) < 0.7)
    labels = (X[:, :4] > np.quantile(X[:, :4], 0.6, axis=0)).astype(float)
    labels[rng.random(labels.shape) < 0.1] = np.nan
    views = {
        "dense": lambda: {"features": X},
        "float32": lambda: {"features": X.astype(np.float32)},
        "sparse": lambda: {"features": sparse.csr_array(X)},
        "views": lambda: {"colour": X[:, :3], "edges": sparse.csr_array(X[:, 3:])},
        "precomputed": lambda: {"similarities": X @ X.T},
    }[kind]()
    return Collection(views, labels, TAGS, name="small")


@pytest.fixture
def collection():
    return draw_collection()


@pytest.fixture(scope="session")
def make_collection():
    return draw_collection


@pytest.fixture(scope="session")
def fitted():
    ranker = CalibratedRanker(LabelRanker(kernel="rbf", random_state=0), random_state=0)
    return Annotator(ranker).fit(draw_collection())


@pytest.fixture
def model_folder(fitted, tmp_path):
    fitted.save(tmp_path / "model", keep_rows=True)
    return tmp_path / "model"
