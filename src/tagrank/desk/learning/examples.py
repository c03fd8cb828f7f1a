"""What the desk learns from: pictures with features, what is known of their tags, and what was decided."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagrank.annotation.choosing import MOST_COMPARED, kernel_of
from tagrank.annotation.scaling import Scaler, arrange_views, fit_scalers
from tagrank.annotation.views import UnscaledRows, take_in
from tagrank.data import Collection
from tagrank.data.label_matrix import Matrix
from tagrank.estimators.compared_rows import PlainRows, compare_rows, sliceable
from tagrank.features import Feature
from tagrank.kernels import reads_views
from tagrank.resources import available_memory, gibibytes

EMBEDDING = "embedding"  # family of features
GRAM_TIMES = 2.5  # memory of a training, in sizes of the Gram matrix


class NothingToLearn(ValueError):
    """There is no model yet; the message says what is missing."""


@dataclass(frozen=True)
class Examples:
    """Pictures to learn from and to judge.

    Attributes
    ----------
    rows : Collection with a view for each set of features; labels 1, 0 and nan
    ids : int64 array, ascending, a number for each picture that it keeps from training to training
    decided : pair of arrays, rows and columns of the labels that somebody decided, but for those that were
        listed before and were confirmed
    features : what the views came from; None where the data were rows already
    unmarked : pair of arrays, rows and columns of labels that were accepted with their whole page, on which
        nobody marked anything. Whether somebody looked is not known, and a model that believed them would
        confirm itself: it learns as if they were not decided yet
    """

    rows: Collection
    ids: np.ndarray
    decided: tuple[np.ndarray, np.ndarray]
    features: Mapping[str, Feature] | None = None
    unmarked: tuple[np.ndarray, np.ndarray] = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    @property
    def tags(self) -> list[str]:
        """The names of the tags."""
        return list(self.rows.tags)

    def states(self) -> np.ndarray:
        """What is known, int8 (n, n_tags); or an error that says why nothing can be learned yet.

        Where no tag is known to be absent anywhere, pictures without tags are taken not to have them: there
        is nothing else to tell apart.
        """
        states = self._known_states()
        if not np.any(states > 0):
            raise NothingToLearn("no picture has a tag yet; give some pictures a tag, then train")
        if not np.any(states < 0):
            states = np.where(states == 0, np.int8(-1), states)
        if not np.any(states < 0):
            raise NothingToLearn(
                "every picture has every tag, so there is nothing to learn; add a second tag"
            )
        if np.count_nonzero(np.any(states != 0, axis=1)) < 2:
            raise NothingToLearn("only one picture has tags; tag at least one more")
        return states

    def decided_mask(self) -> np.ndarray:
        """The decided labels, bool (n, n_tags)."""
        mask = np.zeros((len(self.rows), len(self.rows.tags)), dtype=bool)
        mask[self.decided] = True
        mask[self.unmarked] = False
        return mask

    def audited_mask(self) -> np.ndarray:
        """The pictures that were drawn at random and whose tags were all looked at, bool (n,)."""
        return self.rows.audited_mask()

    def closed_mask(self) -> np.ndarray:
        """The labels that are surely known, bool (n, n_tags): decided, or of an audited picture."""
        return self.decided_mask() | self.audited_mask()[:, None]

    def _known_states(self) -> np.ndarray:
        if not len(self.rows.tags):
            return np.zeros((len(self.rows), 0), dtype=np.int8)
        states = np.array(self.rows.states())
        states[self.unmarked] = -1
        # a picture whose only tags these are is untagged, so that nothing is known of it but what was decided
        rows = np.unique(self.unmarked[0])
        bare = rows[~np.any(states[rows] > 0, axis=1)]
        states[bare] = np.where(self.decided_mask()[bare], states[bare], 0)
        return states

    def unmarked_mask(self) -> np.ndarray:
        """What was accepted with its whole page and without a mark, bool (n, n_tags)."""
        mask = np.zeros((len(self.rows), len(self.rows.tags)), dtype=bool)
        mask[self.unmarked] = True
        return mask


@dataclass(frozen=True)
class Prepared:
    """Pictures as an estimator reads them; kept from training to training.

    Attributes
    ----------
    ids : of the pictures
    rows : before scaling
    scalers : of each view
    X : scaled rows
    compared : the same, compared by the kernel of the estimator; None until it is chosen
    """

    ids: np.ndarray
    rows: UnscaledRows
    scalers: dict[str, Scaler | None]
    X: Matrix | dict[str, Matrix]
    compared: PlainRows | None = None

    def comparing(self, estimator: Any) -> "Prepared":
        """With all pictures compared by the kernel of the estimator."""
        return replace(self, compared=compare_rows(estimator, self.X))


def take_in_examples(examples: Examples, *, for_linear: bool) -> UnscaledRows:
    """Their features as matrices; for linear models only embeddings, if there are any.

    Histograms are sparse and mean little to a linear model, and beside them embeddings would be sparse too.
    """
    features = examples.features or {}
    embeddings = {name: one for name, one in features.items() if one.family == EMBEDDING}
    rows = take_in(examples.rows, features=examples.features)
    if not for_linear or not embeddings:
        return rows
    views = {name: rows.views[name] for name in embeddings}
    return rows._replace(views=views, features=embeddings)


def prepare(ids: np.ndarray, rows: UnscaledRows, estimator: Any) -> Prepared:
    """The rows scaled for the kernel of an estimator."""
    kernel = kernel_of(estimator)
    scalers = fit_scalers(rows.views, kernel)
    by_view = kernel is not None and reads_views(kernel)
    return Prepared(ids, rows, scalers, sliceable(arrange_views(rows.views, scalers, by_view=by_view)))


def why_linear(n_rows: int) -> str | None:
    """Why linear models are trained, and not all pictures compared with each other; None if they are."""
    if n_rows > MOST_COMPARED:
        return f"{n_rows:,} pictures are more than {MOST_COMPARED:,}, so linear models are trained"
    needed, free = GRAM_TIMES * 4 * n_rows**2, available_memory()
    if needed > free:
        return (
            f"comparing {n_rows:,} pictures takes {gibibytes(needed)} of memory and {gibibytes(free)} are "
            "free, so linear models are trained"
        )
    return None
