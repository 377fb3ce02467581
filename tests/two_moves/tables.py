"""Two moves has two seats and nothing else."""

from __future__ import annotations

from typing import Final

SEATS: Final = 2
