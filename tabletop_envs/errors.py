"""What can go wrong, by name. Every message says what to do about it."""

from __future__ import annotations


class TabletopError(Exception):
    """The base of every error that this package raises on purpose."""


class UnknownGameError(TabletopError, LookupError):
    """No registered game has this id."""


class GameDefinitionError(TabletopError, TypeError):
    """A game folder does not keep the contract of `core/game.py`."""


class OptionError(TabletopError, ValueError):
    """An option, its value or the number of players is not among those that the game declares."""


class IllegalActionError(TabletopError, ValueError):
    """The action is not legal for the seat to act; the position is unharmed."""


class GameOverError(TabletopError, RuntimeError):
    """The game is over: it takes no more actions."""


class OrderError(TabletopError, AssertionError):
    """A method was called before the one that has to come first."""


class NotationError(TabletopError, ValueError):
    """A text does not name an action or a position."""


class CorruptDataError(TabletopError, ValueError):
    """Stored data (a position, a checkpoint, a run folder, a case file) cannot be read."""


class UnknownAgentError(TabletopError, LookupError):
    """No agent has this name."""


class ProcessError(TabletopError, RuntimeError):
    """Worker processes end before they have done anything."""


class MissingExtraError(TabletopError, ImportError):
    """An optional package is not installed."""


class PlayerQuitError(TabletopError):
    """A human player left the game."""


class TerminalError(TabletopError):
    """The terminal cannot show what it is asked to."""
