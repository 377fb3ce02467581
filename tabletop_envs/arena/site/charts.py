"""Small pictures of numbers as SVG, drawn when a page is built: intervals along an axis.

They take their colours from the page, by class. What they show stands beside them in numbers, so a screen reader passes
them over.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

WIDTH: Final = 220
HEIGHT: Final = 34
_BAR: Final = 9  # above and below a bar
_MARGIN: Final = 16  # room for half a number at either end of an axis
_TICKS: Final = 4  # about how many numbers an axis bears


class Axis:
    """A span of numbers and where they lie on WIDTH.

    values: what has to be within, None for nothing; zero is always.
    """

    def __init__(self, values: Iterable[float | None]) -> None:
        known = [0.0, *(value for value in values if value is not None)]
        self.low, self.high = min(known), max(known)
        if self.low == self.high:
            self.high = self.low + 1
        self.step = _step((self.high - self.low) / _TICKS)
        first, last = math.ceil(self.low / self.step - 1e-9), math.floor(self.high / self.step + 1e-9)
        self.ticks = [number * self.step for number in range(first, last + 1)]

    def at(self, value: float) -> float:
        """The place of a number from the left."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _MARGIN + share * (WIDTH - 2 * _MARGIN)

    def numbers(self) -> Markup:
        """The numbers along the axis."""
        texts = [f'<text x="{_n(self.at(tick))}" y="12">{_label(tick)}</text>' for tick in self.ticks]
        return _picture("axis", 16, "".join(texts))

    def interval(self, value: float | None, low: float | None, high: float | None) -> Markup:
        """A point with its interval."""
        return self._drawn(self._interval(value, low, high))

    def step_of(self, start: float, end: float, low: float, high: float) -> Markup:
        """A bar from start to end, with the interval of its end."""
        left, right = sorted((self.at(start), self.at(end)))
        bar = f'<rect class="step" x="{_n(left)}" y="{_BAR}" width="{_n(right - left)}" height="{HEIGHT - 2 * _BAR}"/>'
        return self._drawn(bar + self._interval(end, low, high))

    def _interval(self, value: float | None, low: float | None, high: float | None) -> str:
        shapes, middle = "", HEIGHT / 2
        if low is not None and high is not None:
            left, right = self.at(low), self.at(high)
            shapes += f'<line class="span" x1="{_n(left)}" x2="{_n(right)}" y1="{_n(middle)}" y2="{_n(middle)}"/>'
        if value is not None:
            shapes += f'<circle class="dot" cx="{_n(self.at(value))}" cy="{_n(middle)}" r="4.5"/>'
        return shapes

    def _drawn(self, shapes: str) -> Markup:
        grid = "".join(
            f'<line class="{"zero" if tick == 0 else "grid"}" x1="{_n(x)}" x2="{_n(x)}" y1="0" y2="{HEIGHT}"/>'
            for tick in self.ticks
            for x in [self.at(tick)]
        )
        return _picture("chart", HEIGHT, grid + shapes)


def _picture(kind: str, height: int, inside: str) -> Markup:
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" aria-hidden="true">'
        f"{inside}</svg>"
    )


def _step(least: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _label(value: float) -> str:
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def _n(value: float) -> str:
    return f"{value:.1f}"
