"""Annotator: features, scaling, kernel, estimator, tag names and thresholds in one object."""

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from tagrank.annotation.choosing import (
    CRITERIA,
    CRITERION,
    Candidate,
    Candidates,
    Choice,
    Recipe,
    candidates_of,
    choose,
    kernel_of,
)
from tagrank.annotation.choosing.candidates import limited, take_tag_weights
from tagrank.annotation.known_tags import given_known, known_states
from tagrank.annotation.model_files.annotator_files import load_annotator, model_metadata, save_annotator
from tagrank.annotation.ranked_tags import RankedTags, rank_tags, threshold_for, warn_never_positive
from tagrank.annotation.scaling import SCALINGS, Scaler, arrange_views, fit_scalers
from tagrank.annotation.sklearn_face import SklearnFace
from tagrank.annotation.views import UnscaledRows, as_collection, as_in_training, for_pictures, take_in
from tagrank.data import Collection
from tagrank.data.given_pictures import are_pictures
from tagrank.data.label_matrix import Matrix
from tagrank.estimators.base import innermost, innermost_fitted, taken_by
from tagrank.estimators.compared_rows import rows_for
from tagrank.features import Feature, choose_features
from tagrank.files import Problem
from tagrank.kernels import Kernel, Precomputed, reads_views
from tagrank.kernels.structure import views_of
from tagrank.labels import duplicates
from tagrank.progress import Progress
from tagrank.validation import check_choice

CALIBRATING = "learning probabilities from held-out pictures"


class Annotator(SklearnFace):
    """Learns from tagged pictures or rows, and ranks every tag for others.

    `features` describe the pictures, the columns of each view are scaled, and the estimator learns from them.
    With several sets of features, a kernel given by name is the mean of one such kernel for each set. A
    kernel with `.on("view")` reads the views that it names; any other kernel reads all columns side by side.

    Parameters
    ----------
    estimator : the name of a method or a `Recipe`, whose open parameters are chosen by cross-validation, see
        `tagrank.annotation.choosing`; by default the method is chosen, too. Or an estimator, which is copied
        and trained with its own parameters
    features : for pictures: a preset such as "fast", names of sets of features, or a mapping of names to
        `Feature` objects, see `tagrank.features.choose_features`; by default the best that are installed
    costs : values of C to choose from by cross-validation, instead of those of the recipe
    powers : powers of the kernel to choose from by cross-validation, instead of those of the recipe
    criterion : metric to choose by: "Image-MAP", "Image-AUC", or "MAP and AUC", the mean of both
    scaling : {"auto", "standard", "minmax", "unit", "tf-idf", "none"}
        "standard" scales columns to mean 0 and standard deviation 1, "minmax" to the range from 0 to 1
        (values outside are clipped); sparse columns are only scaled, not shifted. "unit" scales rows to
        length 1, and so does "tf-idf", after giving rare columns more weight. "auto" is "standard" for dense
        columns with a Gaussian, linear or polynomial kernel, and "none" for others; for counts, such as those
        of words, the scaling is chosen together with the method.
    view : name or names of the views of the collection to learn from; by default all matrices

    Attributes
    ----------
    tags : list of str
    estimator_ : the fitted estimator; its labels are the tags by number
    metadata : dict of facts about the model, such as its date; entries that you add are saved, too
    features_ : dict of name to fitted `Feature`; None for rows
    implied_ : int array of shape (m, 2), the columns of tags and of the tags that they imply; an implied tag
        is never less probable
    feature_names_ : dict of view to the names of its columns, for views whose columns have names
    choice_ : the candidates that were tried and the one that was chosen; None if nothing was chosen, and
        after loading
    scaling_ : the scaling of the rows; for counts, the one that was chosen
    tuning_ : the results for the values of C of the chosen method; None without them, and after loading
    training_names_ : the names of the training rows; after loading, of those that affect the scores
    problems_ : files that were left out of the training, with the reasons; empty after loading
    training_ : Collection of the rows before scaling and their labels; None after loading, unless it was
        saved
    """

    implied_: np.ndarray = np.zeros((0, 2), dtype=np.int64)
    training_names_: list[str] | None
    training_: Collection | None
    problems_: tuple[Problem, ...] = ()
    min_probability: float | None = None  # that of `deciding`; None leaves the decision to the estimator

    def __init__(
        self,
        estimator: Any = None,
        *,
        features: str | Sequence[str] | Mapping[str, Feature] | None = None,
        costs: Sequence[float] | None = None,
        powers: Sequence[int] | None = None,
        criterion: str = CRITERION,
        scaling: str = "auto",
        view: str | Sequence[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.costs = costs
        self.powers = powers
        self.criterion = criterion
        self.scaling = scaling
        self.view = view

    def fit(
        self,
        data: Any,
        tags: Any = None,
        *,
        strict: bool = False,
        callback: Callable[[Any], None] | None = None,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Self:
        """Learn from pictures or rows with their tags.

        Parameters
        ----------
        data : Collection; the path of a folder of tagged pictures, or of a file that `read_collection` reads;
            or, with `tags`, rows of numbers, or pictures as in `annotate`. Those of a folder are in the order
            of their names
        tags : a list of tag sets, a matrix of 1, 0 and nan, or a DataFrame whose columns are tags. An empty
            set, like None, says that nothing is known
        strict : raise the first problem with a picture. By default pictures that cannot be read are left out,
            a `ProblemWarning` names them, and `problems_` lists them
        callback : function of a TracePoint, called while the estimator trains
        progress : called with the number of steps done, the number of steps, and the name of the work
        stop : function without arguments; when it returns True, training stops and keeps the result
        """
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("criterion", self.criterion, tuple(CRITERIA))
        collection = as_collection(data, tags, strict=strict)
        if not len(collection.tags):
            raise ValueError("the collection has no tags to learn from; pass a collection with labels")
        features = None if self.features is None else choose_features(self.features)
        rows = take_in(collection, view=self.view, features=features, strict=strict)
        if rows.left_out:
            collection = collection.subset(rows.kept)
        rows.warn()
        self.problems_ = (*collection.problems, *rows.problems, *rows.left_out.values())
        self.scaling_ = getattr(self.estimator, "scaling", None) or self.scaling
        candidates = self._candidates(rows, collection.tags)
        # if training fails, nothing old may answer for the new tags
        self.__dict__.pop("estimator_", None)
        kernel = kernel_of(candidates.usual.estimator)
        without_kernel = getattr(innermost(candidates.usual.estimator), "column_scaling", "none")
        # where the scale of the rows is part of the choice, they come to it as they are
        scaling = "none" if candidates.scalers else self.scaling_
        scalers = fit_scalers(rows.views, kernel, scaling, without_kernel=without_kernel)
        self._know_rows(rows, scalers, list(collection.tags), kernel)
        self.estimator_, self.choice_ = self._train(
            candidates, self._arrange(rows.views), collection, progress, callback=callback, stop=stop
        )
        self._know_training(rows, collection)
        warn_never_positive(self.tags, self.never_positive_)
        return self

    @classmethod
    def of_trained(
        cls,
        estimator: Any,
        rows: UnscaledRows,
        scalers: Mapping[str, Scaler | None],
        collection: Collection,
        choice: Choice | None = None,
    ) -> "Annotator":
        """Around an estimator that is trained already, on `rows` as `scalers` scaled them.

        Parameters
        ----------
        estimator : fitted
        rows : those that it learned from, before scaling
        scalers : of each view
        collection : the same rows with their labels
        choice : what was tried and what was chosen
        """
        annotator = cls()
        annotator._know_rows(rows, scalers, list(collection.tags), kernel_of(estimator))
        annotator.estimator_, annotator.choice_ = estimator, choice
        annotator._know_training(rows, collection)
        return annotator

    def deciding(self, min_probability: float | None = None, *, precision: float | None = None) -> Self:
        """The same model with another rule for which tags are predicted; order and probabilities stay.

        Parameters
        ----------
        min_probability : predict tags with at least this probability
        precision : predict tags of which this share is right; for models with one curve for all tags
        """
        self._check_fitted()
        other = copy(self)
        other.min_probability = threshold_for(self.estimator_, min_probability, precision)
        return other

    def annotate(
        self, data: Any, *, n_tags: int | None = None, known: Any = None, strict: bool = False
    ) -> list[RankedTags]:
        """The tags of every picture or row, best first; tags without any example in training come last.

        A picture in a list that cannot be read gets no tags: its `problem` says why, and a `ProblemWarning`
        names it.

        Parameters
        ----------
        data : one picture or a list of pictures, each a path, a folder, a Pillow picture, an array of shape
            (height, width), (height, width, 3) or (height, width, 4), or the bytes of a picture file; or a
            Collection, a mapping of views, or a matrix (dense, sparse, DataFrame); for a precomputed kernel,
            the similarities to the training rows. Columns with names are put into the order of training;
            those without are taken by position. Pictures are shrunk to 512 pixels on their longer side
        n_tags : number of tags to keep for each picture; all by default
        known : tags that each picture is known to have, which count for and against its other tags: a list of
            tags for each, a Collection, or an array (n, n_tags) of 1 (true), -1 (not true) and 0 (not known)
        strict : raise the first problem with a picture
        """
        if n_tags is not None and n_tags < 1:
            raise ValueError(f"n_tags must be at least 1, or None for all, got {n_tags}")
        rows = self._take_in(data, strict=strict)
        rows.warn()
        scores = self.score_rows(self._arrange(rows.views))
        if known is not None:
            states = known_states(known, self.tags, self.implied_, rows.n_given)
            scores = given_known(self, scores, states[rows.kept])
        ranked = rank_tags(
            scores,
            self.tags,
            names=rows.names,
            predicted=self.choose(scores),
            probabilities=self.probabilities_of(scores),
            last=self.never_positive_,
            n_tags=n_tags,
        )
        for place, problem in rows.left_out.items():
            ranked.insert(place, RankedTags(problem.path, (), problem.reason))
        return ranked

    def save(self, path: str | os.PathLike, *, keep_rows: bool = False) -> None:
        """Write a model folder: JSON and plain arrays, complete or not at all.

        Parameters
        ----------
        path : a folder that does not exist yet, is empty, or holds an older model, which is replaced
        keep_rows : also store all training rows and labels (`training_`), to train again later
        """
        self._check_fitted()
        save_annotator(self, path, keep_rows=keep_rows)

    @classmethod
    def load(cls, path: str | os.PathLike, *, max_bytes: int | None = None) -> "Annotator":
        """Read a model folder, or a zip archive of one. Nothing in it can run code.

        Parameters
        ----------
        path : the folder or the archive
        max_bytes : maximum total size of its arrays; 4 GiB by default
        """
        return load_annotator(cls, path, max_bytes=max_bytes)

    def _know_rows(
        self, rows: UnscaledRows, scalers: Mapping[str, Scaler | None], tags: list[str], kernel: Kernel | None
    ) -> None:
        self.tags = tags
        self.features_ = rows.features
        self.columns_ = {name: int(view.shape[1]) for name, view in rows.views.items()}
        self.feature_names_ = {
            name: columns for name, columns in rows.feature_names.items() if not duplicates(columns)
        }
        self.scalers_ = dict(scalers)
        self.by_view_ = kernel is not None and reads_views(kernel)
        self.training_names_ = rows.names

    def _know_training(self, rows: UnscaledRows, collection: Collection) -> None:
        self._forget_unread_views()
        has_costs = self.choice_ is not None and bool(self.choice_.chosen[0].costs)
        self.tuning_ = self.choice_.chosen[0] if self.choice_ is not None and has_costs else None
        self.implied_ = collection.implied_columns()
        never_present = collection.tag_counts() == 0
        # a prior may speak for tags that are never present
        self.never_positive_ = getattr(innermost_fitted(self.estimator_), "never_positive_", never_present)
        self.training_ = Collection(
            {name: rows.views[name] for name in self.columns_},
            collection.labels,
            self.tags,
            names=rows.names,
            name=collection.name,
            feature_names=self.feature_names_,
            implies=collection.implies,
        )
        self.metadata = model_metadata(self.estimator_, len(collection))

    def _candidates(self, rows: UnscaledRows, tags: Sequence[str]) -> Candidates:
        recipe = Recipe() if self.estimator is None else self.estimator
        recipe = Recipe(recipe) if isinstance(recipe, str) else recipe
        if not isinstance(recipe, Recipe):
            return candidates_of(recipe, rows, self.costs, self.powers or (1,))
        candidates = recipe.candidates(rows, tags, self.scaling_)
        if self.costs is not None:
            candidates = candidates.changed(self._with_costs)
        return candidates if self.powers is None else candidates.with_powers(self.powers)

    def _with_costs(self, one: Candidate) -> Candidate:
        return one._replace(costs=self.costs, extends=False) if hasattr(one.estimator, "C") else one

    def _train(
        self,
        candidates: Candidates,
        X: Any,
        collection: Collection,
        progress: Progress | None,
        *,
        callback: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
    ) -> tuple[Any, Choice | None]:
        started = time.perf_counter()
        weights = [take_tag_weights(one.estimator, self.tags, len(collection)) for one in candidates.methods]
        with warnings.catch_warnings():
            # said afterwards, by name
            warnings.filterwarnings("ignore", message=".*never positive in training")
            chosen = choose(
                candidates, X, collection.labels, criterion=self.criterion, progress=progress, stop=stop
            )
            if candidates.scalers:
                self.scalers_ = dict.fromkeys(self.scalers_, chosen.scaler)
                self.scaling_ = candidates.scaling_of(chosen.scaler)
            model = candidates.wrapped(limited(chosen.estimator, candidates, since=started))
            if progress is not None and candidates.around is not None and chosen.choice is not None:
                progress(0, 1, CALIBRATING)
            options: dict[str, Any] = {"callback": callback, "stop": stop}
            if collection.decided:
                options["decided"] = collection.decided_mask(confirmed=False)
            if collection.audited:
                options["audited"] = collection.audited_mask()
            options = weights[0] | taken_by(model.fit, **options)
            return model.fit(rows_for(model, chosen.rows), collection.labels, **options), chosen.choice

    def _forget_unread_views(self) -> None:
        """What a kernel without weight read need not be described for new pictures, nor stored."""
        kernel = getattr(innermost_fitted(self.estimator_), "kernel_", None)
        if kernel is None or not self.by_view_:
            return
        read = views_of(kernel)
        for name in ("features_", "columns_", "feature_names_", "scalers_"):
            known = getattr(self, name)
            if known is not None:
                setattr(self, name, {view: what for view, what in known.items() if view in read})

    def _take_in(self, data: Any, *, strict: bool = True) -> UnscaledRows:
        """`data` with the views of training."""
        self._check_fitted()
        if self.features_ is None and are_pictures(data):
            raise ValueError("the model was trained on rows of numbers, got pictures; train one on pictures")
        data = data if self.features_ is None else for_pictures(data)
        rows = take_in(data, view=self._names_in(data), features=self.features_, strict=strict)
        is_precomputed = isinstance(kernel_of(self.estimator_), Precomputed)
        return as_in_training(rows, self.columns_, self.feature_names_, is_precomputed=is_precomputed)

    def _names_in(self, data: Any) -> list[str] | None:
        """Which views of `data` to read, if it has those of training or those that were chosen for it."""
        named = data.views if isinstance(data, Collection) else data if isinstance(data, Mapping) else {}
        chosen = [self.view] if isinstance(self.view, str) else list(self.view or ())
        return next(
            (names for names in (list(self.columns_), chosen) if names and named.keys() >= set(names)), None
        )

    def _rows(self, data: Any) -> Matrix | dict[str, Matrix]:
        return self._arrange(self._take_in(data).views)

    def _arrange(self, views: dict[str, Matrix]) -> Matrix | dict[str, Matrix]:
        return arrange_views(views, self.scalers_, by_view=self.by_view_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                "this Annotator is not fitted yet: call fit(pictures, tags) or Annotator.load(path)"
            )
