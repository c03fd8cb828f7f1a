"""Which methods are compared, and by which metrics."""

from collections.abc import Sequence

from tagrank.annotation.choosing import find_criterion
from tagrank.commands.compare.result import BASELINES
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.methods import METHODS

ALL = "all"
USUAL_METRICS = ("Image-AUC", "Image-MAP", "Micro-F1", "Macro-F1", "Example-F1")


def choose_methods(wanted: str | Sequence[str]) -> list[str]:
    """Methods by name or family, in the order of the registry, and those that all are measured by."""
    words = _words(wanted) or [ALL]
    families = {entry.family.replace(" ", "-") for entry in METHODS}
    known = [ALL, *sorted(families), *(entry.name for entry in METHODS)]
    for word in words:
        if word.replace(" ", "-") not in known:
            raise ArgumentError(
                f"no method or family {word!r}{did_you_mean(word, known)}; 'tagrank methods' lists them"
            )
    chosen = {word.replace(" ", "-") for word in words}
    return [
        entry.name
        for entry in METHODS
        if entry.name in BASELINES or {ALL, entry.name, entry.family.replace(" ", "-")} & chosen
    ]


def choose_metrics(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """Metrics by name, as the catalogue spells them."""
    return tuple(dict.fromkeys(find_criterion(word).name for word in _words(wanted)))


def _words(wanted: str | Sequence[str]) -> list[str]:
    """Names, whether they came one by one or with commas between them."""
    texts = [wanted] if isinstance(wanted, str) else list(wanted)
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]
