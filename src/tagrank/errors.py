"""Arguments that are wrong whatever the data are."""


class ArgumentError(ValueError):
    """Arguments that cannot be meant, or not together; the command line calls it a usage error."""
