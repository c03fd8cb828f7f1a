"""Files that decide numbers: read whole, within bounds, and only if they are the ones that were meant."""

import hashlib

from tagrank.files import MAX_BYTES, FileError, check_regular, open_bounded


def read_checked(path, *, sha256=None, max_bytes=MAX_BYTES):
    """Bytes of a file, whose SHA-256 must be `sha256` (hexadecimal) where it is given."""
    try:
        if check_regular(path).st_size > max_bytes:
            raise FileError(path, f"is larger than the {max_bytes:,} bytes that such a file may have")
        with open_bounded(path, max_bytes=max_bytes) as file:
            content = file.read()
    except OSError as error:
        raise FileError(
            path, f"cannot be read ({error.strerror}); put it back or name its new place"
        ) from None
    found = checksum(content)
    if sha256 is not None and found != sha256:
        raise FileError(
            path, f"is not the file that was meant: SHA-256 {found}, expected {sha256}; put that one back"
        )
    return content


def checksum(content):
    """SHA-256 of bytes as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
