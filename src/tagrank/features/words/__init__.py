"""Bags of visual words: where to look, what to describe, words, codes, cells."""
