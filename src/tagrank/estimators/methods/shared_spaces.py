"""Methods that go through a space of few dimensions, by closed forms and eigenvectors."""

from tagrank.estimators.methods.method import Method

METHODS: tuple[Method, ...] = ()
