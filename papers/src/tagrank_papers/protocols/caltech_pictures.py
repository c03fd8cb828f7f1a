"""Pictures of Caltech 101, and kernels after table 2.3 of the dissertation: which of its 48 are ours.

Bags of words and pyramids have a kernel for each level; products are of the kernels of all levels.
"""

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.data import load_dataset
from tagrank.features import FEATURES
from tagrank.features.words.layout import CellLayout
from tagrank.kernels import KernelStack, make_kernel
from tagrank.kernels.gram import gram
from tagrank_papers.protocols.data import DRAWN, dense
from tagrank_papers.protocols.kernel_sets import KernelSet, draw_views, gaussian_stack, split_samples

BAGS = {  # sets of features that are bags of words, and the cells of their levels
    "dense_sift": ("1x1", "2x2", "4x4"),
    "dense_hsv_sift": ("1x1", "2x2", "4x4"),
    "self_similarity": ("1x1", "2x2"),
}
PYRAMIDS = {
    "phog": (4, 40),
    "phog_oriented": (4, 40),
    "lbp": (3, 59),
    "covariance": (3, 45),
}  # levels, columns a cell
WHOLE = ("window_sift", "lbp")
PRODUCTS = ("dense_sift", "dense_hsv_sift", "phog", "phog_oriented")  # of the kernels of all levels
PUBLISHED_KERNELS = (  # of table 2.3: what they are, with which numbers, and what stands for them here
    ("1-3", "LBP, a kernel for each of 3 levels", "`lbp`, levels 1 to 3"),
    ("4", "LBP, all levels in one histogram", "`lbp`"),
    ("9-12", "words of dense SIFT, 1,000, grey, 4 levels", "`dense_sift` in 1x1, 2x2 and 4x4 cells"),
    ("13-16", "words of dense SIFT, 1,000, HSV, 4 levels", "`dense_hsv_sift` in 1x1, 2x2 and 4x4 cells"),
    ("17", "SIFT of 100 windows, grey", "`window_sift`"),
    ("23-26", "unoriented gradients of edges, 4 levels", "`phog`, levels 1 to 4"),
    ("27-30", "oriented gradients of edges, 4 levels", "`phog_oriented`, levels 1 to 4"),
    (
        "31-34, 39",
        "products of the kernels of all levels",
        "products of `dense_sift`, `dense_hsv_sift`, `phog`, `phog_oriented`",
    ),
    ("36-38", "region covariance, 3 levels", "`covariance`, levels 1 to 3"),
    ("47-48", "words of self-similarity, 300, 2 levels", "`self_similarity` in 1x1 and 2x2 cells"),
    ("5-8, 19-22, 41-46", "words of dense SIFT, 300, grey and HSV", "none: as 9 to 16 with fewer words"),
    ("18", "SIFT of 100 windows, HSV", "none here; `window_hsv_sift` has it, 38,400 columns a picture"),
    ("35", "VIS+", "none"),
    ("40", "geometric blur", "none"),
)


def choose_sets():
    """Sets of features by name; levels of bags have a set each, levels of pyramids are parts of a row."""
    bags = {
        f"{name}, {layout}": FEATURES[name].replace(layout=CellLayout(layout))
        for name, layouts in BAGS.items()
        for layout in layouts
    }
    return bags | {name: FEATURES[name] for name in dict.fromkeys((*PYRAMIDS, *WHOLE))}


class Pictures:
    """Pictures of classes, described once; draws of so many a class, and parts of a draw with fewer."""

    def __init__(self, name):
        described = describe_pictures(load_dataset(name), choose_sets(), cache=True)
        self.Y, self.classes = dense(described.collection.Y), list(described.collection.tags)
        self.kernels, self.rows = {}, {}
        for view, feature in described.features.items():
            X = described.collection.view(view)
            for kernel, columns in _parts(view).items():
                self.kernels[kernel], self.rows[kernel] = feature.kernel, X[:, columns]

    def draw(self, seed, size):
        rng = np.random.default_rng(seed)
        order = [rng.permutation(np.flatnonzero(label))[:size] for label in self.Y.T]
        self.train = np.concatenate(order)
        self.rank = np.concatenate([np.arange(len(rows)) for rows in order])
        self.matrices = {name: self._compare(name) for name in self.kernels}
        for name in PRODUCTS:
            levels = [K for kernel, K in self.matrices.items() if kernel.startswith(f"{name}, ")]
            self.matrices[f"{name}, product"] = np.multiply.reduce(levels)

    def _compare(self, name):
        """Similarities of all pictures with those for training."""
        X, others = self.rows[name], np.setdiff1d(np.arange(len(self.Y)), self.train)
        K = np.empty((len(self.Y), len(self.train)), np.float32)
        kernel, K[self.train] = make_kernel(self.kernels[name]).fit_gram(X[self.train], dtype=np.float32)
        K[others] = gram(kernel, X[others], X[self.train], dtype=np.float32)
        return K

    def part(self, size):
        """The first pictures of each class; all others are for the test."""
        columns = np.flatnonzero(self.rank < size)
        rows = self.train[columns]
        others = np.setdiff1d(np.arange(len(self.Y)), rows)
        names, matrices = list(self.matrices), list(self.matrices.values())
        stack = KernelStack([K[np.ix_(rows, columns)] for K in matrices], names, trusted=True)
        test = KernelStack.between(matrices, names)[np.ix_(others, columns)]
        return KernelSet(stack, test, self.Y[rows], self.Y[others])

    def places(self, classes):
        """The columns of these classes."""
        return [self.classes.index(name) for name in classes]


def _parts(view):
    """The kernels that a view has, with their columns."""
    levels, width = PYRAMIDS.get(view, (0, 0))
    ends = np.cumsum([0, *(width * 4**level for level in range(levels))])
    parts = {f"{view}, level {k + 1}": slice(*ends[k : k + 2]) for k in range(levels)}
    return parts | ({} if levels and view not in WHOLE else {view: slice(None)})


class DrawnClasses:
    """Classes that are drawn, in the place of pictures."""

    def draw(self, seed, size):
        self.seed = seed

    def part(self, size):
        views, Y = draw_views(seed=self.seed)
        return split_samples(gaussian_stack(views), Y, 4 * size, 40, self.seed)

    def places(self, classes):
        return list(range(len(classes)))


def open_pictures(name):
    return DrawnClasses() if name == DRAWN else Pictures(name)
