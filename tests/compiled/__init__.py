"""Compiled functions of the tests: they stand in a folder of their own, whose digest names their cache."""
