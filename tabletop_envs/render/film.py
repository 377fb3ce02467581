"""A game as a film: an animated GIF by Pillow, an MP4 by imageio-ffmpeg (the extra `video`). Knows no game.

Each step is one picture with a strip below it that tells the decision in words and how far the game is.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from tabletop_envs.errors import MissingExtraError, OptionError
from tabletop_envs.render.frame import Frame
from tabletop_envs.render.raster import PIXELS, rgb_array
from tabletop_envs.render.scene import Group, Rect, Scene, Shape, Text

SECONDS: Final = 0.8  # a step, unless told otherwise
SHORTEST: Final = 0.02  # a step: what viewers of GIFs can show
_LAST: Final = 3  # times as long stands the last picture

_STRIP: Final = 0.065  # the strip's height, in shorter sides of the picture
_LETTERS: Final = 0.46  # height of its font, in heights of the strip
_ADVANCE: Final = 0.6  # width of a letter of it, in heights of the font
_MARGIN: Final = 0.5  # left of the words, in heights of the font
_BAR: Final = 0.08  # height of the line that tells how far the game is, in heights of the strip
_DARK: Final = "#20242b"
_LIGHT: Final = "#f4f1ea"
_ACCENT: Final = "#e08a4b"

_COLOURS: Final = 256
_RATE: Final = 10  # pictures a second in an MP4, at least: repeated ones cost nothing, and fewer confuse players
_QUALITY: Final = 8.0  # of imageio-ffmpeg, 0 to 10


def pictures(frames: Sequence[Frame], pixels: int = PIXELS) -> Iterator[np.ndarray]:
    """The pictures of the steps, all of one size: uint8 of shape (height, width, 3), the shorter side `pixels` long."""
    width = max(frame.scene.width for frame in frames)
    height = max(frame.scene.height for frame in frames)
    for number, frame in enumerate(frames):
        yield rgb_array(_with_strip(frame, number, len(frames) - 1, width, height), pixels)


def _with_strip(frame: Frame, number: int, last: int, width: float, height: float) -> Scene:
    scene = frame.scene
    strip = _STRIP * min(width, height)
    size = _LETTERS * strip
    words = f"{number}/{last}  {frame.words}"
    room = int((width / size - 2 * _MARGIN) / _ADVANCE)
    if len(words) > room:
        words = words[: room - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    bar = _BAR * strip
    shapes: tuple[Shape | Group, ...] = (
        *scene.shapes,
        Rect(0, height, width, strip, fill=_DARK),
        Text(_MARGIN * size, height + (strip - bar) / 2, words, size, fill=_LIGHT),
        Rect(0, height + strip - bar, width * number / max(last, 1), bar, fill=_ACCENT),
    )
    return Scene(width, height + strip, scene.background, shapes, scene.title)


def gif(frames: Sequence[Frame], path: str | Path, *, pixels: int = PIXELS, seconds: float = SECONDS) -> None:
    """Write an animated GIF that repeats for ever.

    pixels: the shorter side of the picture; seconds: how long a step stands, the last one longer. Raises OptionError
    for sizes and times that are not possible.
    """
    times = _times(frames, seconds)
    first, *others = [
        Image.fromarray(array).quantize(_COLOURS, dither=Image.Dither.NONE) for array in pictures(frames, pixels)
    ]
    data = io.BytesIO()
    milliseconds = [round(1000 * time) for time in times]
    first.save(data, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0)
    with open(path, "wb") as file:
        file.write(data.getvalue())


def mp4(frames: Sequence[Frame], path: str | Path, *, pixels: int = PIXELS, seconds: float = SECONDS) -> None:
    """Write an MP4 (H.264).

    The arguments and errors are those of `gif`, and MissingExtraError where imageio-ffmpeg is not installed.
    """
    try:
        from imageio_ffmpeg import write_frames
    except ImportError as error:
        raise MissingExtraError("MP4 needs imageio-ffmpeg: pip install 'tabletop-envs[video]'") from error
    times = _times(frames, seconds)
    writer = None
    for array, time in zip(pictures(frames, pixels), times, strict=True):
        if writer is None:
            with open(path, "wb"):  # for an error that names the file: ffmpeg's does not
                pass
            height, width, _ = array.shape
            writer = write_frames(
                str(path),
                (width, height),
                fps=1 / seconds,
                quality=_QUALITY,
                macro_block_size=2,
                output_params=["-r", str(max(_RATE, math.ceil(1 / seconds)))],
            )
            writer.send(None)
        for _ in range(round(time / seconds)):
            writer.send(np.ascontiguousarray(array))
    if writer is not None:
        writer.close()


def _times(frames: Sequence[Frame], seconds: float) -> list[float]:
    if not seconds >= SHORTEST:
        raise OptionError(f"{seconds} seconds a step are not possible: give at least {SHORTEST}")
    return [seconds] * (len(frames) - 1) + [seconds * _LAST]
