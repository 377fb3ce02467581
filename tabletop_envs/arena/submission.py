"""An agent of the leaderboard as a folder: `agent.json`, the code, the weights, and a card for readers.

| file | legend |
| --- | --- |
| `agent.json` | who it is and how it is made; the form is `agent.schema.json` |
| the file of `entry` | one file of code; none for a built-in agent |
| the file of `weights` | none, one, or one that is fetched from an address |
| `card.md` | what its authors say of it; need not be there |

Nothing else lies there: what a reviewer reads is what plays. Knows no game, runs no agent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from tabletop_envs.arena.roster import LLM, MANIFEST, Entrant, read
from tabletop_envs.errors import MissingExtraError, TabletopError

CARD: Final = "card.md"
MAX_WEIGHTS: Final = 20_000_000
MAX_TEXT: Final = 1_000_000
"""Bytes: of weights in the repository, and of every other file."""

_CACHES: Final = "__pycache__"  # what Python leaves behind
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the file, the line in it (from 1; None: all of it), and what, in one line."""

    path: Path
    line: int | None
    text: str

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.text}"

    @classmethod
    def of(cls, path: Path, error: Exception) -> Finding:
        """What an error says of a file, which may name the line, or the field that is wrong."""
        text = str(error)
        found = re.match(rf"{re.escape(str(path))}(?::(\d+))?(?:: |,? )", text)
        if found is None:
            return cls(path, None, text)
        rest = text[found.end() :]
        field = re.match(r"[a-z_]+(\[\d+\]|\.[a-z_]+)*(?= is )", rest)
        if found[1]:
            return cls(path, int(found[1]), rest)
        if field is None:
            return cls(path, None, rest)
        steps = [int(step) if step.isdecimal() else step for step in re.findall(r"\w+", field[0])]
        return cls(path, line_of(path.read_text(encoding="utf-8"), steps), rest)


@dataclass(frozen=True)
class Submission:
    """An agent whose `agent.json` has its form: what plays, and all that the file says."""

    entrant: Entrant
    content: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of the agent, and of its folder."""
        return self.entrant.name

    @property
    def path(self) -> Path:
        """Of `agent.json`."""
        return self.entrant.folder / MANIFEST

    @property
    def code_path(self) -> Path | None:
        """The file of code; None for a built-in agent."""
        file = self.entrant.entry.get("file")
        return None if file is None else self.entrant.folder / file

    @property
    def weights_path(self) -> Path | None:
        """Where the weights lie, or have to be put when they are fetched; None for an agent without."""
        weights = self.entrant.weights
        if not weights:
            return None
        return self.entrant.folder / str(weights.get("file") or weights["address"].rpartition("/")[2])

    @property
    def identity(self) -> dict[str, Any]:
        """What it says that headers of its games have to say too."""
        return {
            "version": self.entrant.version,
            "code_sha256": self.content["code_sha256"],
            "weights_sha256": self.entrant.weights.get("sha256"),
        }

    @property
    def answers_again(self) -> bool:
        """Whether it chooses the same when it is asked again."""
        return bool(self.content["deterministic"]) and self.entrant.kind != LLM


# --- agent.json -------------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[Any, list[Finding]]:
    if path.is_symlink():
        return None, [Finding(path, None, "is a link: put the file itself there")]
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except FileNotFoundError:
        return None, [Finding(path, None, "is missing: every agent has one")]
    except json.JSONDecodeError as error:
        return None, [Finding(path, error.lineno, f"cannot be read as JSON ({error.msg}): mend the line")]
    except (ValueError, RecursionError) as error:
        return None, [Finding(path, None, f"cannot be read as JSON ({error}): mend it")]
    wrong = sorted(_validator().iter_errors(content), key=lambda error: [str(step) for step in error.absolute_path])
    return content, [
        Finding(path, line_of(text, error.absolute_path), f"{_field(error.absolute_path)}: {error.message}")
        for error in wrong
    ]


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return content


@cache
def _validator() -> Any:
    try:
        from jsonschema import Draft202012Validator
    except ImportError as error:
        raise MissingExtraError("agents of the arena need jsonschema: pip install 'tabletop-envs[arena]'") from error
    return Draft202012Validator(json.loads((files(__package__) / "agent.schema.json").read_text(encoding="utf-8")))


def _field(steps: Sequence[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.lstrip(".") or "the whole"


def line_of(text: str, steps: Sequence[str | int]) -> int:
    """The line, from 1, on which a part of a JSON text begins: `["games", "urbino-v0", 0]`; of the last part on the
    way that is there."""
    at = _next(text, 0)
    for step in steps:
        found = [start for key, start in _parts(text, at) if key == step]
        if not found:
            break
        at = found[-1]
    return text.count("\n", 0, at) + 1


def _parts(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """Key or number of every part of the object or list that begins there, and where the part begins."""
    opening, number = text[at], 0
    if opening not in "{[":
        return
    at = _next(text, at + 1)
    while text[at] not in "}]":
        key: str | int = number
        if opening == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _next(text, _next(text, at) + 1)  # behind the colon
        yield key, at
        at = _next(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _next(text, at + 1)
        number += 1


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


# --- the folder -------------------------------------------------------------------------------------------------


def check(folder: Path) -> tuple[Submission | None, list[Finding]]:
    """What is wrong with a folder, and what it says; nothing for what cannot be read. Runs no code of it."""
    path = folder / MANIFEST
    content, findings = _read(path)
    if findings:
        return None, findings
    text = path.read_text(encoding="utf-8")

    def wrong(message: str, *steps: str) -> None:
        findings.append(Finding(path, line_of(text, steps), f"{_field(steps)}: {message}"))

    if content["name"] != folder.name:
        wrong(f"{content['name']!r} is not the name of the folder, {folder.name!r}: rename one of them", "name")
        return None, findings
    try:
        agent = Submission(read(folder), content)
    except TabletopError as error:
        return None, [Finding.of(path, error)]
    if agent.entrant.simulations is None and agent.entrant.kind == "search":
        wrong("a search has a budget of simulations: give kind 'search' and their number", "budget")
    declared, code, weights = content["code_sha256"], agent.code_path, agent.weights_path
    if (code is None) != (declared is None):
        wrong(f"has to be {'null for a built-in agent' if code is None else f'that of {code.name}'}", "code_sha256")
    if code is not None and _is_there(code, findings, MAX_TEXT) and declared not in (None, sha256_of(code)):
        wrong(_other(code), "code_sha256")
    if weights is not None:
        fetched, size = "address" in content["weights"], content["weights"]["bytes"]
        if fetched and not weights.exists():
            wrong(f"fetch them into {weights}, then check again", "weights", "address")
        elif _is_there(weights, findings, size if fetched else MAX_WEIGHTS):
            if sha256_of(weights) != content["weights"]["sha256"]:
                wrong(_other(weights), "weights", "sha256")
            if weights.stat().st_size != size:
                wrong(f"{weights.name} has {weights.stat().st_size:,} bytes", "weights", "bytes")
    return agent, findings + _strangers(agent)


def _other(path: Path) -> str:
    return f"{path.name} has another, {sha256_of(path)}: the file was changed, or is to be declared anew"


def _is_there(path: Path, findings: list[Finding], limit: int) -> bool:
    """Whether a file can be looked at; what is wrong with it joins the findings."""
    if path.is_symlink() or not path.is_file():
        findings.append(Finding(path, None, f"is missing: {path.parent / MANIFEST} names this file"))
        return False
    if path.stat().st_size > limit:
        findings.append(Finding(path, None, f"has {path.stat().st_size:,} bytes, more than {limit:,}"))
    return True


def _strangers(agent: Submission) -> list[Finding]:
    """What has no business in the folder."""
    folder = agent.entrant.folder
    named = {agent.path, folder / CARD, agent.code_path, agent.weights_path}
    strangers = [path for path in sorted(folder.iterdir()) if path not in named and path.name != _CACHES]
    findings = [
        Finding(path, None, f"does not belong here: {MANIFEST}, {CARD}, one file of code, one of weights")
        for path in strangers
    ]
    if (folder / CARD).exists():
        _is_there(folder / CARD, findings, MAX_TEXT)
    return findings


def sha256_of(path: Path) -> str:
    """The digest of a file, 64 hex digits, as `sha256sum` prints it. Raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
