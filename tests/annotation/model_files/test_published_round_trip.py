"""Published forms answer the same after saving and loading."""

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.estimators import MultipleKernelSVM, OnlineJointSVM, SharedKernelSVM
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
