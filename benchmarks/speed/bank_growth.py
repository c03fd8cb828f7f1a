"""The bank at a million pictures: rows, views and scans, their memory, and what 1,000 more cost.

Rows of noise are written through the store's own API; small drawn files stand for pictures. Each line is work
in a process of its own: processor seconds, memory beyond that of the imports, bytes read and written.
`moved/least` compares the bytes with those that cannot be done without: packed rows that are read, and rows
of the view that are written. `ratio` of "1,000 more" is the cost of 1,000 alone over theirs, in processor
seconds; of other lines the bound of the memory, 128 MiB and 2 KiB a picture, over that which was taken.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.fresh_process import measure
from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.row_store import RowStore, pack_row
from tagrank.annotation.bank.view_files import ViewPlace, assemble_view
from tagrank.archive import Archive
from tagrank.features.feature import Feature
from tagrank_papers.text import show

MINUTES = 3
QUICK = {"rows": 6_000, "columns": 400, "pictures": 120, "more": 30}
SET = "drawn"
SIDECAR = """<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag><rdf:li>tag {}</rdf:li>
<rdf:li>tag {}</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"""
_BATCH = 64
_MEMORY, _PICTURE_MEMORY = 2**27, 2**11


def run(*, rows=100_000, columns=512, pictures=20_000, more=1_000):
    lines = []
    with tempfile.TemporaryDirectory() as place:
        for line in _store_lines(Path(place), rows, columns, more):
            lines.append(line)
            show(line, *line)
            yield lines
    with tempfile.TemporaryDirectory() as place:
        for line in _picture_lines(Path(place), pictures, more):
            lines.append(line)
            show(line, *line)
            yield lines


def _line(case, cost, n_pictures, *, least=None, alone=None):
    line = {
        "case": case,
        "pictures": n_pictures,
        "processor_seconds": cost.seconds,
        "mebibytes": cost.memory / 2**20,
        "megabytes_moved": cost.moved / 1e6,
    }
    if least is not None:
        line["moved/least"] = cost.moved / least
    bound = (_MEMORY + _PICTURE_MEMORY * n_pictures) / max(1, cost.memory)
    return line | {"ratio": bound if alone is None else alone.seconds / cost.seconds}


# rows


def _store_lines(place, rows, columns, more):
    size = 4 * columns
    folder, small = place / "large", place / "small"
    yield _line("rows: written", measure(write_rows, folder, 0, rows, columns), rows, least=rows * size)
    yield _line("view: first", measure(view, folder, 0, rows), rows, least=2 * rows * size)
    yield _line("view: again", measure(view, folder, 0, rows), rows)
    yield _line("view: all rows read", measure(sum_view, folder, 0, rows), rows)
    measure(write_rows, small, 0, more, columns)
    alone = measure(view, small, 0, more)
    measure(write_rows, folder, rows, more, columns)
    grown = measure(view, folder, 0, rows + more)
    yield _line(f"view: {more:,} more", grown, rows + more, least=2 * more * size, alone=alone)


def write_rows(folder, first, n_rows, columns):
    """Rows of noise in a store, a few at a time."""
    with RowStore(folder) as store:
        for start in range(first, first + n_rows, _BATCH):
            numbers = range(start, min(start + _BATCH, first + n_rows))
            drawn = np.random.default_rng(start).standard_normal((len(numbers), columns), dtype=np.float32)
            store.save_rows(
                [(key(number), SET, pack_row(row)) for number, row in zip(numbers, drawn, strict=True)]
            )


def key(number):
    """What stands for the content of a picture; the numbers are in no order, as in real keys."""
    return (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16)


def view(folder, first, n_rows):
    """The shape of the view of these rows."""
    with RowStore(folder) as store:
        return assemble_view(
            store, SET, [key(n) for n in range(first, n_rows)], ViewPlace(folder / "views")
        ).shape


def sum_view(folder, first, n_rows):
    """The sum of the columns of the view."""
    with RowStore(folder) as store:
        rows = assemble_view(store, SET, [key(n) for n in range(first, n_rows)], ViewPlace(folder / "views"))
    return float(sum(rows[start : start + 4096].sum(dtype=np.float64) for start in range(0, n_rows, 4096)))


# pictures


@dataclass(frozen=True)
class Drawn(Feature):
    """Cheap and dense: colours of a few places, again and again."""

    n_columns: int = 512

    def describe(self, picture):
        """The row of a picture."""
        return np.resize(picture.pixels.ravel(), self.n_columns).astype(np.float32) / 255


def _picture_lines(place, pictures, more):
    photographs, few, cache = place / "photographs", place / "few", place / "cache"
    draw_files(photographs, 0, pictures)
    draw_files(few, 0, more)
    alone = measure(scan, few, place / "cache of few")
    yield _line("scan: first", measure(scan, photographs, cache), pictures)
    yield _line("scan: again", measure(scan, photographs, cache), pictures)
    alone_described = measure(describe, few, place / "cache of few")
    n_saved = kill_half_way(photographs, cache, pictures // 2)
    cost = measure(describe, photographs, cache)
    lost = pictures - n_saved - cost.answer
    yield _line("description: on from a kill", cost, pictures) | {"done before": n_saved, "lost": lost}
    yield _line("description: again", measure(describe, photographs, cache), pictures)
    draw_files(photographs, pictures, more)
    total = pictures + more
    yield _line(f"scan: {more:,} more", measure(scan, photographs, cache), total, alone=alone)
    cost = measure(describe, photographs, cache)
    yield _line(f"description: {more:,} more", cost, total, alone=alone_described)


def draw_files(folder, first, n_pictures):
    """Pictures of 12 x 12 pixels, none like another, with their keywords in sidecars."""
    for number in range(first, first + n_pictures):
        pixels = np.random.default_rng(number).integers(0, 256, (12, 12, 3), dtype=np.uint8)
        path = folder / f"{number % 97:02d}" / f"{number:07d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path, compress_level=1)
        sidecar = path.with_name(f"{path.name}.xmp")
        sidecar.write_text(SIDECAR.format(number % 50, 50 + number % 70))
        # of a file that was written just now nothing is remembered
        for written in (path, sidecar):
            os.utime(written, (1.7e9, 1.7e9))


def scan(folder, cache):
    """How many pictures the archive has after a look at its folder."""
    with Archive.open(folder) as archive:
        return archive.scan(cache=cache).n_pictures


def describe(folder, cache):
    """How many pictures were described now."""
    paths = sorted(map(str, Path(folder).rglob("*.png")))
    described = FeatureBank({SET: Drawn()}, folder=cache / "features", n_jobs=1).extract(paths)
    assert len(described.collection) == len(paths)
    return described.n_computed


def kill_half_way(folder, cache, n_pictures):
    """How many pictures were saved when their description was killed, half-way."""
    code = (
        "from benchmarks.speed.bank_growth import describe; from pathlib import Path; "
        f"describe({str(folder)!r}, Path({str(cache)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    while process.poll() is None and _n_saved(cache) < n_pictures:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return _n_saved(cache)


def _n_saved(cache):
    if not (cache / "features").exists():
        return 0
    with RowStore(cache / "features") as store:
        return store._read("SELECT count(*) FROM rows")[0][0]
