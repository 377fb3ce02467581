"""How strong a policy is: mirrored games against baselines, win shares with 95 % intervals.

A table is one deal (and in a game without chance one random opening) played once from every seat by the policy, so
that neither the deal nor the seat favours anybody. Intervals are clustered by table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tabletop_envs.agents.base import Opponent, policy_name
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.intervals import interval
from tabletop_envs.core.position import check_key
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.vector import Batch, Seating, draw_opening
from tabletop_envs.errors import OptionError


@dataclass(frozen=True)
class Evaluation:
    """The result of one policy against one opponent.

    win_share: mean share of the win (1/k for each of k winners); low, high: its 95 % interval; mean_place: 1 is
    the best; mean_margin: own points minus the mean of the others'; games = tables * players.
    """

    policy: str
    opponent: str
    games: int
    win_share: float
    low: float
    high: float
    mean_place: float
    mean_margin: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def evaluate(
    game: Game,
    settings: Settings,
    policy: Opponent,
    opponent: Opponent,
    games: int = 400,
    seed: int = 0,
) -> Evaluation:
    """Play `policy` against a table of `opponent`s, from every seat of every deal.

    games: how many, rounded up to whole tables; seed: of deals, openings and built-in policies, 0 to 2^53 - 1.
    Raises OptionError for no games at all.
    """
    if not is_whole(games, 1):
        raise OptionError(f"games={games!r} is not possible: give a whole number, at least 1")
    seed = check_key(seed)
    players = settings.num_players
    tables = -(-int(games) // players)
    batch = Batch(game, tables * players, players, **settings.values)
    seating = Seating(batch)
    keys = np.repeat([derive_key(seed, OPPONENTS, table) for table in range(tables)], players)
    seats = np.tile(np.arange(players), tables)
    for row in range(batch.num_envs):
        seating.salts[row] = derive_key(int(keys[row]), OPPONENTS, row)
        for seat in range(players):
            seating.assign(row, seat, policy if seat == seats[row] else opponent)
    batch.deal(batch.rows, keys)
    draw_opening(batch, keys)
    seating.answer(batch.rows)
    points, places = batch.score(batch.rows)
    own = points[batch.rows, seats].astype(float)
    others = (points.sum(axis=1) - own) / (players - 1)
    winners = (places == 1).sum(axis=1)
    shares = (places[batch.rows, seats] == 1) / winners
    low, high = interval(shares.reshape(tables, players))
    return Evaluation(
        policy_name(policy),
        policy_name(opponent),
        batch.num_envs,
        float(shares.mean()),
        low,
        high,
        float(places[batch.rows, seats].mean()),
        float((own - others).mean()),
    )
