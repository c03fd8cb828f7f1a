"""Whatever happens to the files of a model, it is refused in a sentence or its answers are finite numbers."""

import hashlib
import json
import shutil

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError
from tagrank.estimators import (
    CalibratedRanker,
    LabelFrequency,
    LabelRanker,
    OneVsAllSVM,
    ProbabilityRanker,
    ScoreSum,
)

CASES_PER_FILE = 12
MODELS = {
    "calibrated": (CalibratedRanker(LabelRanker(kernel="rbf", random_state=0), random_state=0), "dense"),
    "probability": (
        ProbabilityRanker(ScoreSum(LabelRanker(random_state=0), OneVsAllSVM(random_state=0)), random_state=0),
        "dense",
    ),
    "linear": (OneVsAllSVM(kernel="linear"), "views"),
    "sparse": (OneVsAllSVM(kernel="chi2"), "sparse"),
    "frequencies": (LabelFrequency(), "float32"),
}


def truncate(rng, file, _):
    data = file.read_bytes()
    file.write_bytes(data[: rng.integers(len(data) + 1)])


def flip_bits(rng, file, _):
    data = bytearray(file.read_bytes())
    for place in rng.integers(len(data), size=rng.integers(1, 4)):
        data[place] ^= 1 << int(rng.integers(8))
    file.write_bytes(data)


def overwrite_block(rng, file, _):
    data = bytearray(file.read_bytes())
    start = int(rng.integers(len(data)))
    data[start : start + 16] = rng.bytes(len(data[start : start + 16]))
    file.write_bytes(data)


def delete(rng, file, _):
    file.unlink()


def swap(rng, file, other):
    mine, its = file.read_bytes(), other.read_bytes()
    file.write_bytes(its)
    other.write_bytes(mine)


def duplicate(rng, file, other):
    shutil.copy(file, other)


def repeat(rng, file, _):
    file.write_bytes(file.read_bytes() * 2)


DAMAGES = (truncate, flip_bits, overwrite_block, delete, swap, duplicate, repeat)


def list_again(folder):
    """Make the list of arrays true to the files, as far as they are arrays: damage becomes forgery."""
    try:
        content = json.loads((folder / "model.json").read_bytes())
        for name, listed in content["arrays"].items():
            array = np.load(folder / f"{name}.npy", allow_pickle=False)
            digest = hashlib.sha256(np.ascontiguousarray(array)).hexdigest()
            listed.update(shape=list(array.shape), dtype=array.dtype.str, sha256=digest)
    except Exception:
        return
    (folder / "model.json").write_text(json.dumps(content))


def opened(folder, collection):
    """Whether the model opens; then its answers must be finite."""
    try:
        model = Annotator.load(folder)
    except ModelFileError as error:
        message = str(error)
    else:
        message = None
    if message is not None:
        assert message.startswith(f"{folder}: ")
        assert len(message) > len(f"{folder}: ") + 10
        return False
    assert np.isfinite(model.scores(collection)).all()
    assert len(model.annotate(collection, n_tags=1)) == len(collection)
    return True


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("forged", [False, True], ids=["damaged", "forged"])
@pytest.mark.parametrize("name", MODELS)
def test_every_file(name, forged, tmp_path, make_collection):
    estimator, kind = MODELS[name]
    collection = make_collection(kind=kind)
    whole, folder = tmp_path / "whole", tmp_path / "model"
    Annotator(estimator).fit(collection).save(whole, keep_rows=True)
    rng = np.random.default_rng(0)
    files = sorted(path.name for path in whole.iterdir())
    n_opened = n_cases = 0
    for file in files:
        for case in range(CASES_PER_FILE):
            shutil.copytree(whole, folder)
            other = str(rng.choice([name for name in files if name != file]))
            DAMAGES[case % len(DAMAGES)](rng, folder / file, folder / other)
            if forged:
                list_again(folder)
            n_opened += opened(folder, collection)
            n_cases += 1
            shutil.rmtree(folder)
    assert n_opened < n_cases / 2
    assert opened(whole, collection)
