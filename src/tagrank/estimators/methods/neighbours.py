"""Methods that take over the tags of similar pictures."""

from tagrank.estimators.methods.method import Method

METHODS: tuple[Method, ...] = ()
