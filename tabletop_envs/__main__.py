"""`python -m tabletop_envs`: the command line."""

from tabletop_envs.cli import main

main()
