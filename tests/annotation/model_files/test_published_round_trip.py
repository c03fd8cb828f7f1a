"""Published forms answer the same after saving and loading."""

import json

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.estimators import (
    LabelTransfer,
    MultipleKernelSVM,
    OnlineJointSVM,
    ProbabilityRanker,
    SharedKernelSVM,
    TagPropagation,
)
from tagrank.estimators.base import innermost_fitted
from tagrank.kernels import Gaussian, Linear

SEVERAL = [Gaussian(), Linear(), Gaussian(gamma=0.3), Gaussian(gamma=3.0)]
FORMS = {
    "ML-MKL-SA": lambda: SharedKernelSVM(
        kernel=SEVERAL, objective="worst", solver="paper", eta=0.02, delta=0.5, max_iter=20, tol=0.9
    ),
    "VSKL, listed": lambda: SharedKernelSVM(kernel=SEVERAL, groups=["a", "a", "b", "b"], group_norm=3.0),
    "VSKL, each label": lambda: MultipleKernelSVM(kernel=SEVERAL, groups=np.array([0, 1, 0, 1])),
    "dual perceptron": lambda: OnlineJointSVM(form="dual", kernel="rbf", step=0.5, shuffle=False),
    "dual perceptron, linear": lambda: OnlineJointSVM(form="dual", average=False),
    "primal perceptron": lambda: OnlineJointSVM(center=False, average=False, shuffle=False),
}

DISTANCES = Gaussian() + 0.5 * Gaussian(gamma=3.0)


@pytest.mark.parametrize("name", FORMS)
def test_round_trip(name, make_collection, tmp_path):
    annotator = Annotator(FORMS[name]()).fit(make_collection())
    annotator.save(tmp_path / "model")
    loaded, new = Annotator.load(tmp_path / "model"), make_collection(9, seed=1)
    np.testing.assert_array_equal(loaded.scores(new), annotator.scores(new))
    np.testing.assert_array_equal(loaded.predict(new), annotator.predict(new))
    for parameter in set(annotator.estimator_.get_params()) - {"kernel"}:
        value = annotator.estimator_.get_params()[parameter]
        np.testing.assert_array_equal(loaded.estimator_.get_params()[parameter], value, err_msg=parameter)
    for fitted in {"weight_path_", "kernel_weights_", "coef_"} & set(vars(annotator.estimator_)):
        np.testing.assert_array_equal(
            getattr(loaded.estimator_, fitted), getattr(annotator.estimator_, fitted)
        )


@pytest.mark.parametrize(
    ("estimator", "unknown", "value"),
    [
        (
            TagPropagation(neighborhood="mean", kernel=DISTANCES),
            ["variant", "targets", "neighborhood"],
            "mean",
        ),
        (LabelTransfer(kernel=DISTANCES), ["distance_unit", "weighting", "n_shared", "sparsity"], None),
    ],
    ids=["tag-propagation", "label-transfer"],
)
def test_files_of_before_a_parameter_have_the_value_that_it_had(
    tmp_path, make_collection, estimator, unknown, value
):
    rows = make_collection()
    annotator = Annotator(ProbabilityRanker(estimator, cv=2)).fit(rows)
    expected = annotator.scores(rows)
    annotator.save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    content = json.loads(path.read_text())
    inner = content["estimator"]["state"]["estimator_"]
    for name in unknown:
        del inner["params"][name]
    if value is None:  # learned weights came together with their parameters
        del inner["state"]["weights_"], content["arrays"]["estimator.estimator.weights"]
        (tmp_path / "model" / "estimator.estimator.weights.npy").unlink()
    path.write_text(json.dumps(content))
    loaded = Annotator.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.scores(rows), expected, atol=1e-12)
    if value is not None:
        assert innermost_fitted(loaded.estimator_).neighborhood == value
