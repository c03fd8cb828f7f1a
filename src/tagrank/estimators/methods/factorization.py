"""Methods that factorize features and tags together."""

from tagrank.estimators.methods.method import Method

METHODS: tuple[Method, ...] = ()
