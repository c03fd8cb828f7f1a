"""Descriptors of the neighbourhood of a point."""
