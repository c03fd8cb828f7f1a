"""Models on disk: JSON and plain arrays."""
