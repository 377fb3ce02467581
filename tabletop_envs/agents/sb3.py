"""A MaskablePPO policy as a batch policy: the one in training, a frozen copy of it, or one from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tabletop_envs import registry
from tabletop_envs.agents.base import PolicyAgent
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import check_key
from tabletop_envs.errors import MissingExtraError, OptionError, UnknownAgentError

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("sb3-contrib is not installed: pip install 'tabletop-envs[train]'") from error


class TorchPolicy:
    """Answers batches with a MaskablePPO policy.

    policy: the network (shared, so it follows training; see `frozen`); append_mask: whether it was trained on
    observations with the mask appended; deterministic: the likeliest action instead of a draw; seed: of draws of
    its own, else they come from torch's global generator.
    """

    def __init__(
        self,
        policy: MaskableActorCriticPolicy,
        name: str,
        *,
        append_mask: bool,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        self.policy = policy
        self.name = name
        self.append_mask = append_mask
        self.deterministic = deterministic
        self.generator = None if seed is None else torch.Generator(policy.device).manual_seed(seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Legal actions, (n,) int64; see BatchPolicy. Raises OptionError for observations of another size."""
        if self.append_mask:
            observations = np.concatenate([observations, action_masks], axis=1, dtype=np.float32)
        if observations.shape[1:] != self.policy.observation_space.shape:
            raise OptionError(
                f"{self.name!r} was trained on observations of shape {self.policy.observation_space.shape}, not "
                f"{observations.shape[1:]}: give the game, the options and append_mask of its training"
            )
        self.policy.set_training_mode(False)
        with torch.no_grad():
            inputs = torch.as_tensor(observations, device=self.policy.device)
            legal = action_masks.astype(bool)
            if self.generator is None or self.deterministic:
                drawn, _, _ = self.policy(inputs, deterministic=self.deterministic, action_masks=legal)
            else:
                distribution = self.policy.get_distribution(inputs, legal)
                probs: torch.Tensor = distribution.distribution.probs  # type: ignore[union-attr]
                drawn = torch.multinomial(probs, 1, generator=self.generator)[:, 0]
        actions: np.ndarray = drawn.cpu().numpy()
        return actions

    def frozen(self, name: str) -> TorchPolicy:
        """A copy that no longer learns."""
        # not deepcopy: the policy keeps its last distribution, whose tensors belong to a graph
        twin = type(self.policy)(**self.policy._get_constructor_parameters()).to(self.policy.device)
        twin.load_state_dict(self.policy.state_dict())
        twin.requires_grad_(False)
        return TorchPolicy(twin, name, append_mask=self.append_mask, deterministic=self.deterministic)

    def weights(self) -> dict[str, Any]:
        """The network's parameters by name."""
        return dict(self.policy.state_dict())


class SB3Agent(PolicyAgent):
    """A `TorchPolicy` as an agent; where it draws, it draws anew from each game's seed."""

    policy: TorchPolicy

    def reset(self, seat: int, seed: int) -> None:
        """Begin a game with a seed of its own."""
        if not self.policy.deterministic:
            self.policy.generator = torch.Generator(self.policy.policy.device).manual_seed(check_key(seed))


def load_agent(
    game: Game,
    argument: str,
    *,
    seed: int | None = None,
    deterministic: bool = True,
    append_mask: bool | None = None,
) -> SB3Agent:
    """The agent of a run folder, or of a checkpoint that MaskablePPO saved.

    argument: the path; seed, deterministic: see `TorchPolicy`; append_mask: of a checkpoint, whether it was trained
    on observations with the mask appended (None: as the size of its observations tells).

    Raises UnknownAgentError where nothing lies there, OptionError for an agent of another game and CorruptDataError
    for what cannot be read.
    """
    from tabletop_envs.training.run import is_run, load_config, load_policy

    path = Path(argument)
    if not path.exists():
        raise UnknownAgentError(f"there is no run folder or checkpoint {argument}: give the path of one")
    if path.is_dir():
        if not is_run(path):
            raise UnknownAgentError(f"the folder {argument} holds no run: give that of a run, or a checkpoint's path")
        other = load_config(path).game
        if registry.spec(other) != game.spec:
            raise OptionError(f"{argument} is a run of {other}, not of {game.spec.id}: give another one")
        policy = load_policy(path, deterministic, seed)
    else:
        policy = _of_checkpoint(game, path, seed, deterministic, append_mask)
    return SB3Agent(policy)


def _of_checkpoint(
    game: Game, path: Path, seed: int | None, deterministic: bool, append_mask: bool | None
) -> TorchPolicy:
    from tabletop_envs.training.run import load_model

    network = load_model(path).policy
    shape = network.observation_space.shape or ()
    actions = int(getattr(network.action_space, "n", 0))
    if len(shape) != 1 or actions not in game.actions.sizes():
        sizes = " or ".join(map(str, sorted(game.actions.sizes())))
        raise OptionError(
            f"{path} chooses among {actions} actions from observations of shape {shape}, but {game.spec.id} has "
            f"{sizes} actions and flat observations: give a checkpoint of this game"
        )
    if append_mask is None:
        # a size that no options give without the mask
        append_mask = shape[0] not in game.observations.sizes()
    return TorchPolicy(network, path.stem, append_mask=append_mask, deterministic=deterministic, seed=seed)
