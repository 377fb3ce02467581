"""The human agent: shows the view in a terminal and reads an action, by number or in words."""

from __future__ import annotations

import shutil
import sys
from typing import Final, TextIO

import numpy as np

from tabletop_envs.agents.base import View
from tabletop_envs.errors import NotationError, PlayerQuitError
from tabletop_envs.render.ansi import ansi

PROMPT: Final = "your action: "
HELP: Final = (
    "Type an action's number or its words; the beginning of the words is enough where it fits only one action.\n"
    "  list   show all legal actions with their numbers\n"
    "  show   show the position again\n"
    "  ?      show this help\n"
    "  quit   leave the game"
)

_LISTED: Final = 40  # actions that are shown unasked
_GAP: Final = "   "  # between two columns


class HumanAgent:
    """A person at a terminal.

    source, sink: streams to read from and write to; by default the terminal.

    `choose` raises PlayerQuitError for `quit` and at the end of the input.
    """

    def __init__(self, name: str = "human", *, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self.name = name
        self._source = source
        self._sink = sink

    def choose(self, view: View) -> int:
        """The action that the person types, asked until it is legal."""
        actions = view.legal_actions()
        texts = [view.action_text(int(action)) for action in actions]
        self._show(view)
        if len(texts) <= _LISTED:
            self._list(texts, range(len(texts)))
        else:
            self._say(f"{len(texts)} legal actions: type `list` to see them, `?` for help")
        while True:
            typed = self._read()
            if typed == "?":
                self._say(HELP)
            elif typed == "list":
                self._list(texts, range(len(texts)))
            elif typed == "show":
                self._show(view)
            elif typed == "quit":
                raise PlayerQuitError(f"{self.name} left the game at decision {view.decisions}")
            elif typed:
                number = self._chosen(typed, view, actions, texts)
                if number is not None:
                    return number

    def _chosen(self, typed: str, view: View, actions: np.ndarray, texts: list[str]) -> int | None:
        if typed.isdecimal():
            number = int(typed)
            if 1 <= number <= len(texts):
                return int(actions[number - 1])
            self._say(f"there is no number {number}: they go from 1 to {len(texts)}")
            return None
        try:
            action = view.parse_action(typed)
        except NotationError as error:
            return self._begun(typed, actions, texts, str(error))
        if action in actions:
            return action
        self._say(f"{view.action_text(action)!r} is not legal now: type `list` to see what is")
        return None

    def _begun(self, typed: str, actions: np.ndarray, texts: list[str], reason: str) -> int | None:
        """The one legal action whose words begin so."""
        fitting = [number for number, text in enumerate(texts) if text.lower().startswith(typed)]
        if len(fitting) == 1:
            return int(actions[fitting[0]])
        if fitting:
            self._list(texts, fitting)
        else:
            self._say(reason)
        return None

    def _read(self) -> str:
        sink = self._sink or sys.stdout
        sink.write(PROMPT)
        sink.flush()
        line = (self._source or sys.stdin).readline()
        if not line:
            raise PlayerQuitError(f"the input ended before {self.name} chose an action")
        return " ".join(line.split()).lower()

    def _show(self, view: View) -> None:
        self._say(ansi(view.scene(), None if self._sink is None else False))
        self._say(f"you are seat {view.seat} of {view.num_players} ({view.phase})")

    def _list(self, texts: list[str], numbers: range | list[int]) -> None:
        entries = [f"{number + 1:>{len(str(len(texts)))}}  {texts[number]}" for number in numbers]
        width = max(map(len, entries)) + len(_GAP)
        columns = max(1, (shutil.get_terminal_size().columns + len(_GAP)) // width)
        rows = -(-len(entries) // columns)
        for row in range(rows):
            self._say(_GAP.join(entry.ljust(width - len(_GAP)) for entry in entries[row::rows]).rstrip())

    def _say(self, text: str) -> None:
        print(text, file=self._sink or sys.stdout)
