"""The Palaces of Carrara as a PettingZoo module: `carrara_v0.env()`, `raw_env()`, `parallel_env()`."""

from tabletop_envs.envs.aec import module_level

env, raw_env, parallel_env = module_level("carrara")
