"""The turn-based parallel view: PettingZoo's parallel interface over the AEC environment, one agent acting a step.

It is PettingZoo's own conversion with three corrections: infos belong to the caller, `active_agent` stands in them
from reset() on, and errors say what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from tabletop_envs.core.game import Game
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.errors import GameOverError, IllegalActionError, OrderError


class TurnBasedParallel(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]  # PettingZoo ships no types
    """All agents observe every step, but only the `active_agent` named in every info acts; the others' actions
    are ignored, as their masks are all zero. Rewards are those of the step. Beneath lies `aec_env`."""

    aec_env: TabletopAEC
    agents: list[str]

    def __init__(self, aec_env: TabletopAEC) -> None:
        super().__init__(aec_env)
        self.agents = []

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Deal a new game, see `TabletopAEC.reset`; observations and infos of all agents."""
        self.aec_env.reset(seed=seed, options=options)
        self.agents = self.aec_env.agents[:]
        return {agent: self.aec_env.observe(agent) for agent in self.agents}, self._infos()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make the active agent's decision; observations, rewards, terminations, truncations, infos of all agents.

        Raises OrderError before reset(), GameOverError after the end, and IllegalActionError without an action of
        the active agent or as the `illegal` of the AEC environment says.
        """
        env = self.aec_env
        if not self.agents:
            if not hasattr(env, "agents"):
                raise OrderError("reset() needs to be called before step.")
            raise GameOverError("step() called after all agents are terminated or truncated: call reset() first")
        active = env.agent_selection
        if active not in actions:
            raise IllegalActionError(f"there is no action for {active}, the active agent: give one")
        env.step(actions[active])
        observations = {agent: env.observe(agent) for agent in self.agents}
        rewards, terminations, truncations = dict(env.rewards), dict(env.terminations), dict(env.truncations)
        infos = self._infos()
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)
        self.agents = env.agents[:]
        return observations, rewards, terminations, truncations, infos

    def _infos(self) -> dict[str, dict[str, Any]]:
        env = self.aec_env
        over = all(env.terminations.values())
        active = {} if over else {"active_agent": env.agent_selection}
        return {agent: {**env.infos[agent], **active} for agent in env.agents}

    def __str__(self) -> str:
        return str(self.aec_env)


def turn_based_parallel(game: Game | str, num_players: int | None = None, **arguments: Any) -> TurnBasedParallel:
    """The turn-based parallel view of a game; arguments: those of `TabletopAEC`."""
    return TurnBasedParallel(TabletopAEC(game, num_players, **arguments))
