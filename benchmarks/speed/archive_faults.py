"""What kill -9 at random moments does to an archive: decisions lost or doubled, sidecars broken.

Eight threads decide and take back as fast as they can, or sidecars are written, until the process is killed.
The ratio is that of acknowledged decisions, or of sidecars, which are as they must be.
"""

import tempfile
from pathlib import Path

from benchmarks import faults

MINUTES = 6
QUICK = {"kills": 1, "pictures": 20}


def run(*, kills=100, pictures=300):
    """Kill so many times while deciding, then while exporting so many sidecars."""
    results = []
    with tempfile.TemporaryDirectory(prefix="tagrank-faults-") as place:
        folder = Path(place) / "photos"
        faults.prepare(folder, pictures)
        for what in (faults.kill_while_deciding, faults.kill_while_exporting):
            counts = what(folder, kills=kills)
            wrong = sum(counts[word] for word in ("lost", "doubled", "broken") if word in counts)
            total = counts.get("acknowledged", counts.get("sidecars"))
            line = {"what": what.__name__.removeprefix("kill_while_"), "kills": kills, **counts}
            line["ratio_whole"] = 1 - wrong / max(1, total)
            print(line)
            results.append(line)
            yield results
