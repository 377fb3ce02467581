"""What every game shares: records, compiled loops, layouts, the contract of a game."""
