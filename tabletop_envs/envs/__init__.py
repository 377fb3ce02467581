"""Shells around any game: PettingZoo AEC, batches, Stable-Baselines3."""
