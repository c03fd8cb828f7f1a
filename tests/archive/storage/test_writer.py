"""kill -9 at random moments: nothing acknowledged is lost, nothing is doubled, every sidecar is whole."""

import signal

import pytest

from benchmarks import faults

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults") / "photos"
    faults.prepare(folder, 60)
    return folder


def test_no_acknowledged_decision_is_lost(photos):
    counts = faults.kill_while_deciding(photos, kills=4)
    assert counts.pop("acknowledged") > 0
    assert counts == {"lost": 0, "doubled": 0, "unsound": 0}


def test_every_sidecar_is_old_or_new(photos):
    counts = faults.kill_while_exporting(photos, kills=3)
    assert counts["old"] + counts["new"] == counts["sidecars"] == 180
    assert (counts["broken"], counts["unfinished"]) == (0, 0)
