"""The sections of a report: what is in each, in numbers and words."""
