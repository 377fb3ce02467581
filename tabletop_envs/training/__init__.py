"""Training agents with MaskablePPO: a network that knows layouts, self-play against a pool, runs that resume."""
