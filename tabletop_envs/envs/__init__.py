"""Shells around any game: PettingZoo AEC, Gymnasium, batches, Stable-Baselines3."""
