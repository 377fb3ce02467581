"""Options that commands of several groups take."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from tabletop_envs.errors import OptionError


def game_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--players` and `--option`, as every command that sets up a game takes them."""
    command = click.option(
        "--option",
        "-o",
        "assignments",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the game; may be repeated. The `list` command shows them.",
    )(command)
    return click.option("--players", "-p", type=int, help="Number of players [default: the least possible].")(command)


def parse_options(assignments: tuple[str, ...]) -> dict[str, Any]:
    """`name=value` texts as options; values are read as JSON where they can be, else as text."""
    options = {}
    for assignment in assignments:
        name, found, text = assignment.partition("=")
        if not found:
            raise OptionError(f"{assignment!r} is no option: write NAME=VALUE")
        try:
            options[name] = json.loads(text.lower() if text.lower() in ("true", "false") else text)
        except ValueError:
            options[name] = text
    return options
