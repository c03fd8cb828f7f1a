"""Embeddings: what trained networks see."""
