"""Why a tag is proposed: what each training picture and each set of features adds to its score."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tagrank.annotation.explanation import Contribution, explain

N_EXAMPLES = 6


def why_json(annotator: Any, path: Path, tag: str, ids: Mapping[str, int]) -> dict[str, Any]:
    """An explanation for pages; training pictures are told by their number too, None where they are gone.

    Parameters
    ----------
    annotator : the current model
    path : the picture
    tag : one that the model knows
    ids : name of a picture to its number
    """
    (found,) = explain(annotator, [str(path)], tags=[tag], n_examples=N_EXAMPLES)

    def tell(examples: tuple[Contribution, ...]) -> list[dict[str, Any]]:
        return [{"picture": ids.get(one.name)} | one._asdict() for one in examples]

    return {
        "tag": tag,
        "probability": found.probability,
        "note": found.note,
        "for": tell(found.for_),
        "against": tell(found.against),
        "features": dict(found.shares),
    }
