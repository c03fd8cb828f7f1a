"""Where a database lies: on a drive of this machine, or on one that is shared over a network."""

import os
from pathlib import Path

import psutil

# shared memory, which SQLite's write-ahead log needs, does not reach from one machine to another
_NETWORK_KINDS = frozenset(
    "9p acfs afpfs afs beegfs ceph cifs coda davfs fuse.davfs2 fuse.gcsfuse fuse.glusterfs fuse.rclone "  # noqa: SIM905
    "fuse.s3fs fuse.sshfs glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 prl_fs smb smb2 smb3 smbfs "
    "vboxsf virtiofs vmhgfs fuse.vmhgfs-fuse webdav".split()
)


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
