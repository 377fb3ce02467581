"""Files that are there whole or as they were, and locks between processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import TIMEOUT

from tabletop_envs import files
from tabletop_envs.errors import OptionError


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "facts.json"
    drafts = []

    def write(draft: Path) -> None:
        draft.write_text("new")
        drafts.append(draft.stat().st_ino)
        assert draft.suffix == path.suffix

    files.replace_file(path, lambda draft: draft.write_text("old"))

    def fail(draft: Path) -> None:
        draft.write_text("half")
        assert path.read_text() == "old"
        raise Killed

    with pytest.raises(Killed):
        files.replace_file(path, fail)
    assert path.read_text() == "old"
    files.replace_file(path, write)
    assert path.read_text() == "new"
    assert path.stat().st_ino == drafts[0]  # moved into its place, not written there
    assert [file.name for file in path.parent.iterdir()] == ["facts.json"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, fill_disk: Callable[[Path], None]) -> None:
    path = tmp_path / "kept.json"
    files.write_whole(path, "before")
    fill_disk(tmp_path)
    with pytest.raises(OSError, match=r"no room.*kept\.json"):
        files.write_whole(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_where_no_file_can_lie(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is a folder: name a file"):
        files.write_whole(tmp_path, "text")
    with pytest.raises(OptionError, match=r"there is no folder .*: make it"):
        files.write_whole(tmp_path / "missing" / "file.txt", b"text")
    assert not list(tmp_path.iterdir())


CLAIM = """
import os, sys
from pathlib import Path
from tabletop_envs.files import claimed
with claimed(Path(sys.argv[1]), "somebody is there: wait"):
    print("mine", flush=True)
    exec(sys.argv[2])
"""


def claim(lock: Path, then: str = "") -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", CLAIM, str(lock), then]
    return subprocess.run(call, capture_output=True, text=True, timeout=TIMEOUT)


def test_a_place_is_claimed_by_one_process(tmp_path: Path) -> None:
    lock = tmp_path / "place.lock"
    with files.claimed(lock, "busy"):
        assert "OptionError: somebody is there: wait" in claim(lock).stderr
        with pytest.raises(OptionError, match="busy"), files.claimed(lock, "busy"):
            pass
        assert "OptionError: somebody is there: wait" in claim(lock).stderr  # who was refused let it be
    assert not list(tmp_path.iterdir())
    assert claim(lock).stdout == "mine\n"


def test_who_is_killed_lets_go(tmp_path: Path) -> None:
    lock = tmp_path / "place.lock"
    done = claim(lock, "os.kill(os.getpid(), 9)")
    assert (done.stdout, done.returncode) == ("mine\n", -9)
    with files.claimed(lock, "busy"):
        pass
