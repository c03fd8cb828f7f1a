"""The tables of the papers, by name: what was published, what we find, and how far the two agree.

`declarations` says what a table and an experiment are, `entries` lists all of them; both are light.
`experiments` measure, by the `protocols` that several share; `results` has the figures that are kept,
`answers` set them beside the published ones, and `pages` show them whole.
"""
