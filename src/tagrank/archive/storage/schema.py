"""The tables of an archive. A new version is a new entry of MIGRATIONS; none of them is ever edited.

A decision is a row that stays as it was written. The state of a cell, a picture and a tag, is that of its
latest decision whose batch stands: one that was neither taken back nor takes another back. `cells` holds this
state beside what the folder lists, so that reading needs no history.

What tags mean is folded from `tag_changes`, whose batches are those of decisions, and from `listed_parents`,
the levels of hierarchical keywords in the folder. What follows from it is derived when it is read.
"""

import sqlite3

# "tagr"
APPLICATION_ID = 0x74616772
MIGRATIONS = (
    """
    CREATE TABLE pictures (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        folder TEXT NOT NULL,
        key BLOB NOT NULL,
        file_state TEXT NOT NULL,
        date TEXT NOT NULL,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        is_known INTEGER NOT NULL DEFAULT 0,
        n_present INTEGER NOT NULL DEFAULT 0,
        is_reviewed INTEGER NOT NULL DEFAULT 0,
        is_changed INTEGER NOT NULL DEFAULT 0,
        is_gone INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX picture_names ON pictures (name);
    CREATE INDEX picture_folders ON pictures (folder);
    CREATE INDEX picture_dates ON pictures (date);

    CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

    CREATE TABLE batches (
        id INTEGER PRIMARY KEY,
        request TEXT NOT NULL UNIQUE,
        who TEXT NOT NULL,
        at TEXT NOT NULL,
        queue TEXT NOT NULL,
        model INTEGER,
        undoes INTEGER UNIQUE REFERENCES batches
    ) STRICT;
    CREATE INDEX batch_people ON batches (who);

    CREATE TABLE decisions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        batch INTEGER NOT NULL REFERENCES batches,
        picture INTEGER NOT NULL REFERENCES pictures,
        tag INTEGER NOT NULL REFERENCES tags,
        answer INTEGER CHECK (answer IN (1, 0, -1)),
        before INTEGER NOT NULL CHECK (before IN (1, 0, -1))
    ) STRICT;
    CREATE INDEX decision_batches ON decisions (batch);
    CREATE INDEX decision_cells ON decisions (picture, tag);

    CREATE TABLE reviews (
        batch INTEGER NOT NULL REFERENCES batches,
        picture INTEGER NOT NULL REFERENCES pictures,
        PRIMARY KEY (picture, batch)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX review_batches ON reviews (batch);

    CREATE TABLE cells (
        picture INTEGER NOT NULL REFERENCES pictures,
        tag INTEGER NOT NULL REFERENCES tags,
        listed INTEGER CHECK (listed IN (1, 0)),
        answer INTEGER CHECK (answer IN (1, 0, -1)),
        decision INTEGER REFERENCES decisions,
        PRIMARY KEY (picture, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX cell_tags ON cells (tag, picture, listed, answer);

    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE sessions (
        hash TEXT PRIMARY KEY, person TEXT NOT NULL, expires INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    # who is signed in is not for a file that travels with the pictures: anybody could have written it
    "DROP TABLE sessions;",
    """
    CREATE TABLE tag_changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        batch INTEGER NOT NULL REFERENCES batches,
        kind TEXT NOT NULL,
        tag TEXT NOT NULL,
        other TEXT NOT NULL
    ) STRICT;
    CREATE INDEX tag_change_batches ON tag_changes (batch);
    CREATE TABLE listed_parents (
        tag TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY (tag, parent)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX batch_times ON batches (at);
    """,
    # whether answers were given to a whole page on which nobody marked anything
    "ALTER TABLE batches ADD COLUMN is_unmarked INTEGER NOT NULL DEFAULT 0 CHECK (is_unmarked IN (0, 1));",
)
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, version: int | None = None) -> None:
    """Bring the tables to a version, by default today's; all of it, or nothing."""
    version = len(MIGRATIONS) if version is None else version
    connection.execute("BEGIN IMMEDIATE")
    # asked only now: another process may have been faster
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    for step in MIGRATIONS[before:version]:
        for statement in step.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {max(before, version)}")
    connection.execute("COMMIT")


def table_texts(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Kind, name and definition of all that a database defines."""
    return set(connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema"))


def expected_texts(version: int) -> set[tuple[str, str, str]]:
    """The same of a database of some version; nothing of none."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection, version)
        return table_texts(connection)
    finally:
        connection.close()
