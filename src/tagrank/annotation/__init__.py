"""Where pictures and numbers meet: from a collection to ranked tags, and to a model on disk.

Names are resolved on first use: a worker process that describes pictures loads no estimator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagrank.annotation.annotator import Annotator
    from tagrank.annotation.bank.feature_bank import (
        DescribedPictures,
        FeatureBank,
        bank_size,
        clear_bank,
        prune_bank,
    )
    from tagrank.annotation.bank.row_store import CacheWarning
    from tagrank.annotation.choosing import Recipe, Trial, tune_cost
    from tagrank.annotation.describing import describe_pictures
    from tagrank.annotation.explanation import Contribution, Explanation, explain
    from tagrank.annotation.model_files.storage import ModelFileError
    from tagrank.annotation.ranked_tags import RankedTag, RankedTags

_NAMES = {
    "annotator": "Annotator",
    "bank.feature_bank": "DescribedPictures FeatureBank bank_size clear_bank prune_bank",
    "bank.row_store": "CacheWarning",
    "choosing": "Recipe Trial tune_cost",
    "describing": "describe_pictures",
    "explanation": "Contribution Explanation explain",
    "model_files.storage": "ModelFileError",
    "ranked_tags": "RankedTag RankedTags",
}
_HOME_OF = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Annotator",
    "CacheWarning",
    "Contribution",
    "DescribedPictures",
    "Explanation",
    "FeatureBank",
    "ModelFileError",
    "RankedTag",
    "RankedTags",
    "Recipe",
    "Trial",
    "bank_size",
    "clear_bank",
    "describe_pictures",
    "explain",
    "prune_bank",
    "tune_cost",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(f"tagrank.annotation.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'tagrank.annotation' has no attribute {name!r}")
