"""Audited pictures: drawn at random, and marked as complete in the queue of the audit.

A mark is a review, recorded in a batch of that queue; what takes the batch back takes the mark back, and
copies of an archive bring it along. Marks of other queues say that somebody was done with a picture, not that
all its tags are there, and what they show was chosen by its tags.
"""

import sqlite3

import numpy as np

AUDIT = "audit"  # the name of the queue


def read_audited(connection: sqlite3.Connection) -> np.ndarray:
    """The numbers of the pictures that are marked as complete, ascending."""
    rows = connection.execute(
        "SELECT DISTINCT picture FROM reviews JOIN batches ON batches.id = batch WHERE queue = ? "
        "AND NOT EXISTS (SELECT 1 FROM batches AS other WHERE other.undoes = batches.id) ORDER BY picture",
        (AUDIT,),
    )
    return np.array([picture for (picture,) in rows], dtype=np.int64)
