"""Files that are there whole or as they were before, and places where one process works at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from tabletop_envs.errors import OptionError


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Have a file written beside its place and move it there, so that no half file is ever seen.

    write: is handed the draft's path, which ends like `path`. Folders that are missing are made. Raises what it
    raises, and OSError; the file is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_of(path)
    try:
        write(draft)
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())  # or a crash of the machine could leave the name with nothing behind it
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """`replace_file` with this content, in a folder that is there.

    Raises OptionError where no file can lie, and OSError that names `path`.
    """
    if path.is_dir():
        raise OptionError(f"{path} is a folder: name a file")
    if not path.absolute().parent.is_dir():
        raise OptionError(f"there is no folder {path.absolute().parent}: make it, or name another file")
    data = content.encode() if isinstance(content, str) else content
    try:
        replace_file(path, lambda draft: draft.write_bytes(data))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def draft_of(path: Path) -> Path:
    """Where `replace_file` has a file written; a process that is killed may leave it there."""
    return path.with_name(f"{path.stem}.draft{path.suffix}")


@contextlib.contextmanager
def claimed(lock: Path, busy: str) -> Iterator[None]:
    """Hold a lock file, there as long as it is held; raises OptionError with the words `busy` while another does.

    One that a killed process leaves there is nobody's.
    """
    try:
        held = FileLock(lock, timeout=0)
        held.acquire()
    except Timeout as error:
        raise OptionError(busy) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows keeps what is open: there the file stays
            lock.unlink()
        held.release()
