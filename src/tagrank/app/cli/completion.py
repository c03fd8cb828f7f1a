"""What a shell offers at the Tab key; libraries are loaded only for what is asked."""


def method_names(incomplete: str) -> list[str]:
    """Methods that begin so."""
    from tagrank.estimators.methods import METHODS

    return [method.name for method in METHODS if method.name.startswith(incomplete)]


def feature_names(incomplete: str) -> list[str]:
    """Presets and sets of picture features that begin so."""
    from tagrank.features.registry import FEATURES, PRESETS

    return [name for name in (*PRESETS, *FEATURES) if name.startswith(incomplete)]


def dataset_names(incomplete: str) -> list[str]:
    """Data sets that begin so; before the first letter none, so that the shell offers files."""
    from tagrank.commands.lists import datasets

    return [entry.name for entry in datasets() if incomplete and entry.name.startswith(incomplete)]
