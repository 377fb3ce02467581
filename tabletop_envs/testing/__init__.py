"""The conformance suite: what every game must pass, ours or outside. It knows the contract and no single game.

    from tabletop_envs.testing import conformance
    assert all(report.ok for report in conformance("urbino", print))

`CHECKS` lists the checks by name; `transcript` writes a game in readable form; `python -m tabletop_envs.testing
write-golden FOLDER` renews golden files.
"""

from tabletop_envs.testing.golden import transcript
from tabletop_envs.testing.subject import GREEDY, MIXED, RANDOM, reach, walk
from tabletop_envs.testing.suite import CHECKS, Report, conformance

__all__ = ["CHECKS", "GREEDY", "MIXED", "RANDOM", "Report", "conformance", "reach", "transcript", "walk"]
