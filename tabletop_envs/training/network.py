"""A policy network built from a game's layouts: board blocks go through convolutions, the rest stays flat.

Where a layout says which cells are linked (the tiles of a path, the buildings of a district), each cell also learns
the sums of the groups that its neighbours open to it, and the flat facts say which of them count: what a tile would
join, convolutions alone find out very slowly. Where it counts things of one kind, all go through the same layer.

Observation blocks with a board are its input planes, action blocks with the same board are its output planes, so
that "build at this cell" is read off this cell's features. It sees layouts alone and never a game's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn import functional

from tabletop_envs.core.forward import label_groups
from tabletop_envs.core.layout import SIDES, ActionLayout, Block, ObservationLayout, demand_same_entities

MOST_DOUBLINGS: Final = 4
"""Of an input's size, see `LayoutTrunk.set_scale`."""
ENTITY_WIDTH: Final = 32
"""Features of an entity, and of their sum."""
_NEVER: Final = -1e8  # the logit of an action that is not legal


@dataclass(frozen=True)
class NetworkShape:
    """Which inputs and outputs of a game are planes over one board, and which are flat.

    board: (rows, columns), None for a game without boards; input_planes and output_planes: indices of whole
    planes, one tuple a plane in row-major order; input_flat and output_flat: the other indices; links: for each side
    (north, east, south, west) the numbers of the input planes that open a cell to it, empty where no cells are linked;
    entities: the inputs of each entity, all of which are among the flat ones, too.
    """

    board: tuple[int, int] | None
    input_planes: tuple[tuple[int, ...], ...]
    input_flat: tuple[int, ...]
    output_planes: tuple[tuple[int, ...], ...]
    output_flat: tuple[int, ...]
    links: tuple[tuple[int, ...], ...] = ()
    entities: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(
        cls,
        observations: ObservationLayout,
        actions: ActionLayout,
        options: Mapping[str, Any],
        append_mask: bool = False,
    ) -> NetworkShape:
        """Read the shape off the layouts; an appended action mask counts as further input."""
        inputs = observations.present(options) + (actions.present(options) if append_mask else [])
        cells: dict[tuple[int, int], int] = {}
        for block in inputs:
            if block.board:
                cells[block.board] = cells.get(block.board, 0) + block.size
        board = max(cells, key=lambda key: cells[key]) if cells else None
        input_planes, input_flat = _split(inputs, board)
        output_planes, output_flat = _split(actions.present(options), board)
        links, entities = _links(inputs, board), _entities(inputs)
        return cls(board, input_planes, input_flat, output_planes, output_flat, links, entities)


def _split(blocks: list[Block], board: tuple[int, int] | None) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    planes: list[tuple[int, ...]] = []
    flat: list[int] = []
    offset = 0
    for block in blocks:
        indices = range(offset, offset + block.size)
        offset += block.size
        if board is None or block.board != board:
            flat.extend(indices)
        else:
            size = board[0] * board[1]
            planes.extend(tuple(indices[k : k + size]) for k in range(0, block.size, size))
    return tuple(planes), tuple(flat)


def _links(blocks: list[Block], board: tuple[int, int] | None) -> tuple[tuple[int, ...], ...]:
    sides: list[list[int]] = [[] for _ in range(SIDES)]
    first = 0
    for block in blocks:
        if board is None or block.board != board:
            continue
        for side, planes in zip(sides, block.links, strict=False):
            side.extend(first + plane for plane in planes)
        first += block.planes
    return tuple(map(tuple, sides)) if any(sides) else ()


def _entities(blocks: list[Block]) -> tuple[tuple[int, ...], ...]:
    things: dict[int, list[int]] = {}
    demand_same_entities(blocks)
    offset = 0
    for block in blocks:
        if block.entities:
            for number, indices in enumerate(np.arange(offset, offset + block.size).reshape(block.shape[0], -1)):
                things.setdefault(number, []).extend(map(int, indices))
        offset += block.size
    return tuple(map(tuple, things.values()))


class LayoutTrunk(BaseFeaturesExtractor):
    """Observation -> (features of each cell, features of the whole), flattened one behind the other.

    channels: features a cell; depth: 3 x 3 convolutions behind the first, and behind the groups' sums; width: features
    of the whole. The buffer `scale` holds a factor for each input, see `set_scale`.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        shape: NetworkShape,
        channels: int = 16,
        depth: int = 1,
        width: int = 128,
    ) -> None:
        cells = shape.board[0] * shape.board[1] if shape.board else 0
        super().__init__(observation_space, cells * channels + width)
        self.shape, self.channels, self.cells, self.width = shape, channels, cells, width
        self.flat: torch.Tensor
        self.planes: torch.Tensor
        self.scale: torch.Tensor
        # kept with the weights, which mean nothing without it
        self.register_buffer("scale", torch.ones(observation_space.shape[0]))
        self.register_buffer("flat", torch.tensor(shape.input_flat, dtype=torch.long), persistent=False)
        self.register_buffer(
            "planes", torch.tensor(np.array(shape.input_planes).ravel(), dtype=torch.long), persistent=False
        )
        self.join: nn.Linear | None = None
        self.entity_net: nn.Linear | None = None
        self.flat_net = nn.Sequential(nn.Linear(len(shape.input_flat), width), nn.ReLU())
        told = width
        if shape.entities:
            self.entities: torch.Tensor
            self.register_buffer("entities", torch.tensor(shape.entities, dtype=torch.long), persistent=False)
            self.entity_net = nn.Linear(len(shape.entities[0]), ENTITY_WIDTH)
            told += ENTITY_WIDTH
        if shape.board is None:
            self.mix = nn.Sequential(nn.Linear(told, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
            return
        self.first = nn.Conv2d(len(shape.input_planes), channels, 3, padding=1)
        self.spread = nn.Linear(told, channels)
        if shape.links:
            self.gate = nn.Linear(told, channels * SIDES)
            self.join = nn.Linear(channels * SIDES, channels, bias=False)
            self.join_spread = nn.Linear(told, channels)
            self.blend = nn.Linear(channels, channels)
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth))
        self.mix = nn.Sequential(nn.Linear(told + 2 * channels, width), nn.ReLU())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(batch, size) -> (batch, cells * channels + width)."""
        observations = observations * self.scale
        whole = self.flat_net(observations.index_select(1, self.flat))
        if self.entity_net is not None:
            things = observations.index_select(1, self.entities.flatten()).view(-1, *self.entities.shape)
            whole = torch.cat([whole, torch.relu(self.entity_net(things)).sum(1)], 1)
        if self.shape.board is None:
            return self.mix(whole)  # type: ignore[no-any-return]
        images = observations.index_select(1, self.planes).view(-1, len(self.shape.input_planes), *self.shape.board)
        # the flat facts reach every cell as a bias
        cells = torch.relu(self.first(images) + self.spread(whole)[:, :, None, None])
        if self.join is not None:
            flat_cells = cells.flatten(2)
            met = _add_up(flat_cells, *self._groups(images))
            taken = torch.bmm(self.join.weight * _gate(self.gate(whole))[:, None], met)
            flat_cells = torch.relu(flat_cells + taken + self.join_spread(whole)[:, :, None])
            cells = torch.relu(flat_cells + _pointwise(self.blend, flat_cells)).view_as(cells)
        for convolution in self.convolutions:
            cells = torch.relu(cells + convolution(cells))
        flat_cells = cells.flatten(2)
        pooled = torch.cat([whole, flat_cells.mean(2), flat_cells.amax(2)], 1)
        return torch.cat([cells.flatten(1), self.mix(pooled)], 1)

    def _groups(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of images (batch, planes, rows, columns) the labels and what cells meet, see `label_groups`."""
        occupied = images.flatten(2) != 0
        open_to = torch.stack([occupied[:, list(planes)].any(1) for planes in self.shape.links], 2)
        labels = np.empty((len(images), self.cells), dtype=np.int64)
        met = np.empty((len(images), SIDES, self.cells), dtype=np.int64)
        label_groups(np.array(images.shape[2:], dtype=np.int32), open_to.cpu().numpy(), labels, met)
        return torch.as_tensor(labels, device=images.device), torch.as_tensor(met, device=images.device)

    def set_scale(self, observations: np.ndarray) -> None:
        """Bring all inputs to a like size, where they are not 0, by factors from 1 to 16: small ones are learnt slowly.

        observations: typical ones, (n, size). The cells of a plane share a factor, as entities do, and it is a power
        of two: so weights that have taken it in are exactly as precise.
        """
        squares, counts = np.square(observations, dtype=np.float64).sum(0), np.count_nonzero(observations, axis=0)
        for alike in map(list, (*self.shape.input_planes, *zip(*self.shape.entities, strict=True))):
            squares[alike], counts[alike] = squares[alike].sum(), counts[alike].sum()
        met = counts > 0
        doublings = np.zeros(len(squares))
        doublings[met] = np.clip(np.round(-0.5 * np.log2(squares[met] / counts[met])), 0, MOST_DOUBLINGS)
        self.scale.copy_(torch.as_tensor(2.0**doublings))


def _pointwise(layer: nn.Linear, cells: torch.Tensor) -> torch.Tensor:
    """The same layer on the features of each cell, (n, channels, cells): a 1 x 1 convolution, but much faster."""
    return torch.matmul(layer.weight, cells) + layer.bias[:, None]


def _gate(x: torch.Tensor) -> torch.Tensor:
    """From 0 to 1: a sigmoid of straight lines, whose bits every machine agrees on."""
    return (0.5 + 0.25 * x).clamp(0.0, 1.0)


def _add_up(cells: torch.Tensor, labels: torch.Tensor, met: torch.Tensor) -> torch.Tensor:
    """The sums over the groups that each cell (n, channels, cells) meets at its sides, (n, channels * sides, cells)."""
    count = cells.shape[2]
    sums = cells.new_zeros(*cells.shape[:2], count + 1).scatter_add(2, labels[:, None].expand_as(cells), cells)
    # what lies on cells without a group went behind the others
    sums = functional.pad(sums[:, :, :count], (0, 1))
    met = met.flatten(1)[:, None].expand(-1, cells.shape[1], -1)
    return sums.gather(2, met).view(len(cells), -1, count)


class ActionHead(nn.Module):
    """Features of `LayoutTrunk` -> logits in the order of the action space."""

    def __init__(self, trunk: LayoutTrunk) -> None:
        super().__init__()
        shape = trunk.shape
        self.cells, self.channels = trunk.cells, trunk.channels
        self.planes = nn.Linear(trunk.channels, len(shape.output_planes)) if shape.output_planes else None
        self.spread = nn.Linear(trunk.width, len(shape.output_planes)) if shape.output_planes else None
        self.flat = nn.Linear(trunk.width, len(shape.output_flat)) if shape.output_flat else None
        produced = [index for plane in shape.output_planes for index in plane] + list(shape.output_flat)
        self.order: torch.Tensor
        self.register_buffer("order", torch.tensor(np.argsort(produced), dtype=torch.long), persistent=False)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(batch, features) -> (batch, actions)."""
        split = self.cells * self.channels
        whole = features[:, split:]
        parts = []
        if self.planes is not None and self.spread is not None:
            cells = features[:, :split].view(-1, self.channels, self.cells)
            parts.append((_pointwise(self.planes, cells) + self.spread(whole)[:, :, None]).flatten(1))
        if self.flat is not None:
            parts.append(self.flat(whole))
        return torch.cat(parts, 1).index_select(1, self.order)


class ValueHead(nn.Module):
    """Features of `LayoutTrunk` -> value."""

    def __init__(self, trunk: LayoutTrunk) -> None:
        super().__init__()
        self.split = trunk.cells * trunk.channels
        self.net = nn.Sequential(nn.Linear(trunk.width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(batch, features) -> (batch, 1)."""
        return self.net(features[:, self.split :])  # type: ignore[no-any-return]


class _Through(nn.Module):
    """In the place of SB3's MLP between trunk and heads: hands the features on."""

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return features, features

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        return features

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        return features


class LayoutPolicy(MaskableActorCriticPolicy):
    """MaskablePPO policy over `LayoutTrunk`; give `features_extractor_kwargs={"shape": NetworkShape.of(...)}`.

    Acting and evaluating do without the library's distribution objects, which normalise every batch several times and
    check it: with networks as small as ours that took half of the training's CPU time.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        keywords.setdefault("features_extractor_class", LayoutTrunk)
        super().__init__(*arguments, **keywords)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        trunk = self.features_extractor
        assert isinstance(trunk, LayoutTrunk)
        self.mlp_extractor = _Through()  # type: ignore[assignment]
        self.action_net = ActionHead(trunk)
        self.value_net = ValueHead(trunk)  # type: ignore[assignment]
        for module, gain in ((trunk, 2**0.5), (self.value_net, 1.0)):
            module.apply(partial(_orthogonal, gain=gain))
        self.action_net.apply(partial(_orthogonal, gain=0.01))
        keywords: dict[str, Any] = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **keywords)

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (n,), values (n, 1) and logarithms of the actions' probabilities (n,)."""
        log_probs, values = self.evaluate(obs, action_masks)
        actions = log_probs.argmax(1) if deterministic else draw(log_probs)
        return actions, values, _at(log_probs, actions)

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: torch.Tensor | np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values (n, 1), logarithms of the actions' probabilities (n,), and entropies of the policy (n,)."""
        log_probs, values = self.evaluate(obs, action_masks)
        return values, _at(log_probs, actions), -(log_probs.exp() * log_probs).sum(1)

    def evaluate(
        self, obs: torch.Tensor, action_masks: torch.Tensor | np.ndarray | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logarithms of the probabilities of all actions, (n, actions), and values (n, 1)."""
        features: Any = self.extract_features(obs)
        logits = self.action_net(features)
        if action_masks is not None:
            legal = torch.as_tensor(action_masks, dtype=torch.bool, device=logits.device).view_as(logits)
            # finite, so that 0 times it is 0 in an entropy
            logits = logits.masked_fill(~legal, _NEVER)
        return torch.log_softmax(logits, 1), self.value_net(features)


def draw(log_probs: torch.Tensor) -> torch.Tensor:
    """An action of each row (n, actions) by its probabilities."""
    # of exponential clocks with these rates, the first to ring is each action as often as it is likely
    return (log_probs.exp() / torch.empty_like(log_probs).exponential_()).argmax(1)


def _at(log_probs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    return log_probs.gather(1, actions[:, None]).flatten()


def _orthogonal(layer: nn.Module, gain: float) -> None:
    if isinstance(layer, (nn.Linear, nn.Conv2d)):
        nn.init.orthogonal_(layer.weight, gain=gain)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
