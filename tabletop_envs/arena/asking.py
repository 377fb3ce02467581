"""Asking an agent what it would do, in a process of its own that is watched from outside.

What an agent does to its process (it raises, ends it, fills the memory, never answers) does not reach the one that
asks; and where that process runs in a container, with nothing but the agent's folder in sight, the agent does not
reach the recorded games either. Questions and answers are lines of JSON, since unpickling what an agent sends would
run its code here.

`python -m tabletop_envs.arena.asking FOLDER GAME` is that process.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from tabletop_envs import registry
from tabletop_envs.agents.base import View, begin, finish
from tabletop_envs.arena import roster
from tabletop_envs.arena.replay import BUDGET, CRASH, FAILURES, ILLEGAL, TIMEOUT
from tabletop_envs.arena.roster import Entrant
from tabletop_envs.arena.workers import THREADS
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.position import Position

PATIENCE: Final = 60.0
"""Seconds that an agent has for an answer; it is no budget, but tells one that hangs."""
START: Final = 300.0
"""Seconds to begin a game in: a process has to compile it, an agent to load what it knows."""

_LINE: Final = 10_000  # bytes of an answer, at most
_TOLD: Final = 600  # letters of an error
_FOLDER: Final = "{folder}"
_BEGIN, _CHOOSE = "b", "c"  # what a line asks for, before the question


@dataclass(frozen=True)
class Question:
    """What does the seat do after these actions?

    begins: whether it is told first that a game begins, with this seed. Its memory lasts until it is told again.
    """

    num_players: int
    options: Mapping[str, Any]
    seed: int
    actions: Sequence[int]
    seat: int
    agent_seed: int
    begins: bool


@dataclass(frozen=True)
class Answer:
    """A whole number, legal or not; or None, how the agent failed (see `replay.FAILURES`), and what happened in words.

    ended: the process is gone.
    """

    action: int | None
    failure: str = ""
    words: str = ""
    ended: bool = False


class Watched:
    """An agent in a process of its own.

    agent: of a folder; game: env id; inside: a command in which the process is run, where `{folder}` stands for the
    agent's folder: `docker run --rm -i --network none -v {folder}:{folder}:ro IMAGE`; patience: seconds for an answer.

    The process begins with the first question, and again with the first after it ended.
    """

    def __init__(self, agent: Entrant, game: str, inside: str = "", patience: float = PATIENCE) -> None:
        self.agent = agent
        self.game = game
        self.patience = patience
        folder = str(agent.folder.resolve())
        within = [part.replace(_FOLDER, folder) for part in shlex.split(inside)]
        # what stands outside is not what runs inside
        self._command = [*within, "python" if within else sys.executable, "-m", __name__, folder, game]
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue(1)

    def ask(self, question: Question) -> Answer:
        """The answer, which comes within `patience`, or later where the process has to be started."""
        if self._process is None:
            answer = self._start()
            if answer.failure:
                return answer
        text = json.dumps(asdict(question))
        if question.begins:
            answer = self._exchange(f"{_BEGIN}{text}", START)
            if answer.failure:
                return answer
        return self._exchange(f"{_CHOOSE}{text}", self.patience)

    def _start(self) -> Answer:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**dict.fromkeys(THREADS, "1"), **os.environ},
        )
        self._lines = queue.Queue(1)  # an agent that writes without end waits
        threading.Thread(target=_collect, args=(self._process.stdout, self._lines), daemon=True).start()
        return self._exchange("", START)

    def _exchange(self, text: str, patience: float) -> Answer:
        process = self._process
        assert process is not None and process.stdin is not None, "the process was started"
        try:
            if text:
                process.stdin.write(text.encode() + b"\n")
                process.stdin.flush()
            line = self._lines.get(timeout=patience)
            if line:
                return _read(json.loads(line))
        except queue.Empty:
            self.close()
            return Answer(None, TIMEOUT, f"gives no answer within {patience:g} s", ended=True)
        except (OSError, ValueError, KeyError, TypeError):  # a pipe that is closed, or lines that are not ours
            pass
        status = self._status()
        self.close()
        return Answer(None, CRASH, f"ends its process, {status}", ended=True)

    def _status(self) -> str:
        assert self._process is not None, "the process was started"
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "for it wrote what is no answer"
        return f"killed by signal {-code}" if code < 0 else f"with status {code}"

    def close(self) -> None:
        """End the process and all that it began."""
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process = None


def _read(content: Any) -> Answer:
    """An answer, of which nothing is believed; raises ValueError, KeyError or TypeError for another thing."""
    action, failure = content["action"], content["failure"]
    if (action is not None and not is_whole(action)) or failure not in ("", *FAILURES):
        raise ValueError("no answer")
    return Answer(action, failure, " ".join(str(content["words"]).split())[:_TOLD])


def _collect(pipe: IO[bytes] | None, lines: queue.Queue[bytes]) -> None:
    """Pass lines on until there are no more; an empty one says so."""
    with contextlib.suppress(OSError, ValueError):
        while pipe is not None and (line := pipe.readline(_LINE)):
            lines.put(line)
    lines.put(b"")


# --- inside the process -----------------------------------------------------------------------------------------


def _serve(folder: Path, game_id: str) -> None:
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "r+b") as nothing:
        # what the agent prints, or reads, is not for us
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)

    def reply(answer: Answer) -> None:
        answers.write(json.dumps(asdict(answer)).encode() + b"\n")

    try:
        respondent = _Respondent(folder, game_id)
    except BaseException as error:  # sys.exit too
        reply(Answer(None, CRASH, f"cannot be made: {_told(error, folder)}"))
        return
    reply(Answer(None))
    for line in questions:
        what, question = line[:1].decode(), Question(**json.loads(line[1:]))
        try:
            answer = respondent.begin(question) if what == _BEGIN else respondent.choose(question)
        except BaseException as error:
            does = "cannot begin" if what == _BEGIN else "raises"
            answer = Answer(None, CRASH, f"{does}: {_told(error, folder)}")
        reply(answer)


class _Respondent:
    """The agent, and the position in which it was asked last: the next question may go on from there."""

    def __init__(self, folder: Path, game_id: str) -> None:
        self.game = registry.load(game_id)
        self.entrant = roster.read(folder)
        self._agent: Any = None
        self._deal: tuple[Any, ...] = ()
        self._actions: list[int] = []
        self._position: Position | None = None

    def begin(self, question: Question) -> Answer:
        """Seat the agent; one that keeps nothing in mind may sit at many tables. Raises what it raises."""
        self._reached(question)
        if self._agent is not None and self.entrant.stateless:
            begin(self._agent, question.seat, question.agent_seed)
            return Answer(None)
        if self._agent is not None:
            finish(self._agent)
            self._agent = None
        self._agent = roster.seated(self.entrant, self.game, question.seat, question.agent_seed)
        return Answer(None)

    def choose(self, question: Question) -> Answer:
        """What the agent chooses, legal or not; raises what it raises."""
        view = View(self._reached(question))
        before = getattr(self._agent, "simulations_made", 0)
        chosen = self._agent.choose(view)
        spent, allowed = getattr(self._agent, "simulations_made", 0) - before, self.entrant.simulations or 0
        if spent > allowed:
            return Answer(None, BUDGET, f"makes {spent} simulations instead of {allowed}")
        if not is_whole(chosen):
            return Answer(None, ILLEGAL, f"gives {chosen!r}"[:_TOLD])
        return Answer(int(chosen))

    def _reached(self, question: Question) -> Position:
        deal = (question.num_players, dict(question.options), question.seed)
        known, actions = len(self._actions), list(question.actions)
        if self._position is None or deal != self._deal or actions[:known] != self._actions:
            self._position = Position.new(self.game, question.num_players, seed=question.seed, **question.options)
            known = 0
        for action in actions[known:]:
            self._position.apply(action)
        self._deal, self._actions = deal, actions
        return self._position


def _told(error: BaseException, folder: Path) -> str:
    """An error in one line, with the line of the agent's own code where it arose."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:_TOLD]
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    own = [frame for frame in traceback.extract_tb(cause.__traceback__) if Path(frame.filename).parent == folder]
    return f"{text} ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else text


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), sys.argv[2])
