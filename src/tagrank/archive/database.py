"""The SQLite file of an archive: opened, checked, read by many threads.

It may come from elsewhere: it is refused unless it defines exactly the tables of this version, so that
nothing in it, such as a trigger or a view, is ever run.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue

from tagrank.archive.schema import APPLICATION_ID, VERSION, expected_texts, migrate, table_texts
from tagrank.files import FileError

# how long one process waits for another that is writing
_WAIT_SECONDS = 30.0
# connections that wait for the next reader; more are opened where more read at once
_KEPT_READERS = 8


class Database:
    """Connections to one file.

    Parameters
    ----------
    path : the file; it is made unless `read_only`
    read_only : never write a byte, also not beside the file
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue(_KEPT_READERS)
        self._writer: sqlite3.Connection | None = None
        self._is_closed = False
        with closing(self._open(write=not read_only)) as connection:
            self._prepare(connection)

    def writer(self) -> sqlite3.Connection:
        """The connection that may write; to be used by one thread at a time."""
        if self._writer is None:
            self._writer = self._open(write=True)
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection on which all queries of the block see the same moment."""
        if self._is_closed:
            raise OSError(f"{self.path} is closed")
        connection = self._borrow()
        try:
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            raise OSError(f"{self.path} cannot be read ({error}); restore it from a copy") from error
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Let go of the file."""
        self._is_closed = True
        with suppress(Empty):
            while True:
                self._readers.get_nowait().close()
        if self._writer is not None:
            # last: it brings all that was written into the one file
            self._writer.close()

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._readers.get_nowait()
        except Empty:
            return self._open(write=False)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        # one that reads only what does not change would never see what is decided later
        if self._is_closed or self.read_only or self._readers.full():
            connection.close()
        else:
            self._readers.put(connection)

    def _open(self, *, write: bool) -> sqlite3.Connection:
        try:
            return _connect(self.path, write=write, alone=self.read_only)
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path} cannot be opened ({error}){_way_out(write)}") from None
        except sqlite3.DatabaseError as error:
            raise _damage(self.path, error) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        try:
            version = _checked_version(connection, self.path)
            if version < VERSION:
                self._migrate(connection, version)
            if not self.read_only:
                connection.execute("PRAGMA journal_mode = WAL")
                # a file that may only be read is opened without a word
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            if table_texts(connection) != expected_texts():
                raise FileError(
                    self.path, "does not hold the tables of an archive of tagrank; name another file"
                )
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path} cannot be used ({error}){_way_out(not self.read_only)}") from None
        except sqlite3.DatabaseError as error:
            raise _damage(self.path, error) from None

    def _migrate(self, connection: sqlite3.Connection, version: int) -> None:
        if self.read_only:
            raise FileError(
                self.path, f"is of version {version}, not {VERSION}; open it once with 'tagrank desk'"
            )
        migrate(connection)


def _damage(path: Path, error: sqlite3.DatabaseError) -> FileError:
    return FileError(path, f"is damaged or no database ({error}); restore it from a copy")


def _way_out(write: bool) -> str:
    if write:
        return "; if its folder cannot be written to, name another place with --decisions FILE.sqlite"
    return "; if its folder cannot be written to, copy it elsewhere with the file beside it that ends in -wal"


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if version == 0 and application == 0 and n_tables == 0:
        return 0
    if application != APPLICATION_ID or version < 1:
        raise FileError(path, "is a database of another program; name another file")
    if version > VERSION:
        raise FileError(
            path,
            f"was written by a newer tagrank (version {version}, this one knows {VERSION}); update tagrank",
        )
    return int(version)


def _connect(path: Path, *, write: bool, alone: bool) -> sqlite3.Connection:
    options = "mode=rwc" if write else "mode=ro"
    if alone and not path.with_name(f"{path.name}-wal").exists():
        # nobody writes; without this SQLite would make files beside it, or fail where it may not
        options += "&immutable=1"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA query_only = {'OFF' if write else 'ON'}")
    except BaseException:
        connection.close()
        raise
    return connection
