"""Benchmarks: they time us beside a peer in the same run.

`python -m benchmarks`, from the root of the repository, lists them; see docs/benchmarks.md. What the papers
measured is repeated by `tagrank reproduce`.
"""
