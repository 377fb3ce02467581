"""One step of a game as it is shown: what pages, films and terminals are made of. Knows no game."""

from __future__ import annotations

from dataclasses import dataclass

from tabletop_envs.render.scene import Scene


@dataclass(frozen=True)
class Frame:
    """A position behind a decision, as a viewer sees it.

    scene: the picture; seat: who decided, None before the first decision; player: that seat's name; decision: in
    words, as far as the viewer learns of it; events: what happened by itself since, in words; points, places: by
    seat, running or final, None where the viewer may not know them yet.
    """

    scene: Scene
    seat: int | None = None
    player: str = ""
    decision: str = ""
    events: tuple[str, ...] = ()
    points: tuple[int, ...] | None = None
    places: tuple[int, ...] | None = None

    @property
    def words(self) -> str:
        """Who decided what, in one line."""
        if self.seat is None:
            return self.decision or "the beginning"
        return f"{seat_name(self.seat, self.player)}: {self.decision}"


def seat_name(seat: int, player: str) -> str:
    """A seat with the name of who sits there."""
    return f"seat {seat} ({player})" if player else f"seat {seat}"
