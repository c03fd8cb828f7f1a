"""Bounded reading and atomic writing: bombs, truncation, pickles and full disks."""

import errno
import gzip
import io
import os
import pickle
import socket
import zipfile

import numpy as np
import pytest

from tagrank import files
from tagrank.array_files import load_npy, load_npz, save_npz
from tagrank.files import FileError, ProblemLog, atomic_write, check_regular, open_bounded, open_text


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_what_is_written_reads_back(tmp_path, name):
    path = tmp_path / name
    with atomic_write(path, text=True) as stream:
        stream.write("été\nsky\n")
    with open_text(path) as stream:
        assert stream.read() == "été\nsky\n"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    assert name.endswith(".gz") == (path.read_bytes()[:2] == b"\x1f\x8b")


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail_half_way():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise OSError(errno.ENOSPC, "no space left on device")

    with pytest.raises(OSError, match="no space") as caught:
        fail_half_way()
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failure_names_the_file_that_failed(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "none" / "a.txt"):
        raise AssertionError("unreachable")
    assert caught.value.filename == str(tmp_path / "none" / "a.txt")
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "a.txt"):
        (tmp_path / "other.txt").read_bytes()
    assert caught.value.filename == str(tmp_path / "other.txt")


def test_bounded_gzip(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(10**7)))
    with (
        pytest.raises(ValueError, match=r"bomb\.gz: has more than 1,000,000 bytes"),
        open_bounded(path, max_bytes=10**6) as stream,
    ):
        stream.read()
    with open_bounded(path, max_bytes=10**7) as stream:
        assert len(stream.read()) == 10**7


def open_and_close(path):
    with open_text(path):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        (gzip.compress(bytes(100)), {"max_bytes": 99}, FileError),
        (gzip.compress(bytes(100))[:-9], {}, FileError),
        (b"not compressed", {}, FileError),
        (gzip.compress(b"a"), {"encoding": "no such"}, LookupError),
    ],
    ids=["too large", "cut", "not compressed", "unknown encoding"],
)
def test_a_text_that_cannot_be_opened_is_closed(tmp_path, monkeypatch, content, options, error):
    streams = []

    def open_and_keep(path, *, max_bytes):
        streams.append(open_bounded(path, max_bytes=max_bytes))
        return streams[0]

    monkeypatch.setattr(files, "open_bounded", open_and_keep)
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(error), open_text(tmp_path / "x.gz", **options):
        raise AssertionError("unreachable")
    assert [stream.closed for stream in streams] == [True]


@pytest.mark.parametrize("read", [check_regular, open_bounded, open_and_close, load_npy, load_npz])
def test_what_is_no_file_is_refused_before_it_is_opened(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("pipe.csv.gz")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in ("pipe.csv.gz", "folder", "socket", "/dev/zero"):
            with pytest.raises(FileError, match=rf"^{path}: is a folder, pipe or device, not a file"):
                read(path)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.array(["sky", "été"]),
        np.array(3),
        np.empty((0, 4)),
        np.array([], dtype="<U1"),
    ],
    ids=["float", "fortran", "text", "scalar", "empty", "no text"],
)
def test_arrays_read_back(tmp_path, array):
    save_npz(tmp_path / "a.npz", {"x": array})
    np.save(tmp_path / "a.npy", array)
    for again in (
        load_npz(tmp_path / "a.npz")["x"],
        load_npy(tmp_path / "a.npy"),
        np.load(tmp_path / "a.npz")["x"],
    ):
        np.testing.assert_array_equal(again, array)
        assert again.dtype == array.dtype


def npy(header_shape, data, descr="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": False, "shape": header_shape}
    )
    return stream.getvalue() + data


def archive(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.npy", content)
    return path


def test_headers_that_promise_too_much_are_refused_before_allocation(tmp_path):
    lie = npy((10**12,), bytes(80))
    with pytest.raises(ValueError, match=r"needs 8,000,000,000,000 bytes, found 80"):
        load_npz(archive(tmp_path / "lie.npz", lie))
    (tmp_path / "lie.npy").write_bytes(lie)
    with pytest.raises(ValueError, match="needs 8,000,000,000,000 bytes"):
        load_npy(tmp_path / "lie.npy")


def test_decompression_bomb(tmp_path):
    path = archive(tmp_path / "bomb.npz", npy((10**6,), bytes(8 * 10**6)))
    assert path.stat().st_size < 20_000
    with pytest.raises(ValueError, match="unpacks to more than 1,000,000 bytes"):
        load_npz(path, max_bytes=10**6)


def test_a_directory_that_lies_about_sizes(tmp_path):
    path = archive(tmp_path / "lie.npz", npy((3,), bytes(24)))
    content = bytearray(path.read_bytes())
    # the uncompressed size in the central directory
    position = content.index(b"PK\x01\x02") + 24
    content[position : position + 4] = (10**9).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(ValueError, match="promises 1,000,000,000 bytes"):
        load_npz(path)


def test_pickles_are_never_loaded(tmp_path):
    objects = npy((1,), b"x" * 8, descr="|O")
    with pytest.raises(ValueError, match="refused"):
        load_npz(archive(tmp_path / "objects.npz", objects))
    with pytest.raises(ValueError, match="not a plain numpy array"):
        load_npz(archive(tmp_path / "pickle.npz", pickle.dumps([1])))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        save_npz(tmp_path / "new.npz", {"x": np.array([object()])})
    assert not (tmp_path / "new.npz").exists()


@pytest.mark.parametrize("keep", [0, 10, 100, 400])
def test_truncated_archives(tmp_path, keep):
    save_npz(tmp_path / "a.npz", {"x": np.random.default_rng(0).random(100)})
    (tmp_path / "b.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:keep])
    with pytest.raises(ValueError, match="damaged or truncated"):
        load_npz(tmp_path / "b.npz")


def test_damaged_content(tmp_path):
    save_npz(tmp_path / "a.npz", {"x": np.random.default_rng(0).random(100)})
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[200] ^= 0xFF
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ValueError, match="damaged or truncated"):
        load_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("letter", ["a", "写", "\N{CAMERA WITH FLASH}"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, letter):
    path = tmp_path / (letter * (251 // len(letter.encode())) + ".xmp")
    with atomic_write(path, text=True) as stream:
        stream.write("whole")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("line", [None, 3])
def test_a_problem_names_its_file_once(line):
    log = ProblemLog()
    log.add_error("a.xmp", FileError("a.xmp", "is damaged", line=line))
    assert [str(one) for one in log.listed()] == [f"a.xmp: {'' if line is None else 'line 3: '}is damaged"]
