"""Training agents with MaskablePPO: a network that knows layouts, self-play against a pool, runs that resume."""

import os

# Read when torch is loaded: threads that wait for each other sleep instead of spinning. On a quiet machine that costs
# nothing, on a busy one spinning threads slow training down several times.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
