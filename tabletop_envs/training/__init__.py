"""Training agents with MaskablePPO: a network that knows layouts, self-play against a pool, runs that resume."""

import os

# Read when torch is loaded: threads that wait for each other sleep instead of spinning. That costs about a sixth of the
# speed on a machine of its own, but where others work too, spinning threads slow training down several times. Set
# OMP_WAIT_POLICY=ACTIVE for a machine of its own.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
