"""Which pictures are almost the same, and which are unlike all others."""
