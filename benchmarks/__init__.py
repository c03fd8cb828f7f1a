"""Benchmarks: `speed` times us beside a peer, `experiments` repeat those of the papers.

`python -m benchmarks`, from the root of the repository, lists them; see docs/benchmarks.md.
"""
