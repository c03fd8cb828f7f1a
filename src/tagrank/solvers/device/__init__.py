"""The dual engine with its sweeps on a GPU."""
