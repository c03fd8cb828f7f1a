"""Regression for all tags at once."""

from tagrank.estimators.methods.method import Method

METHODS: tuple[Method, ...] = ()
