"""The state of a user is closed to others, and never behind a link."""

import os
import stat

import pytest

from tagrank.data.user_folders import cache_folder, state_folder
from tagrank.files import FileError


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_made_for_this_user_alone(state):
    assert state_folder("archives", "one") == state / "archives" / "one"
    for folder in (state, state / "archives", state / "archives" / "one"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_places_of_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("TAGRANK_CACHE")
    monkeypatch.delenv("TAGRANK_STATE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert "tagrank" in cache_folder().parts
    assert "tagrank" in state_folder().parts


def test_a_folder_that_others_may_write_to_is_refused(state):
    state_folder()
    state.chmod(0o770)
    with pytest.raises(FileError, match="chmod go-w"):
        state_folder()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_a_folder_of_another_user_is_refused(state):
    state_folder()
    os.chown(state, 12345, -1)
    with pytest.raises(FileError, match="another user"):
        state_folder()


def test_a_place_where_none_can_be_made_names_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(PermissionError, match=r"cannot be created .*; name .* TAGRANK_STATE"):
        state_folder()


def test_a_link_below_is_refused(state, tmp_path):
    state_folder()
    (tmp_path / "elsewhere").mkdir()
    (state / "archives").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="is a link"):
        state_folder("archives")
