"""The policy of a training run as a small file that plays without torch; see `agents/ppo.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_envs.agents.ppo import FORMAT, layouts, typed
from tabletop_envs.core.forward import FLAT, NO_ENTITY, TAPS, Network
from tabletop_envs.core.layout import SIDES
from tabletop_envs.errors import OptionError
from tabletop_envs.files import replace_file
from tabletop_envs.training.network import ENTITY_WIDTH, ActionHead, LayoutPolicy, LayoutTrunk
from tabletop_envs.training.run import TrainingRun


def export(run: TrainingRun, path: Path) -> None:
    """Write the policy of the run's last checkpoint, rounded to float16.

    Raises CorruptDataError when there is none, OptionError for a policy of another network.
    """
    policy = run.policy().policy
    if not isinstance(policy, LayoutPolicy):
        raise OptionError(f"the policy of {run.folder} is no LayoutPolicy: only that network can be exported")
    about = {
        "format": FORMAT,
        "game": run.game.spec.env_id,
        "layouts": layouts(run.game),
        "num_players": run.settings.num_players,
        "options": run.settings.changed(),
        "append_mask": run.config.append_mask,
        "steps": run.state["steps"],
        "seconds": run.state["seconds"],
        "seed": run.config.seed,
    }
    arrays = network_of(policy)._asdict()
    rounded = {name: a.astype(np.float16) if a.dtype == np.float32 else a for name, a in arrays.items()}

    def write(draft: Path) -> None:
        with draft.open("wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), **rounded)

    replace_file(path, write)


def network_of(policy: LayoutPolicy) -> Network:
    """The weights of the policy's actor, laid out for compiled code."""
    trunk, head = policy.features_extractor, policy.action_net
    assert isinstance(trunk, LayoutTrunk)
    assert isinstance(head, ActionHead)
    shape, width = trunk.shape, trunk.width
    planes, flat_outputs = len(shape.output_planes), len(shape.output_flat)
    rows, columns = shape.board or (0, 0)
    channels = trunk.channels if shape.board else 0
    size = sum(map(len, shape.input_planes)) + len(shape.input_flat)
    inputs = np.zeros((size, 2), dtype=np.int32)
    for plane, indices in enumerate(shape.input_planes):
        inputs[list(indices)] = [(plane, cell) for cell in range(len(indices))]
    inputs[list(shape.input_flat)] = [(FLAT, number) for number in range(len(shape.input_flat))]
    entities = np.tile(np.array((NO_ENTITY, 0), dtype=np.int32), (size, 1))
    for entity, indices in enumerate(shape.entities):
        entities[list(indices)] = [(entity, number) for number in range(len(indices))]
    nothing = np.zeros
    told = width + (ENTITY_WIDTH if shape.entities else 0)
    linked = channels if shape.links else 0
    parts: dict[str, Any] = {
        "board": np.array((rows, columns), dtype=np.int32),
        "inputs": inputs,
        "entities": entities,
        "outputs": np.array(
            [i for plane in shape.output_planes for i in plane] + list(shape.output_flat), dtype=np.int32
        ),
        "first_weight": nothing((0, TAPS, channels)),
        "first_bias": nothing(channels),
        "entity_weight": nothing((0, told - width)),
        "entity_bias": nothing(told - width),
        "spread_weight": nothing((told, channels)),
        "spread_bias": nothing(channels),
        "links": nothing((len(shape.links), len(shape.input_planes))),
        "gate_weight": nothing((told, linked * SIDES)),
        "gate_bias": nothing(linked * SIDES),
        "join_weight": nothing((linked * SIDES, linked)),
        "join_spread_weight": nothing((told, linked)),
        "join_spread_bias": nothing(linked),
        "blend_weight": nothing((linked, linked)),
        "blend_bias": nothing(linked),
        "later_weight": nothing((0, TAPS, channels, channels)),
        "later_bias": nothing((0, channels)),
        "last_weight": nothing((0, width)),
        "last_bias": nothing(width),
        "plane_weight": nothing((channels, planes)),
        "plane_bias": nothing(planes),
        "plane_spread_weight": nothing((width, planes)),
        "plane_spread_bias": nothing(planes),
        "out_weight": nothing((width, flat_outputs)),
        "out_bias": nothing(flat_outputs),
    }
    for side, opening in enumerate(shape.links):
        parts["links"][side, list(opening)] = 1
    _put_linear(parts, "flat", trunk.flat_net[0])
    scale = _array(trunk.scale)
    parts["flat_weight"] = parts["flat_weight"] * scale[list(shape.input_flat), None]
    _put_linear(parts, "mix", trunk.mix[0])
    if trunk.entity_net is not None:
        _put_linear(parts, "entity", trunk.entity_net)
        # a factor is the same for all entities, or their layer could not have taken it in
        parts["entity_weight"] = parts["entity_weight"] * scale[list(shape.entities[0]), None]
    if shape.board:
        _put_linear(parts, "spread", trunk.spread)
        # (to, from, row, column) -> (from, tap, to)
        first = _array(trunk.first.weight).transpose(1, 2, 3, 0).reshape(-1, TAPS, channels)
        parts["first_weight"] = first * scale[[plane[0] for plane in shape.input_planes], None, None]
        parts["first_bias"] = _array(trunk.first.bias)
        if trunk.join is not None:
            _put_linear(parts, "gate", trunk.gate)
            parts["join_weight"] = _array(trunk.join.weight).T
            _put_linear(parts, "join_spread", trunk.join_spread)
            _put_linear(parts, "blend", trunk.blend)
        if len(trunk.convolutions):
            _put_convolutions(parts, "later", trunk.convolutions)
    else:
        _put_linear(parts, "last", trunk.mix[2])
    if head.planes is not None and head.spread is not None:
        _put_linear(parts, "plane", head.planes)
        _put_linear(parts, "plane_spread", head.spread)
    if head.flat is not None:
        _put_linear(parts, "out", head.flat)
    return Network(**{name: typed(name, part) for name, part in parts.items()})


def _array(tensor: Any) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().numpy()
    return array


def _put_convolutions(parts: dict[str, Any], name: str, layers: Any) -> None:
    weights = np.stack([_array(layer.weight) for layer in layers])
    # (layer, to, from, row, column) -> (layer, tap, from, to)
    ordered = weights.transpose(0, 3, 4, 2, 1)
    parts[f"{name}_weight"] = ordered.reshape(len(weights), TAPS, *ordered.shape[3:])
    parts[f"{name}_bias"] = np.stack([_array(layer.bias) for layer in layers])


def _put_linear(parts: dict[str, Any], name: str, layer: Any) -> None:
    parts[f"{name}_weight"] = _array(layer.weight).T
    parts[f"{name}_bias"] = _array(layer.bias)
