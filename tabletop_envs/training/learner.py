"""MaskablePPO that can begin by imitation: for a while it learns to choose as the greedy baseline does.

It plays its own games meanwhile, so it learns the baseline's answers to the positions that it gets into itself, and
its value head learns what they are worth to it. From there PPO goes on, with the same network and optimiser.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch.nn import functional

from tabletop_envs.envs.sb3 import SelfPlayVecEnv
from tabletop_envs.training.network import draw


class Learner(MaskablePPO):
    """MaskablePPO with one more way to learn; its checkpoints are those of MaskablePPO.

    imitating: whether the next rollout is imitation; that needs a `LayoutPolicy` and a `SelfPlayVecEnv`.
    """

    imitating = False
    _imitated = False  # whether the last rollout was, so that there is nothing left to learn from it

    def collect_rollouts(self, env: Any, callback: BaseCallback, *arguments: Any, **keywords: Any) -> bool:
        """Collect a rollout for PPO, or imitate for as many decisions."""
        self._imitated = self.imitating
        if self.imitating:
            return self._imitate(env, callback)
        return bool(super().collect_rollouts(env, callback, *arguments, **keywords))

    def train(self) -> None:
        """PPO's update, where the last rollout was collected for it."""
        if not self._imitated:
            super().train()

    def _imitate(self, env: SelfPlayVecEnv, callback: BaseCallback) -> bool:
        """One gradient step for each decision in all games; False when the callback stops the training.

        Cross-entropy to the baseline's choice, and the value by one-step temporal differences: no rollout is kept, and
        one forward pass serves acting and learning.
        """
        policy: Any = self.policy
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        callback.on_rollout_start()
        for _ in range(self.n_steps):
            guide = torch.as_tensor(env.greedy_actions())
            log_probs, values = policy.evaluate(torch.as_tensor(self._last_obs), env.action_masks())
            actions = draw(log_probs.detach())
            observations: Any
            observations, rewards, dones, infos = env.step(actions.numpy())
            self._last_obs, self._last_episode_starts = observations, dones
            self.num_timesteps += env.num_envs
            with torch.no_grad():
                later = policy.predict_values(torch.as_tensor(observations)).flatten()
            worth = torch.as_tensor(rewards) + self.gamma * torch.where(torch.as_tensor(dones), 0.0, later)
            loss = functional.nll_loss(log_probs, guide) + self.vf_coef * functional.mse_loss(values.flatten(), worth)
            policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), self.max_grad_norm)
            policy.optimizer.step()
            callback.update_locals({"infos": infos})
            if not callback.on_step():
                return False
        callback.on_rollout_end()
        return True

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "imitating", "_imitated"]
