"""The site of a board on this machine alone, always as the files stand: any recorded game has its page."""

from __future__ import annotations

import posixpath
import threading
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from tabletop_envs.arena.site import INDEX, Site
from tabletop_envs.errors import OptionError, TabletopError

HOST: Final = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """Shows a board at `address` while `serve_forever` runs.

    port: 0 for any that is free. Raises OptionError for one that is taken, and what `Site` raises.
    """

    daemon_threads = True

    def __init__(self, board: Path, port: int = 0) -> None:
        self._board = board
        self._lock = threading.Lock()
        self._stamp = self._files()
        self._site = Site(board, games=None)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise OptionError(f"port {port} cannot be had ({error}): give another one, or 0 for any") from error

    @property
    def address(self) -> str:
        """Where a browser finds the site."""
        return f"http://{HOST}:{self.server_port}/"

    def page(self, path: str) -> str | None:
        """The page at a path as the files stand, None where there is none."""
        with self._lock:
            stamp = self._files()
            if stamp != self._stamp:
                self._site, self._stamp = Site(self._board, games=None), stamp
            return self._site.page(path)

    def _files(self) -> list[tuple[str, int, int]]:
        """What changes when a file of the board does."""
        found = []
        for pattern in ("*.md", "agents/*/*", "seasons/*/*/*/*"):
            for path in sorted(self._board.glob(pattern)):
                facts = path.stat()
                found.append((str(path), facts.st_mtime_ns, facts.st_size))
        return found


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path = posixpath.normpath(unquote(urlsplit(self.path).path)).lstrip("/")
        if not posixpath.splitext(path)[1]:
            path = posixpath.join(path, INDEX)
        try:
            text, status = self.server.page(path), HTTPStatus.OK
        except (TabletopError, OSError) as error:
            text, status = _message(str(error)), HTTPStatus.INTERNAL_SERVER_ERROR
        if text is None:
            text, status = _message("There is no such page."), HTTPStatus.NOT_FOUND
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, format: str, *arguments: object) -> None:
        """The terminal stays quiet."""


def _message(text: str) -> str:
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>tabletop_envs leaderboard</title>'
        f'<p>{escape(text)}</p><p><a href="/{INDEX}">Leaderboard</a></p></html>\n'
    )
