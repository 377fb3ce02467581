"""Hansa Teutonica as a PettingZoo module: `hansa_teutonica_v0.env()`, `.raw_env()`, `.parallel_env()`."""

from tabletop_envs.envs.aec import module_level

env, raw_env, parallel_env = module_level("hansa_teutonica")
