"""London as a PettingZoo module: `london_v0.env()`, `london_v0.raw_env()`, `london_v0.parallel_env()`."""

from tabletop_envs.envs.aec import module_level

env, raw_env, parallel_env = module_level("london")
