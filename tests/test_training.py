"""Networks from layouts, policies, evaluation, and runs that are stopped, killed, damaged and resumed."""

from __future__ import annotations

import csv
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

from tabletop_envs import registry
from tabletop_envs.agents.sb3 import TorchPolicy
from tabletop_envs.core.game import Game
from tabletop_envs.core.intervals import interval
from tabletop_envs.core.layout import ActionLayout, Block, ObservationLayout
from tabletop_envs.core.random import derive_key
from tabletop_envs.envs.sb3 import SelfPlayVecEnv
from tabletop_envs.envs.vector import Batch, Seating
from tabletop_envs.errors import CorruptDataError, GameDefinitionError, OptionError, UnknownGameError
from tabletop_envs.files import draft_of
from tabletop_envs.training import evaluation, network, run
from tabletop_envs.training.evaluation import Evaluation, evaluate
from tabletop_envs.training.learner import Learner
from tabletop_envs.training.network import LayoutPolicy, NetworkShape
from tabletop_envs.training.run import RunConfig, TrainingRun, load_config, load_model, load_policy

torch.set_num_threads(1)

TESTS = Path(__file__).parent
PATIENCE = 120.0  # seconds that another process may take for anything


# --- networks from layouts --------------------------------------------------------------------------------------


def layouts(name: str) -> tuple[ObservationLayout, ActionLayout]:
    """The layouts of a registered game, without compiling it."""
    package = registry.spec(name).package
    view, actions = (importlib.import_module(f"{package}.{part}") for part in ("view", "actions"))
    return view.OBSERVATIONS, actions.ACTIONS


def named(observations: ObservationLayout, actions: ActionLayout, on: bool) -> dict[str, bool]:
    """All options with which blocks exist, on or off."""
    return {block.option: on for block in (*observations.blocks, *actions.blocks) if block.option}


OURS = [name for name, spec in registry.games().items() if spec.package.startswith("tabletop_envs.")]
BOARD = (3, 4)
CELLS = BOARD[0] * BOARD[1]
# Flat blocks before, between and behind the boards, so that nothing stands where it would by accident.
SEES = ObservationLayout(
    Block("flat", (3,), ""),
    Block("planes", (2, *BOARD), "", board=BOARD),
    Block("other", (), ""),
    Block("small", (2, 2), "", board=(2, 2)),
    Block("single", BOARD, "", board=BOARD),
    Block("extra", (2, *BOARD), "", board=BOARD, option="more"),
)
DOES = ActionLayout(
    Block("before", (), ""),
    Block("place", (2, *BOARD), "", board=BOARD),
    Block("between", (2,), ""),
    Block("corner", (2, 2), "", board=(2, 2)),
    Block("move", BOARD, "", board=BOARD),
    Block("bonus", (2,), "", option="more"),
    Block("jump", BOARD, "", board=BOARD, option="more"),
)


@pytest.mark.parametrize("append_mask", [False, True])
@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize("name", [*OURS, "hand-made"])
def test_every_index_has_its_place(name: str, on: bool, append_mask: bool) -> None:
    observations, actions = (SEES, DOES) if name == "hand-made" else layouts(name)
    options = named(observations, actions, on)
    shape = NetworkShape.of(observations, actions, options, append_mask)
    size = observations.size(options)
    inputs = [index for plane in shape.input_planes for index in plane] + list(shape.input_flat)
    outputs = [index for plane in shape.output_planes for index in plane] + list(shape.output_flat)
    assert sorted(inputs) == list(range(size + append_mask * actions.size(options)))
    assert sorted(outputs) == list(range(actions.size(options)))
    blocks = [block for block in observations.present(options) if block.board]
    assert (shape.board is None) == (
        not blocks and not (append_mask and any(b.board for b in actions.present(options)))
    )
    if shape.board is None:
        return
    cells = shape.board[0] * shape.board[1]
    for plane in (*shape.input_planes, *shape.output_planes):
        assert list(plane) == list(range(plane[0], plane[0] + cells))  # whole and in row-major order
    # a plane's first cell, told by the layouts' own decoders
    seen = np.arange(size, dtype=np.float32)
    firsts = [
        int(block)
        for name, part in observations.decode(seen, options).items()
        if observations.block(name).board == shape.board
        for block in part.reshape(-1, cells)[:, 0]
    ]
    acted = [
        actions.start(block.name) + cells * number
        for block in actions.present(options)
        if block.board == shape.board
        for number in range(block.planes)
    ]
    assert [plane[0] for plane in shape.output_planes] == acted
    assert [plane[0] for plane in shape.input_planes] == firsts + [size + first for first in acted] * append_mask


def test_urbino_is_a_board() -> None:
    observations, actions = layouts("urbino")
    few = NetworkShape.of(observations, actions, {"build_planes": False})
    many = NetworkShape.of(observations, actions, {"build_planes": True}, append_mask=True)
    assert few.board == many.board == (9, 9)
    assert (len(few.input_planes), len(few.output_planes), len(few.output_flat)) == (8, 5, 3)
    assert len(many.input_planes) == 8 + 7 + 5
    assert few.input_flat == many.input_flat[: len(few.input_flat)]


def test_the_larger_board_is_the_board() -> None:
    assert NetworkShape.of(SEES, DOES, {"more": False}).board == BOARD
    assert len(NetworkShape.of(SEES, DOES, {"more": False}).input_planes) == 3
    assert len(NetworkShape.of(SEES, DOES, {"more": True}).input_planes) == 5
    small = ObservationLayout(*SEES.blocks[:1], SEES.blocks[3])
    assert NetworkShape.of(small, DOES, {"more": False}).board == (2, 2)
    assert NetworkShape.of(small, DOES, {"more": False}, append_mask=True).board == BOARD
    flat = ObservationLayout(SEES.blocks[0])
    assert NetworkShape.of(flat, DOES, {"more": False}).board is None
    assert NetworkShape.of(flat, DOES, {"more": False}).output_flat == tuple(range(DOES.size({"more": False})))


def test_without_boards_all_is_flat(toy: Game) -> None:
    shape = NetworkShape.of(toy.observations, toy.actions, {"memory": True, "leave": False}, append_mask=True)
    assert shape == NetworkShape(None, (), tuple(range(39 + 9)), (), tuple(range(9)))


def policy_of(
    observations: ObservationLayout,
    actions: ActionLayout,
    options: dict[str, Any],
    append_mask: bool = False,
    seed: int = 0,
    **sizes: int,
) -> LayoutPolicy:
    import gymnasium

    torch.manual_seed(seed)
    shape = NetworkShape.of(observations, actions, options, append_mask)
    size = observations.size(options) + append_mask * actions.size(options)
    space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)
    sizes = {"channels": 4, "depth": 1, "width": 8, **sizes}
    return LayoutPolicy(
        space, actions.space(options), lambda _: 1e-3, features_extractor_kwargs={"shape": shape, **sizes}
    )


def parts(name: str) -> tuple[ObservationLayout, ActionLayout, dict[str, Any]]:
    if name == "flat":
        return ObservationLayout(Block("facts", (5,), "")), ActionLayout(Block("choose", (4,), "")), {}
    if name == "only boards":
        planes = ObservationLayout(Block("planes", (2, *BOARD), "", board=BOARD))
        return planes, ActionLayout(Block("place", BOARD, "", board=BOARD)), {}
    if name == "hand-made":
        return SEES, DOES, {"more": True}
    observations, actions = layouts(name)
    return observations, actions, named(observations, actions, True)


KINDS = [*OURS, "hand-made", "flat", "only boards"]


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("append_mask", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_a_policy_agrees_with_itself(name: str, append_mask: bool) -> None:
    policy = policy_of(*parts(name), append_mask, depth=2)
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for weights in policy.parameters():
            weights += 0.1 * torch.randn_like(weights)
    size = policy.observation_space.shape[0]
    # thinly occupied, or the sums of large groups let all but one probability vanish
    observations = torch.as_tensor(rng.random((6, size)) * (rng.random((6, size)) < 0.1), dtype=torch.float32)
    masks = rng.random((6, policy.action_space.n)) < 0.5
    masks[:, 0] = True
    policy.set_training_mode(False)
    actions, values, log_probs = policy(observations, action_masks=masks)
    again, same_log_probs, entropy = policy.evaluate_actions(observations, actions, action_masks=masks)
    assert masks[np.arange(6), actions.numpy()].all()
    assert torch.equal(values, again)
    assert torch.equal(values, policy.predict_values(observations))
    torch.testing.assert_close(log_probs, same_log_probs)
    distribution = policy.get_distribution(observations, masks)
    probs = distribution.distribution.probs.detach().numpy()
    assert (probs[~masks] == 0).all()
    assert (probs[masks] > 0).all()
    torch.testing.assert_close(distribution.log_prob(actions), log_probs)
    torch.testing.assert_close(distribution.entropy(), entropy)
    one_by_one = torch.cat([policy.get_distribution(row[None]).distribution.logits for row in observations])
    torch.testing.assert_close(policy.get_distribution(observations).distribution.logits, one_by_one)
    assert np.array_equal(
        policy.predict(observations.numpy(), deterministic=True, action_masks=masks)[0], probs.argmax(axis=1)
    )


@pytest.mark.parametrize("name", [*OURS, "hand-made", "flat"])
def test_every_weight_learns(name: str) -> None:
    policy = policy_of(*parts(name), append_mask=True)
    torch.manual_seed(1)
    with torch.no_grad():
        for weights in policy.parameters():
            weights += 0.1 * torch.rand_like(weights)
    size = (16, policy.observation_space.shape[0])
    observations = torch.rand(size) * (torch.rand(size) < 0.1)  # thinly occupied, or large groups outweigh all else
    values, log_probs, entropy = policy.evaluate_actions(observations, torch.arange(16) % policy.action_space.n)
    (values.sum() + log_probs.sum() + entropy.sum()).backward()  # type: ignore[no-untyped-call]
    for key, weights in policy.named_parameters():
        assert weights.grad is not None, key
        assert weights.grad.abs().sum() > 0, key
    held = {id(weights) for group in policy.optimizer.param_groups for weights in group["params"]}
    assert held == {id(weights) for weights in policy.parameters()}


LINKED = ObservationLayout(
    Block("waste", (1, 3, 5), "", board=(3, 5)),
    Block("roads", (4, 3, 5), "", board=(3, 5), links=((0,), (1,), (2,), (3,))),
    Block("weather", (2,), ""),
    Block("guests", (3, 2), "", entities=True),
    Block("rooms", (3,), "", entities=True),
    Block("houses", (2, 3, 5), "", board=(3, 5), links=((0, 1), (1,), (0, 1), (1,))),
)


def test_links_are_planes_of_the_network() -> None:
    shape = NetworkShape.of(LINKED, DOES, {"more": False})
    assert shape.links == ((1, 5, 6), (2, 6), (3, 5, 6), (4, 6))
    assert NetworkShape.of(ObservationLayout(LINKED.blocks[0]), DOES, {"more": False}).links == ()
    assert NetworkShape.of(*layouts("umbra_via"), {}).links == ((1,), (2,), (3,), (4,))
    assert NetworkShape.of(*layouts("urbino"), {"build_planes": False}).links == ((0, 1, 2, 3, 4, 5),) * 4


def test_entities_are_rows_of_the_network() -> None:
    shape = NetworkShape.of(LINKED, DOES, {"more": False})
    guests, rooms = LINKED.start("guests"), LINKED.start("rooms")
    assert shape.entities == tuple((guests + 2 * i, guests + 2 * i + 1, rooms + i) for i in range(3))
    assert {index for entity in shape.entities for index in entity} < set(shape.input_flat)
    # the mask of actions on them is one more fact of each
    acts = ActionLayout(Block("wait", (), ""), Block("greet", (3,), "", entities=True))
    masked = NetworkShape.of(LINKED, acts, {}, append_mask=True)
    size = LINKED.size({})
    assert masked.entities == tuple((*entity, size + 1 + i) for i, entity in enumerate(shape.entities))
    assert NetworkShape.of(LINKED, acts, {}).entities == shape.entities
    other = ActionLayout(Block("greet", (4,), "", entities=True))
    with pytest.raises(GameDefinitionError, match="the entities of 'guests' and 'rooms' and 'greet' are not"):
        NetworkShape.of(LINKED, other, {}, append_mask=True)
    observations, actions = layouts("umbra_via")
    slots = NetworkShape.of(observations, actions, {}, append_mask=True).entities
    assert len(slots) == 4
    assert slots[1][:2] == (160 + 21, 160 + 22)
    assert slots[1][-3:] == (244 + 2, 244 + 3, 319 + 1)


def test_entities_are_alike() -> None:
    """Where they stand, tells the flat part alone."""
    policy = policy_of(LINKED, DOES, {"more": False})
    trunk = policy.features_extractor
    with torch.no_grad():
        for weights in trunk.flat_net.parameters():
            weights.zero_()
    things = list(trunk.shape.entities)
    observation = torch.rand(1, LINKED.size({}))
    turned = observation.clone()
    turned[:, torch.tensor(things[1:] + things[:1])] = observation[:, torch.tensor(things)]
    assert not torch.equal(turned, observation)
    torch.testing.assert_close(trunk(turned), trunk(observation))
    turned[:, things[1][0]] += 1
    assert not torch.allclose(trunk(turned), trunk(observation))


def groups_of(board: tuple[int, int], open_to: np.ndarray) -> dict[int, set[int]]:
    """Cell -> the cells of its group, found by joining sets until nothing changes; open_to: (cells, sides)."""
    rows, columns = board
    groups = {cell: {cell} for cell in range(rows * columns) if open_to[cell].any()}
    for _ in groups:
        for cell in groups:
            row, column = divmod(cell, columns)
            for side, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                other = (row + down) * columns + column + right
                inside = 0 <= row + down < rows and 0 <= column + right < columns
                if inside and open_to[cell, side] and open_to[other, (side + 2) % 4]:
                    groups[cell] = groups[other] = groups[cell] | groups[other]
    return groups


def test_cells_meet_the_sums_of_groups() -> None:
    policy = policy_of(LINKED, DOES, {"more": False}, channels=3)
    trunk = policy.features_extractor
    rng = np.random.default_rng(1)
    observations = (rng.random((50, LINKED.size({}))) < 0.35).astype(np.float32)
    features = rng.random((50, 3, 3, 5)).astype(np.float32)
    images = observations[:, np.array(trunk.shape.input_planes)].reshape(50, -1, 3, 5)
    labels, met = trunk._groups(torch.as_tensor(images))
    sums = network._add_up(torch.as_tensor(features).flatten(2), labels, met).numpy().reshape(50, 3, 4, 15)
    sizes, open_ends = [], 0
    for row, observation in enumerate(observations):
        planes = observation[np.array(trunk.shape.input_planes)] > 0
        open_to = np.stack([planes[list(side)].any(0) for side in trunk.shape.links], axis=1)
        groups = groups_of((3, 5), open_to)
        sizes += [len(group) for group in groups.values()]
        for cell in range(15):
            group = groups.get(cell, set())
            assert labels[row, cell] == min(group, default=15)
            y, x = divmod(cell, 5)
            for side, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                inside = 0 <= y + down < 3 and 0 <= x + right < 5
                other = (y + down) * 5 + x + right
                opens = inside and open_to[other, (side + 2) % 4]
                group = groups[other] if opens else set()
                assert met[row, side, cell] == min(group, default=15)
                open_ends += bool(opens and not open_to[cell].any())
                expected = sum((features[row].reshape(3, 15)[:, one] for one in group), np.zeros(3))
                np.testing.assert_allclose(sums[row, :, side, cell], expected, rtol=1e-5)
    assert {1, 2, 3, 4, 5} < set(sizes)
    assert open_ends > 50


def test_small_inputs_are_brought_to_a_like_size() -> None:
    policy = policy_of(LINKED, DOES, {"more": False})
    trunk = policy.features_extractor
    size = LINKED.size({})
    assert trunk.scale.tolist() == [1.0] * size
    sizes = np.geomspace(1e-3, 2, size)
    sizes[3] = 0  # of a plane
    sizes[LINKED.start("weather")] = 0
    sizes[LINKED.start("guests")] = 0  # of one of the entities
    observations = sizes * np.random.default_rng(0).choice([-1, 1], (20, size))
    trunk.set_scale(observations)
    scale = trunk.scale.numpy()
    assert set(scale) <= {1.0, 2.0, 4.0, 8.0, 16.0}
    assert scale[LINKED.start("weather")] == 1
    entities = {index for entity in trunk.shape.entities for index in entity}
    alone = [(index,) for index in trunk.shape.input_flat if index not in entities]
    for indices in [*trunk.shape.input_planes, *zip(*trunk.shape.entities, strict=True), *alone]:
        met = np.sqrt((sizes[list(indices)] ** 2).sum() / max(1, np.count_nonzero(sizes[list(indices)])))
        assert len(set(scale[list(indices)])) == 1
        if 0 < met < 1:
            assert scale[indices[0]] == 16 or 0.7 < scale[indices[0]] * met < 1.42
    # a copy of the weights has the factors
    twin = policy_of(LINKED, DOES, {"more": False}, seed=5)
    twin.load_state_dict(policy.state_dict())
    inputs = torch.rand(4, size)
    assert torch.equal(twin.extract_features(inputs), policy.extract_features(inputs))


def with_boards() -> list[str]:
    """Our games in which both observations and actions have blocks over a board."""
    return [name for name in OURS if all(any(block.board for block in layout.blocks) for layout in layouts(name))]


@pytest.mark.parametrize("name", [*with_boards(), "hand-made"])
def test_a_cell_lights_its_own_actions(name: str) -> None:
    """Weights by hand: plane p of the input reaches channel p of the same cell alone, every output reads them."""
    observations, actions, options = parts(name)
    shape = NetworkShape.of(observations, actions, options)
    assert shape.board is not None
    cells, planes = shape.board[0] * shape.board[1], len(shape.input_planes)
    policy = policy_of(observations, actions, options, channels=planes)
    trunk, head = policy.features_extractor, policy.action_net
    with torch.no_grad():
        for weights in policy.parameters():
            weights.zero_()
        for plane in range(planes):
            trunk.first.weight[plane, plane, 1, 1] = 1.0
            for output in range(len(shape.output_planes)):
                head.planes.weight[output, plane] = 100.0 * (output + 1) + plane
    rng = np.random.default_rng(0)
    blocks = [block for block in observations.present(options) if block.board == shape.board]
    for plane, cell in {(int(rng.integers(planes)), int(rng.integers(cells))) for _ in range(12)}:
        # the input by the decoder of observations ...
        vector = np.zeros(observations.size(options), dtype=np.float32)
        stack = [
            image for block in blocks
            for image in observations.decode(vector, options)[block.name].reshape(-1, cells)
        ]  # fmt: skip
        stack[plane][cell] = 1.0
        assert vector.sum() == 1.0
        # ... and the output by the encoder of actions
        expected = np.zeros(actions.size(options), dtype=np.float32)
        output = 0
        for block in actions.present(options):
            if block.board != shape.board:
                continue
            for number in range(block.planes):
                place = np.unravel_index(number * cells + cell, block.shape)
                output += 1
                expected[actions.encode(block.name, *map(int, place))] = 100.0 * output + plane
        features = policy.extract_features(torch.as_tensor(vector[None]))
        assert policy.action_net(features)[0].tolist() == expected.tolist()
    # neighbours of a cell are neighbours on the board
    with torch.no_grad():
        trunk.first.weight[0, 0] = torch.tensor([[0.0, 2, 0], [3, 0, 5], [0, 7, 0]])
    centre = shape.board[1] + 1  # row 1, column 1
    vector = np.zeros(observations.size(options), dtype=np.float32)
    vector[shape.input_planes[0][centre]] = 1.0
    logits = policy.action_net(policy.extract_features(torch.as_tensor(vector[None])))[0].detach().numpy()
    lit = {cell: logits[shape.output_planes[0][cell]] / 100.0 for cell in range(cells)}
    wide = shape.board[1]
    # a convolution reads: the cell below sees the lit one above itself, and so on
    around = {centre + wide: 2.0, centre + 1: 3.0, centre - 1: 5.0, centre - wide: 7.0}
    assert {cell: value for cell, value in lit.items() if value} == around


@pytest.mark.parametrize("name", [*OURS, "hand-made", "flat"])
def test_flat_facts_light_flat_actions(name: str) -> None:
    observations, actions, options = parts(name)
    shape = NetworkShape.of(observations, actions, options)
    flat = len(shape.input_flat)
    policy = policy_of(observations, actions, options, width=flat)
    trunk, head = policy.features_extractor, policy.action_net
    with torch.no_grad():
        for weights in policy.parameters():
            weights.zero_()
        trunk.flat_net[0].weight.copy_(torch.eye(flat))
        for layer in trunk.mix:
            if isinstance(layer, torch.nn.Linear):
                layer.weight[:, :flat] = torch.eye(flat)
        for number in range(len(shape.output_flat)):
            head.flat.weight[number] = 100.0 * (number + 1) + torch.arange(flat)
    for number, index in enumerate(shape.input_flat):
        vector = torch.zeros(1, observations.size(options))
        vector[0, index] = 1.0
        logits = policy.action_net(policy.extract_features(vector))[0].tolist()
        expected = [0.0] * actions.size(options)
        for place, action in enumerate(shape.output_flat):
            expected[action] = 100.0 * (place + 1) + number
        assert logits == expected


# --- policies that answer batches -------------------------------------------------------------------------------


def learner_of(game: Game, env: SelfPlayVecEnv, seed: int = 0, **arguments: Any) -> Learner:
    shape = NetworkShape.of(game.observations, game.actions, env.batch.settings.values, env.append_mask)
    sizes = {"shape": shape, "channels": 4, "depth": 1, "width": 32}
    arguments = {"n_steps": 16, "batch_size": 64, "n_epochs": 4, "gamma": 1.0, **arguments}
    return Learner(
        LayoutPolicy, env, policy_kwargs={"features_extractor_kwargs": sizes}, seed=seed, device="cpu", **arguments
    )


@pytest.fixture
def model(toy: Game) -> MaskablePPO:
    """A little trained, so that its weights are no accident."""
    model = learner_of(toy, SelfPlayVecEnv(toy, 8, 3, append_mask=True, seed=0), learning_rate=0.01)
    model.learn(256)
    return model


@pytest.fixture
def asked(toy: Game) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of many positions."""
    env = SelfPlayVecEnv(toy, 200, 3, seed=1)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(3):
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in env.action_masks()]))
    seats = env.batch.states["seat"].astype(np.int64)
    return env.batch.observe(env.batch.rows, seats), env.batch.masks.copy()


def test_saved_and_loaded_it_acts_the_same(
    model: MaskablePPO, asked: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    policy = TorchPolicy(model.policy, "it", append_mask=True, deterministic=True)
    model.save(tmp_path / "model.zip", exclude=["lr_schedule"])
    loaded = load_model(tmp_path / "model.zip")
    again = TorchPolicy(loaded.policy, "it", append_mask=True, deterministic=True)
    assert loaded.num_timesteps == 256
    assert policy.act(*asked).tolist() == again.act(*asked).tolist()
    assert len(set(policy.act(*asked).tolist())) > 1
    for key, weights in policy.weights().items():
        assert torch.equal(weights, again.weights()[key]), key
    # and goes on learning, optimizer included
    env = SelfPlayVecEnv("toy", 8, 3, append_mask=True, seed=2)
    further = load_model(tmp_path / "model.zip", env, seed=5)
    assert further.policy.optimizer.state_dict()["state"]
    further.learn(128, reset_num_timesteps=False)
    assert further.num_timesteps == 256 + 128


def test_loading_leaves_the_generators_alone(model: MaskablePPO, tmp_path: Path) -> None:
    model.save(tmp_path / "model.zip", exclude=["lr_schedule"])
    np.random.seed(77)
    expected = np.random.random(3).tolist()
    np.random.seed(77)
    load_model(tmp_path / "model.zip")
    assert np.random.random(3).tolist() == expected


def test_a_frozen_policy_does_not_follow(model: MaskablePPO, asked: tuple[np.ndarray, np.ndarray]) -> None:
    latest = TorchPolicy(model.policy, "latest", append_mask=True, deterministic=True)
    frozen = latest.frozen("past")
    assert (frozen.name, frozen.append_mask, frozen.deterministic) == ("past", True, True)
    before = latest.act(*asked).tolist()
    assert frozen.act(*asked).tolist() == before
    assert not any(weights.requires_grad for weights in frozen.policy.parameters())
    assert all(weights.requires_grad for weights in model.policy.parameters())
    model.learn(128, reset_num_timesteps=False)
    with torch.no_grad():
        model.policy.action_net.flat.bias += torch.linspace(0, 5, 9)
    assert frozen.act(*asked).tolist() == before
    assert latest.act(*asked).tolist() != before
    assert TorchPolicy(model.policy, "it", append_mask=True, deterministic=True).act(*asked).tolist() == (
        latest.act(*asked).tolist()
    )


@pytest.mark.parametrize("deterministic", [False, True])
def test_answers_of_a_policy(model: MaskablePPO, asked: tuple[np.ndarray, np.ndarray], deterministic: bool) -> None:
    observations, masks = asked
    policy = TorchPolicy(model.policy, "it", append_mask=True, deterministic=deterministic)
    kept = observations.copy(), masks.copy()
    torch.manual_seed(0)
    actions = policy.act(observations, masks)
    assert actions.dtype == np.int64
    assert actions.shape == (200,)
    assert masks[np.arange(200), actions].all()
    assert np.array_equal(observations, kept[0])
    assert np.array_equal(masks, kept[1])
    torch.manual_seed(0)
    assert policy.act(observations, masks).tolist() == actions.tolist()
    assert (policy.act(observations, masks).tolist() == actions.tolist()) == deterministic
    assert policy.act(observations[:1], masks[:1]).shape == (1,)
    # each row is answered for itself
    singles = [int(policy.act(observations[row][None], masks[row][None])[0]) for row in range(50)]
    assert (singles == actions[:50].tolist()) == deterministic


def test_draws_of_its_own(model: MaskablePPO, asked: tuple[np.ndarray, np.ndarray]) -> None:
    def draws(seed: int | None) -> list[list[int]]:
        policy = TorchPolicy(model.policy, "it", append_mask=True, seed=seed)
        return [policy.act(*asked).tolist() for _ in range(3)]

    before = torch.get_rng_state()
    first = draws(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert draws(3) == first
    assert draws(4) != first
    assert first[0] != first[1]
    assert all(asked[1][np.arange(200), actions].all() for actions in first)
    # the draws follow the policy's probabilities
    observations, masks = np.repeat(asked[0][:1], 4000, axis=0), np.repeat(asked[1][:1], 4000, axis=0)
    actions = TorchPolicy(model.policy, "it", append_mask=True, seed=0).act(observations, masks)
    seen = np.concatenate([observations[:1], masks[:1]], axis=1, dtype=np.float32)
    probs = model.policy.get_distribution(torch.as_tensor(seen), masks[:1]).distribution.probs[0]
    for action, prob in enumerate(probs.tolist()):
        assert abs((actions == action).mean() - prob) <= 4 * (prob * (1 - prob) / 4000) ** 0.5


def test_a_policy_knows_whether_it_sees_the_mask(toy: Game, asked: tuple[np.ndarray, np.ndarray]) -> None:
    bare = learner_of(toy, SelfPlayVecEnv(toy, 2, 3, seed=0))
    assert TorchPolicy(bare.policy, "it", append_mask=False).act(*asked).shape == (200,)
    with pytest.raises(OptionError, match=r"'it' was trained on observations of shape \(35,\), not \(44,\)"):
        TorchPolicy(bare.policy, "it", append_mask=True).act(*asked)


def test_a_policy_as_opponent_and_as_learner(toy: Game, model: MaskablePPO) -> None:
    policy = TorchPolicy(model.policy, "past", append_mask=True, deterministic=True).frozen("past")
    env = SelfPlayVecEnv(toy, 4, 3, opponents=policy, append_mask=True, seed=0)
    again = load_again(model, env)
    again.learn(128)
    assert again.num_timesteps == 128
    infos = [info for info in again.ep_info_buffer]
    assert infos


def load_again(model: MaskablePPO, env: SelfPlayVecEnv) -> MaskablePPO:
    """The same network with another environment."""
    fresh = learner_of(env.game, env)
    fresh.policy.load_state_dict(model.policy.state_dict())
    return fresh


# --- learning ---------------------------------------------------------------------------------------------------


def test_the_two_move_game_is_learnt(two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 32, opponents="random", append_mask=True, seed=0)
    model = learner_of(two_moves, env, learning_rate=0.01)
    model.learn(4096)
    policy = TorchPolicy(model.policy, "it", append_mask=True, deterministic=True)
    last = np.array([[1, 0, 1, 0], [1, 0, 0, 1]], dtype=np.float32)  # seat 1, whatever seat 0 named
    assert policy.act(last, np.ones((2, 2), dtype=np.int8)).tolist() == [1, 1]
    result = evaluate(two_moves, two_moves.settings(), policy, "random", 400)
    assert result.win_share > 0.7  # best is 3/4: seat 1 always wins, seat 0 wins half of its games
    seen = torch.tensor([[0.0, 1, 0, 0, 1, 1], [1.0, 0, 0, 1, 1, 1]])
    values = model.policy.predict_values(seen).flatten().tolist()
    assert abs(values[0]) < 0.4
    assert values[1] > 0.7


def test_the_toy_game_is_learnt(toy: Game) -> None:
    env = SelfPlayVecEnv(
        toy, 32, opponents="random", append_mask=True, reward={"win": 0.5, "score": 0.5}, as_earned=True, seed=0
    )
    model = learner_of(toy, env, learning_rate=0.004, n_steps=32, batch_size=256)
    policy = TorchPolicy(model.policy, "it", append_mask=True, deterministic=True)
    model.learn(12 * 1024)
    result = evaluate(toy, toy.settings(), policy, "random", 400, seed=1)
    assert result.low > 0.55
    assert result.mean_margin > 0.5


# --- learning from the baseline ----------------------------------------------------------------------------------


def agreement(model: Learner, env: SelfPlayVecEnv) -> float:
    """How often the likeliest action is the baseline's own choice, in the learner's positions as they stand."""
    policy = TorchPolicy(model.policy, "it", append_mask=False, deterministic=True)
    rng = np.random.default_rng(0)
    agreed = []
    for _ in range(20):
        masks = env.action_masks()
        seen = env.play.observations(env.batch.rows)
        agreed.append((policy.act(seen, masks) == env.greedy_actions()).mean())
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
    return float(np.mean(agreed))


def test_greedy_actions_are_the_baselines(toy: Game) -> None:
    """A learner that makes them plays the games that the baseline plays against itself."""
    env = SelfPlayVecEnv(toy, 50, 3, opponents="greedy", seed=3)
    env.reset()
    batch = Batch(toy, 50, 3)
    seating = Seating(batch)
    batch.key = env.batch.key
    seating.salts[:] = env.play.seating.salts
    for row in range(50):
        for seat in range(3):
            seating.assign(row, seat, "greedy")
    batch.deal(batch.rows)
    seating.answer(batch.rows)
    points, _ = batch.score(batch.rows)
    ended: dict[int, list[int]] = {}
    while len(ended) < 50:
        actions = env.greedy_actions()
        assert env.action_masks()[env.batch.rows, actions].all()
        _, _, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones).tolist():
            ended.setdefault(row, infos[row]["points"])
    assert [ended[row] for row in range(50)] == points.tolist()


def test_imitation_learns_the_baseline(toy: Game) -> None:
    env = SelfPlayVecEnv(toy, 32, opponents="greedy", reward={"win": 0.5, "score": 0.5}, as_earned=True, seed=0)
    model = learner_of(toy, env, learning_rate=0.01, n_steps=32)
    env.reset()
    model.imitating = True
    before = {key: weights.clone() for key, weights in model.policy.named_parameters()}
    model.learn(10 * 1024)
    assert model._n_updates == 0  # no update of PPO's
    assert all(not torch.equal(weights, before[key]) for key, weights in model.policy.named_parameters())
    assert agreement(model, env) > 0.85
    assert evaluate(toy, toy.settings(), TorchPolicy(model.policy, "it", append_mask=False, deterministic=True),
                    "greedy", 400).low > 0.4  # fmt: skip


def test_imitation_values_what_is_paid(two_moves: Game) -> None:
    """Seat 1 always wins when it names itself, and so does the baseline: its value is near 1, and seat 0's near -1."""
    env = SelfPlayVecEnv(two_moves, 32, opponents="greedy", append_mask=True, seed=0)
    model = learner_of(two_moves, env, learning_rate=0.01, n_steps=32)
    model.imitating = True
    model.learn(4096)
    seen = torch.tensor([[0.0, 1, 0, 0, 1, 1], [1.0, 0, 1, 0, 1, 1]])
    values = model.policy.predict_values(seen).flatten().tolist()
    assert values[0] == pytest.approx(-1.0, abs=0.3)
    assert values[1] == pytest.approx(1.0, abs=0.3)


def test_after_imitation_ppo_goes_on(toy: Game, tmp_path: Path) -> None:
    env = SelfPlayVecEnv(toy, 8, opponents="greedy", append_mask=True, seed=0)
    model = learner_of(toy, env)
    model.imitating = True
    model.learn(256)
    model.save(tmp_path / "model.zip")
    loaded = MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu")  # a checkpoint as any other
    assert not hasattr(loaded, "imitating")
    weights = {key: value.clone() for key, value in loaded.policy.state_dict().items()}
    assert all(torch.equal(weights[key], value) for key, value in model.policy.state_dict().items())
    model.imitating = False
    model.learn(256, reset_num_timesteps=False)
    assert model._n_updates == 4 * (256 // 128)
    assert model.num_timesteps == 512


@pytest.mark.parametrize(("share", "updated"), [(0.0, True), (1.0, False)])
def test_the_share_of_imitation(toy: Game, tmp_path: Path, share: float, updated: bool) -> None:
    training = TrainingRun(tmp_path / "run", tiny(imitation=share))
    told: list[run.Progress] = []
    assert training.train(told.append)
    assert (load_model(tmp_path / "run" / "checkpoint.zip")._n_updates > 0) == updated
    # while it imitates it meets baselines alone
    assert ("latest" in told[-1].shares) == updated


# --- evaluation -------------------------------------------------------------------------------------------------


class Namer:
    """A policy of the two-move game: always names one seat."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.name = f"names {seat}"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return np.full(len(observations), self.seat)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What an evaluation did with its batch."""
    facts: dict[str, Any] = {"seats": {}}

    class Watched(Batch):
        def deal(self, rows: np.ndarray, keys: np.ndarray | None = None) -> None:
            super().deal(rows, keys)
            facts["batch"], facts["keys"] = self, self.states["key"].copy()
            facts["dealt"] = self.states.copy()

    class Seats(Seating):
        def assign(self, row: int, seat: int, policy: Any) -> None:
            super().assign(row, seat, policy)
            facts["seats"][row, seat] = policy

        def answer(self, rows: np.ndarray) -> None:
            facts["opened"] = self.batch.states.copy()
            facts["salts"] = self.salts.copy()
            super().answer(rows)

    monkeypatch.setattr(evaluation, "Batch", Watched)
    monkeypatch.setattr(evaluation, "Seating", Seats)
    return facts


@pytest.mark.parametrize(("players", "games", "played"), [(2, 40, 40), (3, 40, 42), (4, 1, 4)])
def test_tables_are_mirrored(toy: Game, seen: dict[str, Any], players: int, games: int, played: int) -> None:
    result = evaluate(toy, toy.settings(players, memory=True), "greedy", "random", games, seed=3)
    assert result.games == played
    assert (result.policy, result.opponent) == ("greedy", "random")
    keys = seen["keys"].reshape(-1, players)
    assert (keys == keys[:, :1]).all()
    assert len(set(keys[:, 0].tolist())) == played // players
    assert len(set(seen["salts"].tolist())) == played
    states = seen["batch"].states
    assert (states["over"] != 0).all()
    assert (states["memory"] == 1).all()
    for table in range(played // players):
        rows = range(table * players, (table + 1) * players)
        for seat in range(players):
            names = [seen["seats"][row, seat] for row in rows]
            assert sorted(names) == ["greedy"] + ["random"] * (players - 1)
        dealt = seen["dealt"][list(rows)]
        assert (dealt == dealt[:1]).all()
    # the figures, worked out once more
    own = [next(seat for seat in range(players) if seen["seats"][row, seat] == "greedy") for row in range(played)]
    positions = [seen["batch"].position(row) for row in range(played)]
    shares = [
        (position.places()[seat] == 1) / position.places().count(1)
        for position, seat in zip(positions, own, strict=True)
    ]
    assert result.win_share == pytest.approx(np.mean(shares))
    assert result.mean_place == pytest.approx(np.mean([p.places()[s] for p, s in zip(positions, own, strict=True)]))
    margins = [
        p.points()[s] - (sum(p.points()) - p.points()[s]) / (players - 1) for p, s in zip(positions, own, strict=True)
    ]
    assert result.mean_margin == pytest.approx(np.mean(margins))
    assert (result.low, result.high) == interval(np.array(shares, dtype=float).reshape(-1, players))
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()


def test_openings_are_the_tables(two_moves: Game, seen: dict[str, Any]) -> None:
    evaluate(two_moves, two_moves.settings(), Namer(0), "greedy", 200, seed=0)
    opened = seen["opened"]["named"].reshape(100, 2, 2)
    assert (seen["opened"]["decisions"] == 1).all()
    assert (opened[:, 0] == opened[:, 1]).all()
    assert (opened[..., 1] == -1).all()
    assert 25 < opened[:, 0, 0].sum() < 75
    first = opened[:, 0, 0].tolist()
    evaluate(two_moves, two_moves.settings(), "random", "random", 200, seed=0)
    assert seen["opened"]["named"].reshape(100, 2, 2)[:, 0, 0].tolist() == first
    evaluate(two_moves, two_moves.settings(), "random", "random", 200, seed=1)
    assert seen["opened"]["named"].reshape(100, 2, 2)[:, 0, 0].tolist() != first


def test_an_opening_may_end_the_game(two_moves: Game) -> None:
    result = evaluate(two_moves, two_moves.settings(max_decisions=1), "greedy", "random", 20)
    assert (result.games, result.win_share, result.mean_place, result.mean_margin) == (20, 0.5, 1.0, 0.0)
    longer = Game.__new__(Game)
    longer.__dict__ = {**two_moves.__dict__, "spec": replace(two_moves.spec, opening_decisions=5)}
    result = evaluate(longer, two_moves.settings(), "greedy", "greedy", 40)
    assert result.win_share == 0.5


def test_worked_evaluations(two_moves: Game) -> None:
    def play(policy: Any, opponent: Any) -> Evaluation:
        return evaluate(two_moves, two_moves.settings(), policy, opponent, 60)

    even = play("greedy", "greedy")  # seat 1 wins
    assert (even.win_share, even.mean_place, even.mean_margin) == (0.5, 1.5, 0.0)
    assert 0.35 < even.low < 0.5 < even.high < 0.65
    lost = play(Namer(0), "greedy")
    assert (lost.win_share, lost.mean_place, lost.mean_margin, lost.low) == (0.0, 2.0, -1.0, 0.0)
    assert 0 < lost.high < 0.1
    won = play("greedy", Namer(0))
    assert (won.win_share, won.mean_place, won.mean_margin, won.high) == (1.0, 1.0, 1.0, 1.0)
    assert 0.9 < won.low < 1
    assert (won.policy, won.opponent) == ("greedy", "names 0")


@pytest.mark.parametrize("players", [2, 4])
def test_random_is_as_good_as_random(toy: Game, players: int) -> None:
    result = evaluate(toy, toy.settings(players), "random", "random", 1200, seed=1)
    assert 0 < result.low < 1 / players < result.high < 1
    assert result.high - result.low < 0.08
    assert abs(result.mean_margin) < 0.3


def test_greedy_is_better_than_random(toy: Game) -> None:
    better = evaluate(toy, toy.settings(), "greedy", "random", 400)
    worse = evaluate(toy, toy.settings(), "random", "greedy", 400)
    assert better.low > 0.5 > worse.high
    assert better.mean_margin > 0 > worse.mean_margin
    assert better.mean_place < 1.5 < worse.mean_place


def test_seeds_of_evaluations(toy: Game, model: MaskablePPO) -> None:
    def play(seed: int, policy: Any = "greedy") -> Evaluation:
        return evaluate(toy, toy.settings(3), policy, "random", 99, seed)

    assert play(0) == play(0)
    assert play(0) != play(1)
    drawn = [play(0, TorchPolicy(model.policy, "it", append_mask=True, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_impossible_evaluations(toy: Game) -> None:
    for games in (0, -5, 2.5, "10", True, None):
        with pytest.raises(OptionError, match=r"games=.* is not possible: give a whole number, at least 1"):
            evaluate(toy, toy.settings(), "greedy", "random", games)  # type: ignore[arg-type]
    for seed in (-1, 2**53, 1.5):
        with pytest.raises(OptionError, match="give a whole number from 0 to 2"):
            evaluate(toy, toy.settings(), "greedy", "random", 10, seed)  # type: ignore[arg-type]


# --- runs -------------------------------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "minutes": 0.015, "num_envs": 8, "rollout": 8, "batch_size": 32, "epochs": 1, "channels": 2, "depth": 1,
    "width": 8,
    "snapshot_minutes": 0.003, "snapshots": 3, "imitation": 0.3,
}  # fmt: skip
FILES = {"config.json", "state.json", "checkpoint.zip", "progress.csv", "curve.png", "snapshots"}


def tiny(game: str = "toy", **changes: Any) -> RunConfig:
    return RunConfig(game, 2, **{**TINY, **changes})


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def state_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "state.json").read_text())  # type: ignore[no-any-return]


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder: its bytes and when it was written."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def is_whole(folder: Path) -> None:
    """The files of a run that was trained are there, can be read and agree."""
    assert {path.name for path in folder.iterdir()} - {"evaluation.json"} == FILES
    state, rows = state_of(folder), rows_of(folder)
    assert load_model(folder / "checkpoint.zip").num_timesteps == state["steps"]
    steps = [int(row["steps"]) for row in rows]
    assert steps == sorted(set(steps))
    assert not steps or steps[-1] <= state["steps"]
    assert {path.name for path in (folder / "snapshots").iterdir()} == set(state["snapshots"])
    assert len(state["snapshots"]) <= load_config(folder).snapshots
    picture = (folder / "curve.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    import matplotlib.image

    pixels = matplotlib.image.imread(folder / "curve.png")
    assert pixels.shape == (540, 960, 4)
    assert pixels[..., :3].min() < 0.2 < pixels[..., :3].max()


@pytest.fixture(scope="module", autouse=True)
def _warm(_toy: Game) -> None:
    """Compile before any clock runs."""
    env = SelfPlayVecEnv(_toy, 8, 2, opponents={"random": 1, "greedy": 1}, append_mask=True, seed=0)
    learner_of(_toy, env).learn(128)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs") / "trained"


def began(folder: Path) -> bool:
    """Whether a run has gone on from imitation to PPO."""
    path = folder / "checkpoint.zip"
    return path.exists() and load_model(path)._n_updates > 0


@pytest.fixture
def trained(toy: Game, kept: Path, tmp_path: Path) -> Path:
    """A folder of its own with a short run of the toy game that came to its end."""
    if not kept.exists():
        draft = kept.with_name("draft")
        shutil.rmtree(draft, ignore_errors=True)  # of a test that failed here
        training = TrainingRun(draft, tiny())
        while not (training.state["snapshots"] and began(draft)):  # once, unless the machine is very busy
            training.extend(training.state["seconds"] / 60 + TINY["minutes"])
            assert training.train()
        training.extend(training.state["seconds"] / 60)
        draft.rename(kept)
    return Path(shutil.copytree(kept, tmp_path / "trained"))


def test_a_run_writes_its_folder(toy: Game, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "deep"
    config = tiny(options={"memory": True, "extras": ["joker"], "heap": 12}, seed=5)
    training = TrainingRun(folder, config)
    assert not training.resumed
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    told: list[run.Progress] = []
    began = time.monotonic()
    assert training.train(told.append)
    took = time.monotonic() - began
    assert took > 60 * config.minutes
    is_whole(folder)
    assert TrainingRun(folder).config == training.config == replace(config, options=training.config.options)
    assert training.config.options == {"memory": True, "extras": ("joker",)}  # what differs from the defaults
    rows, state = rows_of(folder), state_of(folder)
    assert len(rows) == len(told) > 0
    assert [int(row["steps"]) for row in rows] == [64 * (number + 1) for number in range(len(rows))]
    assert [progress.steps for progress in told] == [int(row["steps"]) for row in rows]
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] <= fractions[-1] == 1.0
    assert not told[-1].stopping
    assert state["steps"] == told[-1].steps
    assert 60 * config.minutes <= state["seconds"] <= took
    assert set(told[-1].shares) <= {"latest", "snapshot", "random", "greedy"}
    assert "latest" in told[-1].shares
    assert all(0 <= share <= 1 for share in told[-1].shares.values())
    assert all(progress.rate > 0 for progress in told)
    assert set(rows[0]) == {"steps", "seconds", "rate", *told[-1].shares}
    results = training.evaluate(20)
    facts = json.loads((folder / "evaluation.json").read_text())
    assert facts["steps"] == state["steps"]
    assert facts["results"] == [result.as_dict() for result in results]
    assert [(r.policy, r.opponent, r.games) for r in results] == [("deep", "random", 20), ("deep", "greedy", 20)]
    assert training.evaluate(20) == results
    assert {path.name for path in folder.iterdir()} == FILES | {"evaluation.json"}


def test_a_finished_run_goes_on_when_extended(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds: list[SelfPlayVecEnv] = []

    class Watched(SelfPlayVecEnv):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            worlds.append(self)

    monkeypatch.setattr(run, "SelfPlayVecEnv", Watched)
    before, rows = state_of(trained), rows_of(trained)
    files = contents(trained)
    training = TrainingRun(trained)
    assert training.resumed
    assert training.train()  # its time is over
    assert contents(trained) == files
    assert not worlds
    keys = set()
    for _ in range(2):
        training = TrainingRun(trained)
        minutes = before["seconds"] / 60 + 0.004
        training.extend(minutes)
        assert load_config(trained).minutes == minutes
        told: list[run.Progress] = []
        assert training.train(told.append)
        after = state_of(trained)
        assert after["steps"] == before["steps"] + 64 * len(told) > before["steps"]
        assert 60 * minutes <= after["seconds"] < 60 * minutes + 5
        assert told[0].steps == before["steps"] + 64
        assert rows_of(trained)[: len(rows)] == rows
        assert len(rows_of(trained)) == len(rows) + len(told)
        is_whole(trained)
        before, rows = after, rows_of(trained)
        keys.add(worlds[-1].batch.key)
    first = SelfPlayVecEnv("toy", 8, 2, seed=0)  # the games of the first part
    first.reset()
    assert len(keys | {first.batch.key}) == 3  # no part plays the games of another


def test_weights_go_on(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_policy(trained).weights()
    training = TrainingRun(trained)
    training.extend(1.0)
    seen: list[dict[str, Any]] = []

    def stop(watcher: Any) -> bool:
        assert not watcher.model.imitating  # PPO has begun, and more time does not take the run back
        seen.append({key: weights.clone() for key, weights in watcher.model.policy.state_dict().items()})
        return False

    monkeypatch.setattr(run._Watcher, "_on_step", stop)
    training.train()
    assert all(torch.equal(weights, seen[0][key]) for key, weights in before.items())
    assert state_of(trained)["steps"] > 0


def test_a_stop_before_the_first_rollout_is_over(toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run._Watcher, "_on_step", lambda watcher: False)
    training = TrainingRun(tmp_path / "run", tiny(minutes=1e-9))
    training.train()
    is_whole(tmp_path / "run")
    assert rows_of(tmp_path / "run") == []
    assert state_of(tmp_path / "run")["steps"] == 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_in_good_order(toy: Game, tmp_path: Path, number: signal.Signals) -> None:
    handlers = [signal.getsignal(known) for known in (signal.SIGINT, signal.SIGTERM)]
    training = TrainingRun(tmp_path / "run", tiny(minutes=5.0))
    told: list[run.Progress] = []

    def interrupt(progress: run.Progress) -> None:
        told.append(progress)
        if len(told) == 3:
            os.kill(os.getpid(), number)

    assert training.train(interrupt) is False
    assert len(told) == 3
    is_whole(tmp_path / "run")
    assert [signal.getsignal(known) for known in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert state_of(tmp_path / "run")["steps"] == 3 * 64 + 8
    again = TrainingRun(tmp_path / "run", tiny(minutes=9.0))
    again.extend(state_of(tmp_path / "run")["seconds"] / 60 + 0.005)
    assert again.train(told.append)
    assert told[3].steps == 3 * 64 + 8 + 64
    is_whole(tmp_path / "run")


def test_the_second_signal_stops_at_once(toy: Game, tmp_path: Path) -> None:
    training = TrainingRun(tmp_path / "run", tiny(minutes=5.0))

    def interrupt(progress: run.Progress) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        training.train(interrupt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert TrainingRun(tmp_path / "run").resumed


@pytest.mark.parametrize("snapshots", [1, 2, 3, 4])
def test_snapshots_stay_within_their_number(
    toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshots: int
) -> None:
    taken: list[str] = []
    take = run._Watcher._take_snapshot

    def watched(watcher: Any, due: int) -> None:
        taken.append(f"{watcher.num_timesteps:010d}.pt")
        take(watcher, due)

    monkeypatch.setattr(run._Watcher, "_take_snapshot", watched)
    config = tiny(minutes=5.0, snapshot_minutes=1e-5, snapshots=snapshots, pool={"snapshot": 0.9, "latest": 0.1})

    def stop(progress: run.Progress) -> None:
        if progress.steps >= 64 * 8:
            os.kill(os.getpid(), signal.SIGINT)

    assert TrainingRun(tmp_path / "run", config).train(stop) is False
    is_whole(tmp_path / "run")
    state = state_of(tmp_path / "run")
    assert len(state["snapshots"]) == snapshots
    assert state["snapshots"] == sorted(set(state["snapshots"]))
    assert len(taken) > snapshots
    assert state["snapshots"][-1] == taken[-1]
    if snapshots > 1:
        assert state["snapshots"][0] == taken[0]  # the oldest and the newest stay
    last = rows_of(tmp_path / "run")[-1]
    assert float(last["snapshot"]) > 0
    newest = torch.load(tmp_path / "run" / "snapshots" / state["snapshots"][-1], weights_only=True)
    assert newest.keys() == load_policy(tmp_path / "run").weights().keys()


def test_snapshots_are_spread_over_the_run() -> None:
    kept: list[int] = []
    for step in range(1000):
        kept.append(step)
        if len(kept) > 8:
            del kept[run._crowded(kept)]
        assert kept[0] == 0
        assert kept[-1] == step
    assert max(np.diff(kept)) <= 4 * min(np.diff(kept)[:-1])
    assert run._crowded([3, 5]) == run._crowded([3]) == 0


def test_snapshots_play_again_after_a_resume(trained: Path) -> None:
    snapshots = state_of(trained)["snapshots"]
    assert snapshots
    config = json.loads((trained / "config.json").read_text())
    (trained / "config.json").write_text(json.dumps({**config, "pool": {"snapshot": 1.0}, "snapshot_minutes": 9.0}))
    (trained / "progress.csv").unlink()
    training = TrainingRun(trained)
    training.extend(state_of(trained)["seconds"] / 60 + 0.01)
    assert training.train()
    assert state_of(trained)["snapshots"] == snapshots
    assert set(rows_of(trained)[-1]) == {"steps", "seconds", "rate", "snapshot"}


def test_two_at_once_are_refused(toy: Game, trained: Path) -> None:
    minutes = state_of(trained)["seconds"] / 60
    training, late = TrainingRun(trained), TrainingRun(trained)

    def train_too(progress: run.Progress) -> None:
        with pytest.raises(OptionError, match="is being trained by another process: stop it"):
            late.train()

    training.extend(minutes + 0.01)
    late.extend(minutes + 0.02)
    assert training.train(train_too)
    is_whole(trained)
    before = contents(trained)
    with pytest.raises(OptionError, match="was trained further meanwhile: open the run again"):
        late.train()
    assert contents(trained) == before
    assert TrainingRun(trained).train()


# --- kills ------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("when", ["half", "after"])
def test_a_kill_at_any_file_leaves_a_run(toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Break off at the n-th file that is written, for every n of a run that saves often: it can always go on."""
    whole_replace, whole_write = run.replace_file, run._write_json
    countdown = [0]

    def replace_or_die(path: Path, write: Callable[[Path], Any]) -> None:
        countdown[0] -= 1
        if countdown[0] != 0:
            whole_replace(path, write)
            return
        draft = draft_of(path)
        if when == "half":
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(b"{\n")
        else:
            whole_replace(path, write)
        raise Killed

    config = tiny(minutes=1.0, snapshot_minutes=0.00001, snapshots=2)
    monkeypatch.setattr(run._Watcher, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(run, "replace_file", replace_or_die)
    monkeypatch.setattr(run, "plot_curve", lambda rows, path, title: path.write_bytes(b"no picture"))
    folder = tmp_path / "run"
    steps, seen = 0, set()
    for number in range(1, 11):  # one file more each time, from where the last kill left the run
        countdown[0] = number
        with pytest.raises(Killed):
            TrainingRun(folder, config).train()
        seen |= {path.name for path in folder.glob("*")} if folder.exists() else set()
        countdown[0] = 0
        training = TrainingRun(folder, config)
        assert training.state["steps"] >= steps
        steps = training.state["steps"]
        if (folder / "checkpoint.zip").exists():
            assert load_model(folder / "checkpoint.zip").num_timesteps >= steps
    assert steps > 0
    assert {"config.json", "checkpoint.zip", "state.json", "progress.csv"} <= seen
    monkeypatch.undo()
    training = TrainingRun(folder)
    training.extend(training.state["seconds"] / 60 + 0.003)
    assert training.train()
    leftovers = [path for path in folder.iterdir() if ".draft" in path.name]
    assert not leftovers
    is_whole(folder)
    assert run._write_json is whole_write


CLI = (
    "import sys, torch; torch.set_num_threads(1)\n"
    "from tabletop_envs import registry\n"
    "from toy_game import GAME\n"
    "registry.add(GAME)\n"
    "from tabletop_envs.training import run\n"
    "run._Watcher.SAVE_EVERY = 0.05\n"
    "from tabletop_envs.cli import main\n"
    "main()\n"
)


@pytest.fixture
def command() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command line in a process of its own, which knows the toy game and saves often."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        places = [str(TESTS), *(part for part in sys.path if part)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        process = subprocess.Popen(
            [sys.executable, "-c", CLI, *arguments],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            pytest.fail(f"it ended with {process.returncode}: {process.communicate()[0]}")
        assert time.monotonic() < until
        time.sleep(0.01)


def test_kills_at_random_moments_and_an_interrupt(
    toy: Game, tmp_path: Path, command: Callable[..., subprocess.Popen[str]]
) -> None:
    folder = tmp_path / "run"
    fields = [f"{name}={value}" for name, value in TINY.items() if name != "minutes"]
    train = ["train", "toy", "--folder", str(folder), "--minutes", "5"]
    train += [part for field in fields for part in ("--set", field)]
    rng = np.random.default_rng()
    steps = 0
    for _ in range(3):
        process = command(*train)
        known = steps
        wait_for(lambda known=known: (folder / "state.json").exists() and state_of(folder)["steps"] > known, process)
        time.sleep(float(rng.random()) * 0.3)
        process.send_signal(signal.SIGKILL)
        assert process.wait(PATIENCE) == -signal.SIGKILL
        training = TrainingRun(folder, tiny(minutes=5.0))  # all that tells where it stands can be read
        assert training.resumed
        assert load_model(folder / "checkpoint.zip").num_timesteps >= training.state["steps"] > steps
        steps = training.state["steps"]
    process = command(*train)
    wait_for(lambda: state_of(folder)["steps"] > steps, process)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    told = " ".join(told.split())  # lines are as long as the terminal is wide
    assert "resuming" in told
    assert "the same command goes on" in told
    is_whole(folder)
    assert state_of(folder)["steps"] > steps


def test_rows_behind_the_checkpoint_are_lost(trained: Path) -> None:
    rows, state = rows_of(trained), state_of(trained)
    with (trained / "progress.csv").open("a", newline="") as file:
        for ahead in (64, 128, 192):
            file.write(f"{state['steps'] + ahead},99,1.0,{'0.5,' * (len(rows[0]) - 4)}0.5\r\n")
    assert len(rows_of(trained)) == len(rows) + 3
    training = TrainingRun(trained)
    training.extend(state["seconds"] / 60 + 0.0001)
    assert training.train()
    after = rows_of(trained)
    assert after[: len(rows)] == rows
    assert all(float(row["seconds"]) < 99 for row in after)
    is_whole(trained)


# --- damage -----------------------------------------------------------------------------------------------------


def spoil(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / name
        path.write_bytes(change(path.read_bytes()))

    return damage


def facts(name: str, **changes: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        known = json.loads((folder / name).read_text())
        for key, value in changes.items():
            if value is None:
                known.pop(key)
            else:
                known[key] = value
        (folder / name).write_text(json.dumps(known))

    return damage


def other_model(folder: Path) -> None:
    """A checkpoint of another game's network."""
    env = SelfPlayVecEnv("toy", 8, 2, append_mask=True, memory=True)
    learner_of(env.game, env).save(folder / "checkpoint.zip")


def lose_snapshot(folder: Path) -> None:
    (folder / "snapshots" / state_of(folder)["snapshots"][0]).unlink()


def spoil_snapshot(folder: Path) -> None:
    path = folder / "snapshots" / state_of(folder)["snapshots"][0]
    path.write_bytes(path.read_bytes()[:100])


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "config truncated": (spoil("config.json", lambda data: data[: len(data) // 2]), "restore it from a copy"),
    "config empty": (spoil("config.json", lambda data: b""), "restore it from a copy"),
    "config no text": (spoil("config.json", lambda data: b"\xff\xfe\x00"), "restore it from a copy"),
    "config a list": (spoil("config.json", lambda data: b"[1, 2]"), "restore it from a copy"),
    "config of another version": (facts("config.json", format=1), "start a new run in another folder"),
    "config without version": (facts("config.json", format=None), "start a new run in another folder"),
    "config without game": (facts("config.json", game=None), "restore it from a copy"),
    "config with more": (facts("config.json", colour="red"), "restore it from a copy"),
    "config with a wrong type": (
        facts("config.json", num_envs="many"),
        r"num_envs='many'.*restore it from a copy",
    ),
    "config with a wrong value": (facts("config.json", gamma=7), r"gamma=7.*restore it from a copy"),
    "state truncated": (spoil("state.json", lambda data: data[:9]), "restore it from a copy"),
    "state a number": (spoil("state.json", lambda data: b"3"), "restore it from a copy"),
    "state of another version": (facts("state.json", format=0), "restore it from a copy"),
    "state without steps": (facts("state.json", steps=None), "restore it from a copy"),
    "state with steps of text": (facts("state.json", steps="many"), "restore it from a copy"),
    "state with negative time": (facts("state.json", seconds=-1.0), "restore it from a copy"),
    "state without snapshots": (facts("state.json", snapshots=None), "restore it from a copy"),
    "state with odd snapshots": (facts("state.json", snapshots=[1]), "restore it from a copy"),
    "checkpoint truncated": (
        spoil("checkpoint.zip", lambda data: data[: len(data) // 2]),
        "restore it from a copy",
    ),
    "checkpoint empty": (spoil("checkpoint.zip", lambda data: b""), "restore it from a copy"),
    "checkpoint of noise": (spoil("checkpoint.zip", lambda data: bytes(range(256)) * 9), "restore it from a copy"),
    "checkpoint of another": (other_model, "restore it from a copy"),
    "table of noise": (spoil("progress.csv", lambda data: b"\x00\xff\xfe"), "remove it to go on"),
    "table without steps": (spoil("progress.csv", lambda data: b"a,b\r\n1,2\r\n"), "remove it to go on"),
    "table of words": (spoil("progress.csv", lambda data: data + b"\r\nsoon,1,2\r\n"), "remove it to go on"),
    "snapshot missing": (lose_snapshot, "remove it from state.json to go on"),
    "snapshot truncated": (spoil_snapshot, "remove it from state.json to go on"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_told_and_left_alone(trained: Path, kind: str) -> None:
    damage, remedy = DAMAGE[kind]
    known = load_config(trained)
    run._write_json(trained / "config.json", {"format": run.FORMAT, **asdict(replace(known, minutes=9.0))})
    damage(trained)
    before = contents(trained)
    with pytest.raises(CorruptDataError, match=remedy) as told:
        TrainingRun(trained, tiny(minutes=9.0)).train()
    assert str(trained) in str(told.value)
    assert "\n" not in str(told.value).strip()
    assert contents(trained) == before


def test_removing_what_is_damaged_is_enough(trained: Path) -> None:
    (trained / "progress.csv").write_text("noise")
    lose_snapshot(trained)
    (trained / "progress.csv").unlink()
    state = state_of(trained)
    del state["snapshots"][0]
    (trained / "state.json").write_text(json.dumps(state))
    training = TrainingRun(trained)
    training.extend(state["seconds"] / 60 + 0.001)
    assert training.train()
    is_whole(trained)


def test_a_policy_of_a_damaged_run(trained: Path, tmp_path: Path) -> None:
    (trained / "checkpoint.zip").write_bytes(b"PK")
    with pytest.raises(CorruptDataError, match="restore it from a copy"):
        load_policy(trained)
    (trained / "checkpoint.zip").unlink()
    with pytest.raises(CorruptDataError, match="has no checkpoint yet: train longer"):
        TrainingRun(trained).evaluate(2)
    with pytest.raises(CorruptDataError, match="cannot be read"):
        load_policy(tmp_path / "nowhere")


def test_foreign_folders_are_left_alone(toy: Game, tmp_path: Path) -> None:
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("dear")
    before = contents(foreign)
    with pytest.raises(CorruptDataError, match="is not empty and holds no run: choose another folder"):
        TrainingRun(foreign, tiny())
    (foreign / "config.json").write_text('{"editor": "vi"}')
    before |= {"config.json": contents(foreign)["config.json"]}
    for config in (tiny(), None):
        with pytest.raises(CorruptDataError, match="another program or version: start a new run in another folder"):
            TrainingRun(foreign, config)
    assert contents(foreign) == before
    with pytest.raises(CorruptDataError, match="holds no run: start one by naming a game"):
        TrainingRun(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "file").write_text("dear")
    with pytest.raises(CorruptDataError, match="choose another folder"):
        TrainingRun(tmp_path / "file", tiny())
    (tmp_path / "empty").mkdir()
    assert not TrainingRun(tmp_path / "empty", tiny()).resumed


# --- configurations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minutes": 0}, "minutes=0 is not possible: give a positive number"),
        ({"minutes": -1.0}, "give a positive number"),
        ({"minutes": float("inf")}, "give a positive number"),
        ({"minutes": float("nan")}, "give a positive number"),
        ({"minutes": "5"}, "minutes='5' is not possible"),
        ({"minutes": None}, "minutes=None is not possible"),
        ({"seed": -1}, "seed=-1 is not possible: give a whole number from 0 to 4294967295"),
        ({"seed": 2**32}, "give a whole number from 0 to 4294967295"),
        ({"seed": 0.5}, "seed=0.5 is not possible"),
        ({"num_envs": 0}, "num_envs=0 is not possible: give a whole number from 1"),
        ({"num_envs": 8.0}, "num_envs=8.0 is not possible"),
        ({"num_envs": True}, "num_envs=True is not possible"),
        ({"rollout": "8"}, "rollout='8' is not possible"),
        ({"batch_size": 1}, "batch_size=1 is not possible: give a whole number from 2"),
        ({"batch_size": 63}, "batch_size=63 is not possible.*one would be left alone"),
        ({"num_envs": 1, "rollout": 1}, "one would be left alone"),
        ({"epochs": 0}, "epochs=0 is not possible"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 is not possible"),
        ({"learning_rate": [1]}, r"learning_rate=\[1\] is not possible"),
        ({"entropy": -0.1}, "entropy=-0.1 is not possible: give a number, 0 or more"),
        ({"gamma": 1.1}, "gamma=1.1 is not possible: give a number from 0 to 1"),
        ({"gamma": -0.5}, "give a number from 0 to 1"),
        ({"horizon": 0}, "give a positive number"),
        ({"clip": 0}, "clip=0 is not possible"),
        ({"as_earned": 1}, "as_earned=1 is not possible: give true or false"),
        ({"append_mask": "yes"}, "append_mask='yes' is not possible: give true or false"),
        ({"channels": 0}, "channels=0 is not possible"),
        ({"depth": -1}, "depth=-1 is not possible: give a whole number from 0"),
        ({"width": 0}, "width=0 is not possible"),
        ({"snapshots": 0}, "snapshots=0 is not possible"),
        ({"snapshot_minutes": 0}, "snapshot_minutes=0 is not possible"),
        ({"pool": "latest"}, "pool='latest' is not possible"),
        ({"pool": {}}, "pool={} is not possible: give each opponent a weight"),
        ({"pool": {"latest": -1}}, "give each opponent a weight of 0 or more"),
        ({"pool": {"latest": "much"}}, "give each opponent a weight of 0 or more"),
        ({"pool": {"latest": 0, "random": 0.0}}, "not all of them 0"),
        ({"pool": {"gredy": 1.0}}, "no opponent 'gredy': there are latest, snapshot, random, greedy"),
        ({"options": ["memory"]}, "options=.* is not possible"),
    ],
)
def test_impossible_configurations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        tiny(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": "wim"}, "did you mean 'win'"),
        ({"reward": {"win": 2.0}}, "sum to 2, not 1"),
        ({"reward": 3}, "reward=3 is not possible"),
        ({"options": {"memmory": True}}, "did you mean 'memory'"),
        ({"options": {"heap": 1000}}, "heap=1000 is not possible"),
    ],
)
def test_what_the_game_refuses_leaves_no_folder(toy: Game, tmp_path: Path, changes: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        TrainingRun(tmp_path / "run", tiny(**changes))
    with pytest.raises(OptionError, match="set num_players=2 to 4"):
        TrainingRun(tmp_path / "run", replace(tiny(), num_players=7))
    with pytest.raises(UnknownGameError, match="did you mean 'toy'"):
        TrainingRun(tmp_path / "run", tiny("toyy"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_players": 3}, "is a run with num_players=2, not 3: name another folder"),
        ({"options": {"memory": True}}, r"is a run with options=\{\}, not \{'memory': True\}"),
        ({"epochs": 2}, "is a run with epochs=1, not 2"),
        ({"seed": 3}, "is a run with seed=0, not 3"),
        ({"game": "two_moves"}, "is a run with game='toy', not 'two_moves'"),
    ],
)
def test_another_configuration_is_not_that_of_the_folder(
    trained: Path, two_moves: Game, changes: dict[str, Any], message: str
) -> None:
    before = contents(trained)
    with pytest.raises(OptionError, match=message):
        TrainingRun(trained, replace(tiny(), **changes))
    assert contents(trained) == before


def test_equal_configurations_in_other_words(trained: Path) -> None:
    for config in (tiny("toy-v0"), tiny("tabletop/toy-v0", options={"memory": False, "extras": [], "heap": 12})):
        assert TrainingRun(trained, config).config == load_config(trained)


def test_a_run_of_several_players(toy: Game, tmp_path: Path) -> None:
    config = replace(tiny(minutes=0.003), num_players=4)
    training = TrainingRun(tmp_path / "run", config)
    assert training.train()
    assert training.settings.num_players == 4
    assert training.evaluate(8)[0].games == 8
    is_whole(tmp_path / "run")


def test_a_policy_of_a_wrong_game_is_refused(two_moves: Game, trained: Path) -> None:
    with pytest.raises(OptionError, match="give the game, the options and append_mask of its training"):
        evaluate(two_moves, two_moves.settings(), load_policy(trained), "random", 4)


def test_seeds_make_runs(toy: Game) -> None:
    """Two learners of one seed play the same games and end with the same weights."""

    def learnt(seed: int) -> dict[str, Any]:
        env = SelfPlayVecEnv(toy, 4, 2, append_mask=True, opponents={"random": 0.5, "greedy": 0.5}, seed=seed)
        model = learner_of(toy, env, seed=seed)
        model.learn(128)
        return TorchPolicy(model.policy, "it", append_mask=True).weights()

    first, again, other = learnt(3), learnt(3), learnt(4)
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)
    assert derive_key(3, 0, 0) != derive_key(4, 0, 0)
