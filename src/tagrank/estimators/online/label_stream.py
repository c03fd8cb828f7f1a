"""Labels that arrive in chunks: names fixed by the first, means kept as they come."""

import numpy as np

from tagrank.estimators.joint.output_kernels import unit_rows
from tagrank.estimators.targets import Targets, encode_targets, warn_never_positive
from tagrank.labels import encode_tag_sets, is_tag_sets, label_states
from tagrank.validation import check_even_rows


class LabelStream:
    """What is known of the labels of a stream so far.

    Attributes
    ----------
    classes : array, the names of the labels
    one_dimensional : bool, whether y is one class for each sample
    n_present, n_known : int arrays, shape (n_labels,)
    """

    def __init__(self, classes, *, one_dimensional):
        self.classes = classes
        self.one_dimensional = one_dimensional
        self.n_present = np.zeros(len(classes), np.int64)
        self.n_known = np.zeros(len(classes), np.int64)

    @classmethod
    def open(cls, y, classes=None):
        """A stream whose first chunk is `y`; its labels are `classes`, or those that `y` has."""
        if classes is None:
            targets = encode_targets(y)
            return cls(targets.classes, one_dimensional=targets.one_dimensional)
        names = list(classes)
        if len(set(names)) != len(names) or not names:
            raise ValueError(f"classes must be at least one name, each once, got {names}")
        is_flat = not is_tag_sets(y) and not hasattr(y, "columns") and np.ndim(y) == 1
        return cls(np.asarray(names), one_dimensional=is_flat)

    def encode(self, y):
        """States (n_samples, n_labels) of a chunk, or an error if it has labels that the stream has not."""
        if self.one_dimensional:
            y = np.asarray(y)
            self._refuse(set(y.ravel().tolist()) - set(self.classes.tolist()))
            return np.where(y.reshape(-1, 1) == self.classes, 1, -1).astype(np.int8)
        if is_tag_sets(y):
            self._refuse(
                {tag for entry in y if entry is not None for tag in entry} - set(self.classes.tolist())
            )
            return label_states(encode_tag_sets(y, tags=self.classes.tolist())[0])
        if hasattr(y, "columns"):
            self._refuse(set(y.columns) - set(self.classes.tolist()))
            return label_states(y.reindex(columns=list(self.classes)).to_numpy())
        check_even_rows("y", y)
        states = label_states(y)
        if states.shape[1] != len(self.classes):
            raise ValueError(
                f"y has {states.shape[1]} labels, but the stream began with {len(self.classes)}; "
                "name all labels with classes= in the first call, and hand over a column for each"
            )
        return states

    def _refuse(self, strangers):
        if strangers:
            shown = ", ".join(repr(name) for name in sorted(strangers, key=str)[:5])
            raise ValueError(
                f"y has {len(strangers)} labels that the stream did not begin with: {shown}; "
                "name all labels with classes= in the first call of partial_fit, or fit anew"
            )

    def count(self, states):
        """Take notice of states before any of them is learned from."""
        self.n_present += (states > 0).sum(axis=0)
        self.n_known += (states != 0).sum(axis=0)

    def means(self):
        """Means of the +-1 labels over the samples where they are known, 0 if there are none."""
        return (2 * self.n_present - self.n_known) / np.maximum(self.n_known, 1)

    def vectors(self, states, *, center):
        """Label vectors of unit length; with `center` the means of all that was counted are taken off."""
        if not center:
            return unit_rows(states.astype(np.float64))
        return unit_rows(np.where(states != 0, states - self.means(), 0.0))

    def next_vectors(self, states, *, center):
        """Label vectors of the next samples, which are counted one by one: no mean knows what comes after."""
        known = np.cumsum(states != 0, axis=0) + self.n_known
        sums = np.cumsum(states, axis=0, dtype=np.int64) + (2 * self.n_present - self.n_known)
        self.count(states)
        if not center:
            return unit_rows(states.astype(np.float64))
        return unit_rows((states - sums / np.maximum(known, 1)) * (states != 0))

    @property
    def never_positive(self):
        return self.n_present == 0

    def warn_never_positive(self):
        states = np.where(self.n_present > 0, 1, -1)[None]
        warn_never_positive(Targets(states, self.classes, self.one_dimensional))
