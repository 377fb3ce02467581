"""The shipped PPO policies, and exported ones: small files of weights, run by `core/forward.py` without torch.

A file is a numpy archive: the arrays of `core.forward.Network`, weights in float16, and `about`, a JSON text that
tells which game, layouts and number of players the policy was trained for, and how. `training/export.py` writes it.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from tabletop_envs.agents.base import View
from tabletop_envs.core.forward import NO_ENTITY, TAPS, Network, best, logits
from tabletop_envs.core.game import Game
from tabletop_envs.core.layout import SIDES
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import CorruptDataError, OptionError, UnknownAgentError

FORMAT: Final = 3
SUFFIX: Final = ".policy.npz"
INDICES: Final = ("board", "inputs", "entities", "outputs", "links")  # arrays of int32; the others are weights

_FOLDER: Final = files("tabletop_envs") / "baselines"
_ABOUT: Final = {"format": int, "game": str, "layouts": str, "num_players": int, "append_mask": bool}


class CompiledPolicy:
    """A batch policy that takes the likeliest action. See `BatchPolicy`.

    path: of an exported file. Raises CorruptDataError for a file that cannot be read, OptionError for one of another
    game or of other layouts.
    """

    def __init__(self, game: Game, path: Path, name: str) -> None:
        self.game = game
        self.name = name
        self.about, self._network = load(path)
        if self.about["game"] != game.spec.env_id or self.about["layouts"] != layouts(game):
            raise OptionError(
                f"{path} is a policy for {self.about['game']} with layouts {self.about['layouts']}, not for "
                f"{game.spec.env_id} with {layouts(game)}: give one that was exported for it"
            )

    @property
    def num_players(self) -> int:
        """How many seats it was trained with."""
        return int(self.about["num_players"])

    def check_table(self, settings: Settings) -> None:
        """Raises OptionError for options that change observations or actions from those of the training."""
        size = self.game.observation_size(settings)
        self._demand_inputs(size + self.game.num_actions(settings) if self.about["append_mask"] else size)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Legal actions, (n,) int64; raises OptionError for observations of another size."""
        actions = np.zeros(len(observations), dtype=np.int64)
        best(self.logits(observations, action_masks), np.ascontiguousarray(action_masks, dtype=np.int8), actions)
        return actions

    def logits(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """What the network gives each action, legal or not, (n, actions) float32."""
        parts = (observations, action_masks) if self.about["append_mask"] else (observations,)
        rows = np.ascontiguousarray(np.concatenate(parts, axis=1, dtype=np.float32))
        self._demand_inputs(rows.shape[1])
        outs = np.empty((len(rows), len(self._network.outputs)), dtype=np.float32)
        logits(self._network, rows, outs)
        return outs

    def _demand_inputs(self, number: int) -> None:
        if number != len(self._network.inputs):
            raise OptionError(
                f"{self.name!r} was trained on {len(self._network.inputs)} inputs, not {number}: play with the "
                f"options of its training, {self.about.get('options', {})}"
            )


class PpoAgent:
    """The policy for the number of players of the table; the file of a name with a path is for any number.

    argument: the path of an exported policy, or None for the shipped ones. The policy draws nothing: it plays the
    same whatever the seed.

    Raises UnknownAgentError where there is no such policy.
    """

    name = "ppo"

    def __init__(self, game: Game, argument: str | None = None, seed: int | None = None) -> None:
        self.game = game
        if argument is not None:
            path = Path(argument)
            if not path.is_file():
                raise UnknownAgentError(f"there is no exported policy {argument}: give the path of one")
            policy = CompiledPolicy(game, path, self.name)
            self._policies = dict.fromkeys(range(game.spec.min_players, game.spec.max_players + 1), policy)
            return
        found = shipped(game)
        if not found:
            raise UnknownAgentError(
                f"no PPO policy is shipped for {game.spec.id}: train one, `tabletop-envs train {game.spec.id}`, and "
                "name its folder"
            )
        self._policies = {players: CompiledPolicy(game, path, self.name) for players, path in found.items()}

    def check_table(self, settings: Settings) -> None:
        """Raises OptionError for a number of players or options that no policy is there for."""
        self._policy(settings.num_players).check_table(settings)

    def choose(self, view: View) -> int:
        """The likeliest action; raises OptionError as `check_table` does."""
        return int(self._policy(view.num_players).act(view.observation[None], view.action_mask[None])[0])

    def _policy(self, num_players: int) -> CompiledPolicy:
        policy = self._policies.get(num_players)
        if policy is None:
            known = " or ".join(map(str, sorted(self._policies)))
            raise OptionError(
                f"the policies that come with {self.game.spec.id} play with {known} players, not {num_players}: choose "
                f"such a number, or train one, `tabletop-envs train {self.game.spec.id} -p {num_players}`"
            )
        return policy


def layouts(game: Game) -> str:
    """A digest of the game's layouts: what every input and output means."""
    return f"{game.observations.digest()}-{game.actions.digest()}"


def shipped(game: Game) -> dict[int, Path]:
    """Number of players -> the file of the policy that comes with the package."""
    counts = range(game.spec.min_players, game.spec.max_players + 1)
    paths = {count: Path(str(_FOLDER)) / f"{game.spec.name}-{count}p{SUFFIX}" for count in counts}
    return {count: path for count, path in paths.items() if path.is_file()}


def load(path: Path) -> tuple[dict[str, Any], Network]:
    """What a file says of itself, and its network; raises CorruptDataError for what cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = json.loads(str(archive["about"]))
            for name, kind in _ABOUT.items():
                if type(about[name]) is not kind:
                    raise ValueError(f"{name} is {about[name]!r}")
            if about["format"] != FORMAT:
                raise ValueError(f"its format is {about['format']}, not {FORMAT}")
            arrays = {name: archive[name] for name in Network._fields}
        network = Network(**{name: typed(name, array) for name, array in arrays.items()})
        _demand_fits(network)
    except Exception as error:
        raise CorruptDataError(
            f"{path} is no exported policy ({error!r}): export it anew, `tabletop-envs export RUN FILE`"
        ) from error
    return about, network


def typed(name: str, array: np.ndarray) -> np.ndarray:
    """A part of a `Network` in the form that compiled code takes."""
    return np.ascontiguousarray(array, dtype=np.int32 if name in INDICES else np.float32)


def _demand_fits(n: Network) -> None:
    """Compiled code trusts the shapes, and never looks at them again."""
    cells = int(n.board[0]) * int(n.board[1])
    width, channels, planes = len(n.flat_bias), len(n.first_bias), len(n.plane_bias)
    told = width + len(n.entity_bias)
    at_board = n.inputs[:, 0] >= 0
    flat = int((~at_board).sum())
    features, depth = len(n.entity_weight), len(n.later_bias)
    linked = channels if len(n.links) else 0
    shapes = {
        "board": (2,),
        "inputs": (len(n.inputs), 2),
        "entities": (len(n.inputs), 2),
        "outputs": (planes * cells + len(n.out_bias),),
        "flat_weight": (flat, width),
        "first_weight": (n.first_weight.shape[0], TAPS, channels),
        "entity_weight": (features, told - width),
        "spread_weight": (told, channels),
        "spread_bias": (channels,),
        "links": (len(n.links), len(n.first_weight)),
        "gate_weight": (told, linked * SIDES),
        "gate_bias": (linked * SIDES,),
        "join_weight": (linked * SIDES, linked),
        "join_spread_weight": (told, linked),
        "join_spread_bias": (linked,),
        "blend_weight": (linked, linked),
        "blend_bias": (linked,),
        "later_weight": (depth, TAPS, channels, channels),
        "later_bias": (depth, channels),
        "mix_weight": (told + 2 * channels, width),
        "mix_bias": (width,),
        "last_weight": (0 if cells else width, width),
        "last_bias": (width,),
        "plane_weight": (channels, planes),
        "plane_spread_weight": (width, planes),
        "plane_spread_bias": (planes,),
        "out_weight": (width, len(n.out_bias)),
    }
    for name, shape in shapes.items():
        if getattr(n, name).shape != shape:
            raise ValueError(f"{name} is of shape {getattr(n, name).shape}, not {shape}")
    if len(n.links) not in (0, SIDES):
        raise ValueError(f"cells are linked by {len(n.links)} sides")
    things = n.entities[n.entities[:, 0] != NO_ENTITY].tolist()
    count = len(things) // max(1, features)
    if sorted(things) != [[thing, k] for thing in range(count) for k in range(features)] or (features and not count):
        raise ValueError("the inputs of the entities are not numbered")
    if sorted(n.outputs.tolist()) != list(range(len(n.outputs))):
        raise ValueError("outputs are not the actions, each once")
    if sorted(n.inputs[~at_board, 1].tolist()) != list(range(flat)) or (n.inputs[~at_board, 0] != -1).any():
        raise ValueError("the flat inputs are not numbered")
    places = {tuple(place) for place in n.inputs[at_board].tolist()}
    if len(places) < at_board.sum() or places != {(p, c) for p in range(len(n.first_weight)) for c in range(cells)}:
        raise ValueError("the other inputs are not the planes' cells, each once")
    if not all(np.isfinite(array).all() for array in n):
        raise ValueError("a weight is not a number")
