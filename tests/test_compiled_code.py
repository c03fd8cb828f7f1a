"""Compiled code is kept once for an installation, where nobody else can write, and a wait for it is told."""

import subprocess
import sys

import pytest

from tagrank import resources

MODULE = """
from tagrank.resources import compiled

@compiled()
def add_one(x):
    return x + 1
"""


@pytest.fixture
def compile_there(tmp_path):
    """Run code after a small compiled function was imported from a folder, and tell what it prints."""
    (tmp_path / "small_module.py").write_text(MODULE)

    def run(code, *, folder="None", prompt=False):
        before = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
{"sys.ps1 = '>>> '" if prompt else ""}
from tagrank import resources
resources.SECONDS_BEFORE_TELLING = 0.0
resources._folder_of_code = lambda: {folder}
from small_module import add_one
"""
        done = subprocess.run(
            [sys.executable, "-c", before + code], capture_output=True, text=True, check=True
        )
        return done.stdout + done.stderr

    return run


def test_a_wait_is_told_once_and_only_while_it_compiles(compile_there, tmp_path):
    (tmp_path / "kept").mkdir()
    code = """
resources.tell_of_compilation(lambda: print("compiling"))
assert add_one(1) == 2 and add_one(1.5) == 2.5
"""
    folder = repr(str(tmp_path / "kept"))
    assert compile_there(code, folder=folder) == "compiling\n"
    assert compile_there(code, folder=folder) == ""  # another process loads what the first one kept


def test_who_waits_at_a_prompt_is_told_a_program_is_not(compile_there):
    assert "compiling for this machine" in compile_there("add_one(1), add_one(1.5)", prompt=True)
    assert compile_there("add_one(1), add_one(1.5)") == ""


def test_what_the_installer_compiled_is_copied_not_compiled_again(compile_there, tmp_path):
    hits = "add_one(1); print(sum(add_one.stats.cache_hits.values()))"
    (tmp_path / "own").mkdir()
    assert compile_there(hits, folder="''") == "0\n"  # beside the source
    assert compile_there(hits, folder=repr(str(tmp_path / "own"))) == "1\n"


@pytest.fixture
def installation(monkeypatch, tmp_path):
    """An installation that this user may not write to, and an empty home and temporary folder."""
    import numba

    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(resources.os, "access", lambda *_: False)
    monkeypatch.setattr(resources, "cache_folder", lambda: tmp_path / "home/cache")
    monkeypatch.setattr(resources.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    tmp_path.chmod(0o755)
    return tmp_path


def test_beside_a_read_only_installation_code_is_kept_in_the_home_of_the_user(installation):
    folder = installation / "home/cache/compiled"
    assert resources._folder_of_code.__wrapped__() == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(resources.os, "geteuid"), reason="permissions of folders are those of POSIX")
def test_nothing_is_loaded_from_where_others_may_write(installation, monkeypatch):
    first, second = (
        installation / "home/cache/compiled",
        installation / f"tmp/tagrank-{resources.os.geteuid()}",
    )
    assert resources._is_own(first)
    assert resources._is_own(second)
    first.chmod(0o777)
    assert resources._folder_of_code.__wrapped__() == str(second)
    second.rmdir()
    second.symlink_to(installation)
    made = []
    monkeypatch.setattr(resources.atexit, "register", lambda *asked, **_: made.append(asked))
    own = resources._folder_of_code.__wrapped__()
    assert own not in (str(first), str(second))
    for function, folder in made:  # it lasts as long as the process
        assert folder == own
        function(folder)


def test_a_folder_below_one_that_others_may_rename_is_not_trusted(installation):
    (installation / "open").mkdir()
    (installation / "open").chmod(0o777)
    assert not resources._is_own(installation / "open/mine")
    (installation / "open").chmod(0o1777)  # where only the owner may rename
    assert resources._is_own(installation / "open/mine")
