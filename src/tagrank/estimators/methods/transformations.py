"""Methods that turn the problem into another one, and boosting."""

from tagrank.estimators.methods.method import Method

METHODS: tuple[Method, ...] = ()
