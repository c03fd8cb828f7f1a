"""The SQLite file of an archive: opened, checked, read by many threads.

It may come from elsewhere. It and the files that SQLite puts beside it must be plain files; it is refused
unless it defines exactly the tables of its version, so that nothing in it, such as a trigger or a view, is
ever run.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import TemporaryDirectory

import psutil

from tagrank.archive.storage.own_state import IDENTITY, is_known
from tagrank.archive.storage.schema import APPLICATION_ID, VERSION, expected_texts, migrate, table_texts
from tagrank.errors import ArgumentError
from tagrank.files import FileError, check_plain, open_plain

# how long one process waits for another that is writing
_WAIT_SECONDS = 30.0
# connections that wait for the next reader; more are opened where more read at once
_KEPT_READERS = 8
# a longer text or row is not read into memory: anybody may have written it
_LONGEST_ROW = 2**22
_LARGEST_COPY = 2**30
# how many steps SQLite may take to read the list of tables; usually it takes some hundreds
_MOST_STEPS, _STEPS_AT_ONCE = 1_000_000, 1000
# the last bytes of a journal that names another file, which SQLite would remove
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
_WAL_FORMAT = b"\x02\x02"
# the second where even what SQLite has to say of a file is no text
_DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
# shared memory, which SQLite's write-ahead log needs, does not reach from one machine to another
_NETWORK_KINDS = frozenset(
    "9p acfs afpfs afs beegfs ceph cifs coda davfs fuse.davfs2 fuse.gcsfuse fuse.glusterfs fuse.rclone "  # noqa: SIM905
    "fuse.s3fs fuse.sshfs glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 prl_fs smb smb2 smb3 smbfs "
    "vboxsf virtiofs vmhgfs fuse.vmhgfs-fuse webdav".split()
)


class Database:
    """Connections to one file.

    Parameters
    ----------
    path : the file; it is made unless `read_only`
    read_only : never write a byte, also not beside the file

    Attributes
    ----------
    network_kind : the kind of the network drive that holds the file, None on a drive of this machine. Over a
        network SQLite's write-ahead log is not safe, so a rollback journal is kept instead
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        self.network_kind = None if read_only else network_kind(path.parent)
        self._opened = path
        self._copies: TemporaryDirectory[str] | None = None
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
        except Exception as error:
            if (clearer := explained(error, connection, self.path)) is error:
                raise
            raise clearer from error
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
        if self._copies is not None:
            self._copies.cleanup()

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._readers.get_nowait()
        except Empty:
            return self._open(write=False)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        # one that reads only what does not change would never see what is decided later
        if self._is_closed or self.read_only or self._readers.full():
            connection.close()
        else:
            self._readers.put(connection)

    def _open(self, *, write: bool) -> sqlite3.Connection:
        try:
            return _connect(self._opened, write=write, alone=self.read_only)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise _damage(self.path, "its list of tables has no end") from None
            raise OSError(f"{self.path} cannot be opened ({error}){_way_out(write)}") from None
        except _DAMAGE as error:
            raise _damage(self.path, error) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        try:
            version = self._checked_version(connection)
            if version < VERSION and self.read_only:
                self._read_copy(connection, version)
            elif version < VERSION:
                migrate(connection)
            if not self.read_only:
                journal = "DELETE" if self.network_kind else "WAL"
                connection.execute(f"PRAGMA journal_mode = {journal}")
                # SQLite opens a file that may only be read without an error
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path} cannot be used ({error}){_way_out(not self.read_only)}") from None
        except _DAMAGE as error:
            raise _damage(self.path, error) from None

    def _checked_version(self, connection: sqlite3.Connection) -> int:
        """The version, once the file is known to hold its tables and nothing else."""
        connection.execute("BEGIN")
        version = _version(connection, self.path)
        if table_texts(connection) != expected_texts(version):
            raise FileError(self.path, "does not have the tables of a tagrank archive; name another file")
        if version and not self._is_own(connection) and (fault := _fault(connection)) is not None:
            raise _damage(self.path, fault)
        connection.execute("ROLLBACK")
        return version

    def _is_own(self, connection: sqlite3.Connection) -> bool:
        """Whether this user has opened the file before.

        In one that somebody else made, pages may lead to each other without end: it would be read for ever.
        """
        row = connection.execute("SELECT value FROM settings WHERE key = ?", (IDENTITY,)).fetchone()
        try:
            return row is not None and is_known(self.path, row[0])
        except (FileError, OSError):
            # without a state of their own nobody knows a file
            return False

    def _read_copy(self, connection: sqlite3.Connection, version: int) -> None:
        """Bring a copy to today's version, and read that: the file itself must stay as it is."""
        if self.path.stat().st_size > _LARGEST_COPY:
            raise FileError(
                self.path, f"is of version {version}, not {VERSION}; open it once with 'tagrank desk'"
            )
        self._copies = TemporaryDirectory(prefix="tagrank-")
        self._opened = Path(self._copies.name) / self.path.name
        with closing(sqlite3.connect(self._opened, isolation_level=None)) as copy:
            connection.backup(copy)
            migrate(copy)


def explained(error: Exception, connection: sqlite3.Connection, path: Path) -> Exception:
    """The error that says what is wrong with the file, where the file is the reason; else the error itself.

    Damaged pages may hold numbers where texts belong, which nobody who asks for them expects.
    """
    if isinstance(error, sqlite3.OperationalError):
        return OSError(f"{path} cannot be read ({error}); restore it from a copy")
    if isinstance(error, sqlite3.DatabaseError):
        return _damage(path, error)
    is_foreseen = isinstance(error, ArgumentError | FileError | OSError) or type(error) is LookupError
    if is_foreseen or (fault := _fault(connection)) is None:
        return error
    return _damage(path, fault)


def _fault(connection: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with a file, None if nothing is."""
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except (*_DAMAGE, TypeError) as error:
        return str(error)
    # the first line tells which of several databases is meant
    return None if verdict == "ok" else str(verdict).splitlines()[-1]


def _damage(path: Path, reason: object) -> FileError:
    return FileError(path, f"is damaged or not a database ({str(reason)[:200]}); restore it from a copy")


def _way_out(write: bool) -> str:
    if write:
        return "; if its folder is read-only, name another file with --decisions FILE.sqlite"
    return "; if its folder is read-only, copy the file to another folder, together with its -wal file"


def _version(connection: sqlite3.Connection, path: Path) -> int:
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
    check_database_files(path)
    options = "mode=rwc" if write else "mode=ro"
    if alone and _is_log_merged(path):
        # nobody writes; without this SQLite would make files beside it, or fail where it may not
        options += "&immutable=1"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    steps = iter(range(_MOST_STEPS // _STEPS_AT_ONCE))
    try:
        connection.set_progress_handler(lambda: next(steps, None) is None, _STEPS_AT_ONCE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_ROW)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA query_only = {'OFF' if write else 'ON'}")
        connection.set_progress_handler(None, 0)
    except BaseException:
        connection.close()
        raise
    return connection


def check_database_files(path: Path) -> None:
    """Refuse a database that leads elsewhere, by a link or by what lies beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        check_plain(f"{path}{ending}")
    if check_plain(journal := f"{path}-journal"):
        with open(open_plain(journal, os.O_RDONLY), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(_NAMES_ANOTHER)))
            if file.read() == _NAMES_ANOTHER:
                raise FileError(journal, "names other files, as no journal of tagrank does; remove it")


def _is_log_merged(path: Path) -> bool:
    """Whether a file is of the kind that is written through a log, and no log lies beside it."""
    if os.path.lexists(f"{path}-wal") or os.path.lexists(f"{path}-journal"):
        return False
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        file.seek(18)
        return file.read(2) == _WAL_FORMAT


def network_kind(path: Path) -> str | None:
    """The kind of the network drive that holds a path, such as "nfs4"; None for a drive of this machine."""
    real = os.path.realpath(path)
    if real.startswith("\\\\"):
        return "network share"
    mounts = {mount.mountpoint: mount for mount in psutil.disk_partitions(all=True)}
    above = real
    while above not in mounts:
        if above == os.path.dirname(above):
            return None
        above = os.path.dirname(above)
    kind = mounts[above].fstype.lower()
    is_remote = kind in _NETWORK_KINDS or "remote" in mounts[above].opts.split(",")
    return (kind or "network share") if is_remote else None
