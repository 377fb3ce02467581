"""Umbra Via as a PettingZoo module: `umbra_via_v0.env()`, `umbra_via_v0.raw_env()`, `umbra_via_v0.parallel_env()`."""

from tabletop_envs.envs.aec import module_level

env, raw_env, parallel_env = module_level("umbra_via")
