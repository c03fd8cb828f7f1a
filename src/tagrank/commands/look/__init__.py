"""Pictures that are almost the same, and pictures that are unlike all others."""
