"""Several kernels of the same samples: Gaussians on the views of a data set, and features of photographs."""

from typing import NamedTuple

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.data import load_dataset
from tagrank.features import PRESETS, choose_features
from tagrank.kernels import Gaussian, KernelStack, make_kernel, stack_of_kernels
from tagrank.kernels.gram import gram
from tagrank_papers.protocols.data import DRAWN, dense

# solvers of several kernels, as the dissertation calls them
PAPER_NAMES = {
    "gradient": "GMKL",
    "simple": "SimpleMKL",
    "mirror": "VSKL",
    "group-lasso": "MKL-GL",
    "level": "MKL-Level",
    "silp": "MKL-SIP",
    "smo": "MKL-SMO",
}

PHOTOGRAPHS = "corel5k_images_260"
FEATURES = (*PRESETS["papers"], *PRESETS["embedding"], "hog", "phog", "lbp", "covariance")
FIRST_VIEW = {"yeast": 79, "emotions": 64}  # columns of the first of two views


class KernelSet(NamedTuple):
    """Training samples, and test samples compared with them.

    Attributes
    ----------
    stack, test : KernelStack of shapes (n_train, n_train) and (n_test, n_train)
    Y, truth : arrays of 0 and 1, shapes (n_train, n_labels) and (n_test, n_labels)
    """

    stack: KernelStack
    test: KernelStack
    Y: np.ndarray
    truth: np.ndarray

    def part(self, rows, labels=slice(None)):
        """Some of the training samples, all test samples, and some of the labels."""
        stack, test = self.stack[np.ix_(rows, rows)], self.test[np.ix_(np.arange(len(self.truth)), rows)]
        return KernelSet(stack, test, self.Y[rows][:, labels], self.truth[:, labels])


def read_views(name):
    """The views of a data set, columns of mean 0 and deviation 1, and its labels."""
    if name == DRAWN:
        return draw_views()
    whole = load_dataset(name)
    views = {view: dense(X) for view, X in whole.views.items()}
    if name in FIRST_VIEW:
        (X,) = views.values()
        views = {"first": X[:, : FIRST_VIEW[name]], "second": X[:, FIRST_VIEW[name] :]}
    return {view: standardized(X) for view, X in views.items()}, dense(whole.Y)


def draw_views(n_samples=120, n_labels=4, seed=0):
    """One view that tells all about the labels, one that tells some, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(n_samples, 3))
    strength = place @ rng.normal(size=(3, n_labels)) + 0.5 * rng.normal(size=(n_samples, n_labels))
    blurred = place + rng.normal(size=place.shape)
    views = {"clear": place, "blurred": blurred, "noise": rng.normal(size=place.shape)}
    return views, (strength > 0.5).astype(float)


def standardized(X):
    deviations = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1)


def gaussian_stack(views, widths=(1.0,)):
    """A Gaussian kernel on each view for each width, in means of the distance; the first width first."""
    gammas = {view: Gaussian().fit(X).gamma for view, X in views.items()}
    named = {
        f"{view}, width {width:g}": Gaussian(gammas[view] / width).on(view)
        for width in widths
        for view in views
    }
    _, stack = stack_of_kernels(list(named.values()), views, names=list(named), dtype=np.float32)
    return stack


def split_samples(stack, Y, n_train, n_test, seed):
    """Training and test samples drawn at random; with labels that occur among both, and not everywhere."""
    order = np.random.default_rng(seed).permutation(len(Y))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    known = [varies(Y[rows]) for rows in (train, test)]
    labels = np.flatnonzero(known[0] & known[1])
    parts = stack[np.ix_(train, train)], stack[np.ix_(test, train)]
    return KernelSet(*parts, Y[np.ix_(train, labels)], Y[np.ix_(test, labels)])


def varies(Y):
    return (Y.any(axis=0)) & ~(Y.all(axis=0))


def read_kernels(name, widths=(1.0,), n_train=None, n_test=1000, seed=0):
    """Gaussians on the views of a data set; two thirds of its samples are for training by default."""
    views, Y = read_views(name)
    n_train = min(n_train or len(Y), 2 * len(Y) // 3)
    return split_samples(gaussian_stack(views, widths), Y, n_train, n_test, seed)


def read_photographs(n_train=None, n_labels=None, seed=0):
    """The 21 sets of features of the Corel5k photographs: some training pictures, all test pictures.

    The labels are the most frequent among the training pictures.
    """
    whole = load_dataset(PHOTOGRAPHS)
    train = describe_pictures(whole.train, choose_features(list(FEATURES)), cache=True)
    test = describe_pictures(whole.test, train.features, cache=True).collection
    order = np.random.default_rng(seed).permutation(len(train.collection))
    rows = np.sort(order[:n_train])
    Y, truth = dense(train.collection.Y)[rows], dense(test.Y)
    labels = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:n_labels])
    views = {view: train.collection.view(view)[rows] for view in FEATURES}
    kernels = [make_kernel(feature.kernel).on(view) for view, feature in train.features.items()]
    fitted, stack = stack_of_kernels(kernels, views, names=list(train.features), dtype=np.float32)
    other = {view: test.view(view) for view in FEATURES}
    between = [gram(kernel, other, views, dtype=np.float32) for kernel in fitted]
    return KernelSet(stack, KernelStack.between(between), Y[:, labels], truth[:, labels])
