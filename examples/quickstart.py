"""Ten lines: a whole game of random legal moves through the PettingZoo interface."""

import tabletop_envs

env = tabletop_envs.make("urbino", render_mode="ansi")
env.reset(seed=42)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

print(env.render())
print("points", info["points"], "places", info["places"])
