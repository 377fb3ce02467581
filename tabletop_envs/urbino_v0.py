"""Urbino as a PettingZoo module: `urbino_v0.env()`, `urbino_v0.raw_env()`, `urbino_v0.parallel_env()`."""

from tabletop_envs.envs.aec import module_level

env, raw_env, parallel_env = module_level("urbino")
