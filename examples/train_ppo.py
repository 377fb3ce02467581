"""Train a PPO agent by self-play, the whole loop in sight.

    python examples/train_ppo.py urbino --minutes 5

One seat of each of 256 games learns; the others are played by a pool: the network as it is now, frozen copies of its
past, and the built-in baselines. `tabletop-envs train` does the same and adds a run folder that can be resumed.

Why not alternate the seats of one AEC environment in one stream of experience? Because then a seat's value would be
bootstrapped from the other seat's next position, and the loser would never be paid its -1. `SelfPlayVecEnv` ends a
learner's step at the next decision of its own seat, and its episode when the game ends, whoever moved last.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that wait sleep instead of spinning

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from tabletop_envs.agents.sb3 import TorchPolicy
from tabletop_envs.envs.sb3 import OpponentPool, SelfPlayVecEnv
from tabletop_envs.training.evaluation import evaluate
from tabletop_envs.training.network import LayoutPolicy, NetworkShape


class SelfPlay(BaseCallback):
    """Puts a frozen copy of the policy into the pool every minute, and stops when the time is over."""

    def __init__(self, pool: OpponentPool, latest: TorchPolicy, minutes: float) -> None:
        super().__init__()
        self.pool, self.latest, self.minutes = pool, latest, minutes
        self.past: list[TorchPolicy] = []
        self.started = time.monotonic()
        self.episodes: list[float] = []

    def _on_rollout_start(self) -> None:
        elapsed = (time.monotonic() - self.started) / 60
        if elapsed >= len(self.past) + 1:
            self.past = [*self.past, self.latest.frozen(f"minute {elapsed:.0f}")][-5:]
            shares = [(old, 0.3 / len(self.past)) for old in self.past]
            self.pool.replace([(self.latest, 0.4), ("random", 0.1), ("greedy", 0.2), *shares])

    def _on_step(self) -> bool:
        self.episodes += [info["places"][info["seat"]] == 1 for info in self.locals["infos"] if "episode" in info]
        return time.monotonic() - self.started < 60 * self.minutes

    def _on_rollout_end(self) -> None:
        recent = self.episodes[-400:]
        print(f"{self.num_timesteps:9,} decisions, won {sum(recent) / max(1, len(recent)):.0%} of the last games")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="urbino")
    parser.add_argument("--players", type=int)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--save", default="ppo.zip")
    arguments = parser.parse_args()

    pool = OpponentPool("random")
    env = SelfPlayVecEnv(
        arguments.game,
        256,
        arguments.players,
        opponents=pool,
        reward={"win": 0.5, "score": 0.5},
        as_earned=True,
        append_mask=True,
        seed=0,
    )
    game, settings = env.game, env.batch.settings
    shape = NetworkShape.of(game.observations, game.actions, settings.values, append_mask=True)
    model = MaskablePPO(
        LayoutPolicy,
        env,
        n_steps=32,
        batch_size=1024,
        n_epochs=4,
        learning_rate=2e-3,
        ent_coef=0.01,
        gamma=1.0,  # the whole reward comes within one game
        gae_lambda=0.9,
        policy_kwargs={"features_extractor_kwargs": {"shape": shape}},
        device="cpu",
    )
    latest = TorchPolicy(model.policy, "latest", append_mask=True)
    pool.replace([(latest, 0.7), ("random", 0.1), ("greedy", 0.2)])
    model.learn(10**12, callback=SelfPlay(pool, latest, arguments.minutes))
    model.save(arguments.save)

    agent = TorchPolicy(model.policy, "ppo", append_mask=True, deterministic=True)
    for opponent in ("random", "greedy"):
        result = evaluate(game, settings, agent, opponent, games=400)
        print(f"against {opponent}: {result.win_share:.1%} (95 % interval {result.low:.1%} to {result.high:.1%})")


if __name__ == "__main__":
    main()
