"""Joint methods answer the same after saving and loading, and a stream goes on."""

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.estimators import JointSVM, OnlineJointSVM
from tagrank.estimators.joint import joint_svm
from tagrank.estimators.joint.output_kernels import PolynomialOutputs
from tagrank.kernels import Gaussian, Linear


def check_round_trip(annotator, data, folder):
    annotator.save(folder)
    loaded = Annotator.load(folder)
    np.testing.assert_array_equal(loaded.scores(data), annotator.scores(data))
    np.testing.assert_array_equal(loaded.predict(data), annotator.predict(data))
    return loaded.estimator_


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("decoding", ["direct", "transfer"])
@pytest.mark.parametrize("output", ["linear", "odds-ratio", "poly2", PolynomialOutputs(3, 0.5)], ids=str)
def test_joint_svm(kind, kernel, decoding, output, make_collection, tmp_path):
    estimator = JointSVM(kernel=kernel, decoding=decoding, output_kernel=output, n_neighbors=3)
    annotator = Annotator(estimator).fit(make_collection(kind=kind))
    loaded = check_round_trip(annotator, make_collection(9, kind=kind, seed=1), tmp_path / "model")
    assert loaded.get_params() == annotator.estimator_.get_params()
    assert loaded.trace_ == annotator.estimator_.trace_


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_joint_svm_on_rows(kind, make_collection, tmp_path, monkeypatch):
    monkeypatch.setattr(joint_svm, "VISITS", 0)
    annotator = Annotator(JointSVM(kernel="linear", output_kernel="odds-ratio")).fit(
        make_collection(kind=kind)
    )
    check_round_trip(annotator, make_collection(9, kind=kind, seed=1), tmp_path / "model")


def test_matrix_is_stored_and_a_function_is_refused(make_collection, tmp_path):
    collection = make_collection()
    S = np.eye(len(collection.tags)) + 0.1
    annotator = Annotator(JointSVM(output_kernel=S)).fit(collection)
    loaded = check_round_trip(annotator, make_collection(9, seed=1), tmp_path / "model")
    np.testing.assert_array_equal(loaded.output_kernel, S)
    annotator = Annotator(JointSVM(output_kernel=lambda V, Z: V @ Z.T)).fit(collection)
    with pytest.raises(TypeError, match="is a function, which cannot be stored"):
        annotator.save(tmp_path / "other")


@pytest.mark.parametrize("kind", ["dense", "sparse", "views"])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_online_goes_on_after_loading(kind, average, kernel, make_collection, tmp_path):
    if kind == "views":
        kernel = Gaussian().on("colour") + Linear().on("edges")
    annotator = Annotator(OnlineJointSVM(kernel=kernel, average=average, random_state=0))
    annotator.fit(make_collection(kind=kind))
    more = make_collection(9, kind=kind, seed=1)
    loaded = check_round_trip(annotator, more, tmp_path / "model")
    X = {view: more.view(view) for view in ("colour", "edges")} if kind == "views" else more.X
    for model in (loaded, annotator.estimator_):
        model.partial_fit(X, more.Y)
    np.testing.assert_allclose(
        loaded.decision_function(X), annotator.estimator_.decision_function(X), atol=1e-6
    )
