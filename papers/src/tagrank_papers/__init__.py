"""The tables of the papers, by name: what was published, what we find, and how far the two agree.

`catalogue` reads from TOML what the tables and the experiments are, and is light. A module of `experiments`
measures, answers tables and writes its page, in the words of `pages`; `protocols` has what several share,
`results` the figures that are kept.
"""
