"""himalaya's multiple kernel ridge regression: weights drawn at random, the best for each label are kept."""

import numpy as np
from sklearn.model_selection import KFold

from tagrank.parallel import limited_threads

DRAWS = 100  # its default
PENALTIES = np.logspace(-3, 3, 7)
# by default folds are blocks of rows: photographs of one kind stand together, and it chose badly
FOLDS = KFold(5, shuffle=True, random_state=0)


def rank_by_ridge(data, n_iter=DRAWS):
    """Scores of the test samples, and its settings; its own 5-fold cross-validation chooses the rest."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    model = MultipleKernelRidgeCV(
        kernels="precomputed",
        solver="random_search",
        solver_params={"n_iter": n_iter, "alphas": PENALTIES, "progress_bar": False},
        fit_intercept=True,
        cv=FOLDS,
        random_state=0,
    )
    with limited_threads(1):
        model.fit(_matrices(data.stack), data.Y.astype(np.float32))
    return np.asarray(model.predict(_matrices(data.test))), {"n_iter": n_iter}


def _matrices(stack):
    return np.stack([stack.kernel(j) for j in range(stack.n_kernels)])
