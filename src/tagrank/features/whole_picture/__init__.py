"""Descriptors of the picture as a whole."""
