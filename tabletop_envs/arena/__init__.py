"""Games between agents as facts that anybody can check: recorded, stored, played again."""
