"""A game as one HTML page to step through: it needs no network and no other file. Knows no game.

Pictures of successive steps are almost the same, and so are lines of one picture. So the page holds each part of a line
of SVG once, each line as the numbers of its parts, and each picture as the numbers of its lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from tabletop_envs.errors import OptionError
from tabletop_envs.render.frame import Frame, seat_name
from tabletop_envs.render.svg import svg

SECONDS: Final = 0.8  # a step while the page plays

_NAMESPACE: Final = ' xmlns="http://www.w3.org/2000/svg"'  # a page knows what svg is, and so names no address at all
_PART: Final = re.compile(r"(?<=>)(?=<)|(?<=[.,;] )")  # between elements, and between the facts of a caption
_SPEEDS: Final = (0.5, 1, 2, 4)  # times as fast

# button -> (what it does, key, outline of its icon in a square of 24)
_BUTTONS: Final = {
    "first": ("first step", "Home", "M6 5h2.5v14H6zM19 5v14L9.5 12z"),
    "back": ("previous step", "Left arrow", "M17 5v14L7 12z"),
    "play": ("play", "Space", "M7 4.5v15L19.5 12z"),
    "next": ("next step", "Right arrow", "M7 5v14l10-7z"),
    "last": ("last step", "End", "M15.5 5H18v14h-2.5zM5 5v14l9.5-7z"),
}
_PAUSE: Final = "M6.5 5h4v14h-4zM13.5 5h4v14h-4z"

_STYLE: Final = """
:root { color-scheme: light dark; --back: #f6f4ef; --card: #fffdf8; --ink: #23211d; --faint: #6b665c; --line: #ddd6c8;
  --accent: #a8501f; --chosen: #f3e2d3; }
@media (prefers-color-scheme: dark) {
  :root { --back: #17191d; --card: #20242a; --ink: #ece8df; --faint: #a19b8f; --line: #363b44; --accent: #f0a06a;
    --chosen: #3b3027; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 12px 16px 16px; display: grid; gap: 12px 20px;
  grid-template-columns: minmax(0, 1fr) 360px; }
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 20px; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
.back { color: var(--accent); }
h2 { font-size: .8rem; margin: 0 0 6px; color: var(--faint); text-transform: uppercase; letter-spacing: .06em; }
#board svg { display: block; margin: 0 auto; border-radius: 8px; height: auto;
  width: min(100%, calc((100vh - 235px) * var(--ratio))); }
#now { margin: 10px 0 0; text-align: center; overflow-wrap: anywhere; }
#now b { font-weight: 600; }
#events { list-style: none; margin: 0; padding: 0; min-height: 1.45em; text-align: center; color: var(--faint);
  font-size: .92rem; }
#events li { display: inline; }
#events li + li::before { content: " \\b7  "; }
#slider { display: block; width: 100%; height: 32px; margin: 2px 0; accent-color: var(--accent); cursor: pointer; }
.controls { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; align-items: center; }
button, select { min-height: 44px; border: 1px solid var(--line); border-radius: 8px; background: var(--card);
  color: inherit; font: inherit; cursor: pointer; }
button { min-width: 52px; padding: 6px 10px; display: inline-flex; align-items: center; justify-content: center; }
button:hover:not(:disabled), select:hover { border-color: var(--accent); }
button:disabled { opacity: .4; cursor: default; }
select { padding: 4px 8px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button svg { width: 24px; height: 24px; fill: currentColor; }
#play { background: var(--accent); border-color: var(--accent); color: var(--back); min-width: 68px; }
aside { display: flex; flex-direction: column; gap: 12px; min-height: 0; max-height: calc(100vh - 68px); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px; }
.log { display: flex; flex-direction: column; min-height: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 3px 0 3px 10px; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child { text-align: left; padding-left: 0; font-weight: 400; overflow-wrap: anywhere; }
thead th { color: var(--faint); font-weight: 400; font-size: .85rem; }
#steps { list-style: none; margin: 0; padding: 0; overflow-y: auto; position: relative;
  font-size: .95rem; }
#steps a { display: flex; gap: 8px; padding: 5px 8px; border-radius: 6px; color: inherit; text-decoration: none; }
#steps a:hover { text-decoration: underline; }
#steps a[aria-current] { background: var(--chosen); }
#steps .number { flex: none; min-width: 1.8em; text-align: right; color: var(--faint);
  font-variant-numeric: tabular-nums; }
#steps .what { min-width: 0; overflow-wrap: anywhere; }
#steps small { display: block; color: var(--faint); }
.keys, .note { color: var(--faint); font-size: .85rem; text-align: center; margin: 10px 0 0; }
.note { text-align: left; margin: 6px 0 0; }
@media (max-width: 900px) {
  main { grid-template-columns: minmax(0, 1fr); padding: 10px; }
  aside { max-height: none; }
  #board svg { width: 100%; }
  #steps { max-height: 45vh; }
  #events { min-height: 2.9em; }
  .controls { gap: 6px; }
  button { min-width: 48px; }
  .keys { display: none; }
}
@media (max-width: 420px) {
  button { min-width: 42px; padding: 6px 4px; }
  #play { min-width: 56px; }
  select { padding: 4px 2px; }
}
@media (max-height: 520px) and (orientation: landscape) {
  #board svg { width: min(100%, calc((100vh - 185px) * var(--ratio))); min-width: 240px; }
  #now { margin-top: 4px; }
  #events { min-height: 1.45em; }
}
"""

_SCRIPT: Final = """
"use strict";
const game = JSON.parse(document.getElementById("game").textContent);
const at = id => document.getElementById(id);
const last = game.frames.length - 1;
const links = [...document.querySelectorAll("#steps a")];
const lines = game.lines.map(runs => joined(runs, game.parts, ""));
let step = -1, timer = null;

function joined(runs, texts, between) {
  const found = [];
  for (let i = 0; i < runs.length; i += 2) found.push(...texts.slice(runs[i], runs[i] + runs[i + 1]));
  return found.join(between);
}

function cells(name, values) {
  document.querySelectorAll("td." + name).forEach((cell, seat) => {
    cell.textContent = values ? values[seat] : "\\u2013";
  });
}

function show(number, scroll = true) {
  number = Math.max(0, Math.min(last, number));
  if (number === step) return;
  step = number;
  const frame = game.frames[step];
  at("board").innerHTML = joined(frame.picture, lines, "\\n");
  at("count").textContent = step + " of " + last;
  at("words").textContent = frame.words;
  at("events").replaceChildren(...frame.events.map(text => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  cells("points", frame.points);
  cells("places", frame.places);
  at("slider").value = step;
  at("slider").setAttribute("aria-valuetext", "step " + step + " of " + last + ", " + frame.words);
  at("first").disabled = at("back").disabled = step === 0;
  at("next").disabled = at("last").disabled = step === last;
  links.forEach((link, index) => {
    if (index === step) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
  const list = at("steps"), item = links[step].parentElement;
  if (scroll) list.scrollTop = item.offsetTop - (list.clientHeight - item.clientHeight) / 2;
  try { history.replaceState(null, "", "#step=" + step); } catch (error) { /* some viewers forbid it */ }
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").setAttribute("aria-label", "play");
  at("play").querySelector("path").setAttribute("d", game.icons.play);
  at("now").setAttribute("aria-live", "polite");
}

function play() {
  if (timer !== null) return stop();
  if (step === last) show(0);
  at("now").setAttribute("aria-live", "off");
  at("play").setAttribute("aria-label", "pause");
  at("play").querySelector("path").setAttribute("d", game.icons.pause);
  run();
}

function run() {
  clearInterval(timer);
  timer = setInterval(() => {
    show(step + 1);
    if (step === last) stop();
  }, 1000 * game.seconds / Number(at("speed").value));
}

function go(number) {
  if (timer !== null) stop();
  show(number);
}

const moves = {
  first: () => go(0),
  back: () => go(step - 1),
  play: play,
  next: () => go(step + 1),
  last: () => go(last),
};
for (const [name, move] of Object.entries(moves)) at(name).addEventListener("click", move);
at("slider").addEventListener("input", () => go(Number(at("slider").value)));
at("speed").addEventListener("change", () => { if (timer !== null) run(); });
links.forEach((link, index) => link.addEventListener("click", event => {
  event.preventDefault();
  if (timer !== null) stop();
  show(index, false);
}));

const keys = { Home: "first", ArrowLeft: "back", " ": "play", ArrowRight: "next", End: "last" };
document.addEventListener("keydown", event => {
  const name = keys[event.key], on = event.target;
  if (!name || event.ctrlKey || event.altKey || event.metaKey || on.matches("select")) return;
  if (event.key === " " ? on.matches("button, a") : on.matches("input")) return;  // these have a meaning of their own
  event.preventDefault();
  moves[name]();
});

function from_address() {
  const found = /^#step=([0-9]+)$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}
window.addEventListener("hashchange", () => { if (from_address() !== null) go(from_address()); });
show(from_address() ?? 0);
"""


def page(
    frames: Sequence[Frame],
    title: str,
    players: Sequence[str] = (),
    seconds: float = SECONDS,
    back: tuple[str, str] | None = None,
) -> str:
    """The page as a text.

    frames: the steps of a game, the first one before any decision; players: names by seat; seconds: how long a step
    stands while the page plays; back: address and words of a link to where one comes from. `#step=12` behind the page's
    address opens it at that step.

    Raises OptionError for no frames, or a time that is not possible.
    """
    if not frames:
        raise OptionError("a page needs at least one frame: give the position before the first decision")
    if not seconds > 0:
        raise OptionError(f"{seconds} seconds a step are not possible: give more than 0")
    ratio = frames[0].scene.width / frames[0].scene.height
    last = len(frames) - 1
    speeds = "".join(
        f'<option value="{factor}"{" selected" if factor == 1 else ""}>{factor}&times;</option>' for factor in _SPEEDS
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<header>{_back(back)}<h1>{escape(title)}</h1></header>
<div>
<div id="board" style="--ratio: {ratio:.4f}"></div>
<p id="now" aria-live="polite"><b id="count"></b> &middot; <span id="words"></span></p>
<ul id="events" aria-label="what happened by itself"></ul>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="step">
<div class="controls">
{_controls()}
<select id="speed" aria-label="speed">{speeds}</select>
</div>
<p class="keys">Left and right arrow: step &middot; Space: play &middot; Home, End: first and last</p>
<noscript><p>The pictures need JavaScript; the decisions are listed below.</p></noscript>
</div>
<aside>
{_outcome(frames, players)}
<section class="log" aria-labelledby="log"><h2 id="log">Decisions</h2>
<ol id="steps" start="0">
{_steps(frames)}
</ol></section>
</aside>
</main>
<script type="application/json" id="game">{_data(frames, seconds)}</script>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _back(back: tuple[str, str] | None) -> str:
    return "" if back is None else f'<a class="back" href="{escape(back[0])}">&larr; {escape(back[1])}</a>'


def _controls() -> str:
    return "\n".join(
        f'<button type="button" id="{name}" aria-label="{does}" title="{does} ({key})">'
        f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{icon}"/></svg></button>'
        for name, (does, key, icon) in _BUTTONS.items()
    )


def _outcome(frames: Sequence[Frame], players: Sequence[str]) -> str:
    """The table of points and places; their cells are filled step by step."""
    seats = max((len(frame.points or ()) for frame in frames), default=0)
    if not seats:
        return ""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(seat_name(seat, players[seat] if players else ""))}</th>'
        '<td class="points"></td><td class="places"></td></tr>'
        for seat in range(seats)
    )
    known = all(frame.points is not None for frame in frames)
    note = "" if known else '\n<p class="note">Shown when the game is over, as they may count what is secret.</p>'
    return f"""<section aria-labelledby="outcome"><h2 id="outcome">Points and places</h2>
<table><thead><tr><th scope="col">seat</th><th scope="col">points</th><th scope="col">place</th></tr></thead>
<tbody>
{rows}
</tbody></table>{note}</section>"""


def _steps(frames: Sequence[Frame]) -> str:
    items = []
    for number, frame in enumerate(frames):
        events = f"<small>{escape('; '.join(frame.events))}</small>" if frame.events else ""
        items.append(
            f'<li><a href="#step={number}"><span class="number">{number}</span>'
            f'<span class="what">{escape(frame.words)}{events}</span></a></li>'
        )
    return "\n".join(items)


def _data(frames: Sequence[Frame], seconds: float) -> str:
    """What the script reads, as JSON that can stand inside a page."""
    parts: dict[str, int] = {}
    lines: dict[str, int] = {}
    coded: list[list[int]] = []
    steps: list[dict[str, Any]] = []
    for frame in frames:
        picture = svg(frame.scene).replace(_NAMESPACE, "", 1).split("\n")
        for line in picture:
            if line not in lines:
                lines[line] = len(lines)
                coded.append(_runs(parts.setdefault(part, len(parts)) for part in _PART.split(line)))
        steps.append(
            {
                "picture": _runs(lines[line] for line in picture),
                "words": frame.words,
                "events": frame.events,
                "points": frame.points,
                "places": frame.places,
            }
        )
    icons = {"play": _BUTTONS["play"][2], "pause": _PAUSE}
    content = {"seconds": seconds, "icons": icons, "parts": list(parts), "lines": coded, "frames": steps}
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _runs(numbers: Iterable[int]) -> list[int]:
    """Numbers as runs that rise by one: first, how many, first, how many and so on."""
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [number, 1]
    return runs
