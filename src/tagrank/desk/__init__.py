"""The desk: what to look at next in an archive, and models that learn from every decision."""
