"""Where pictures and numbers meet: from a collection to ranked tags, and to a model on disk.

Names are resolved on first use: a worker process that describes pictures loads no estimator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagrank.annotation.annotator import Annotator
    from tagrank.annotation.bank.extraction import Extraction
    from tagrank.annotation.bank.feature_bank import FeatureBank
    from tagrank.annotation.bank.folder import bank_size, clear_bank, prune_bank
    from tagrank.annotation.bank.row_store import CacheWarning
    from tagrank.annotation.describing import Description, describe_pictures
    from tagrank.annotation.explanation import Contribution, Explanation, explain
    from tagrank.annotation.model_files.storage import ModelFileError
    from tagrank.annotation.ranked_tags import RankedTag, RankedTags
    from tagrank.annotation.recipe import Recipe
    from tagrank.annotation.tuning import Tuning, tune_cost

_HOME_OF = {
    "Annotator": "annotator",
    "CacheWarning": "bank.row_store",
    "Contribution": "explanation",
    "Description": "describing",
    "Explanation": "explanation",
    "Extraction": "bank.extraction",
    "FeatureBank": "bank.feature_bank",
    "ModelFileError": "model_files.storage",
    "RankedTag": "ranked_tags",
    "RankedTags": "ranked_tags",
    "Recipe": "recipe",
    "Tuning": "tuning",
    "bank_size": "bank.folder",
    "clear_bank": "bank.folder",
    "describe_pictures": "describing",
    "explain": "explanation",
    "prune_bank": "bank.folder",
    "tune_cost": "tuning",
}

__all__ = [
    "Annotator",
    "CacheWarning",
    "Contribution",
    "Description",
    "Explanation",
    "Extraction",
    "FeatureBank",
    "ModelFileError",
    "RankedTag",
    "RankedTags",
    "Recipe",
    "Tuning",
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
