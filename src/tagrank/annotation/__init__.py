"""Where pictures and numbers meet: from a collection to ranked tags, and to a model on disk."""

from tagrank.annotation.annotator import Annotator
from tagrank.annotation.ranked_tags import RankedTag, RankedTags
from tagrank.annotation.storage import ModelFileError

__all__ = ["Annotator", "ModelFileError", "RankedTag", "RankedTags"]
