"""Umbra Via: stub page."""

from tabletop_envs.core.spec import Choice, Counts, GameSpec, Integer, Subset

GAME = GameSpec(
    id="umbra_via",
    version=0,
    title="Umbra Via",
    summary="Two to four players bid flowers in secret for path tiles, and complete paths to win back their soul.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 2550, 3: 3450, 4: 4350},  # R13.2
    score_scale=6,
    options=(
        Subset("special_tiles", "R10.1", "which special tiles are in the stack", ("four_point", "void", "block")),
        Integer("victory_target", "R9.2", "claims that win", 13, 1),
        Choice(
            "summon_ties",
            "R8.5",
            "how equal sums are ranked in a summoning",
            ("track_move", "track_static", "friendly"),
        ),
        Counts("tile_mix", "R1.3", "regular tiles in the stack", ("straight", "bend", "tee"), (6, 6, 5), 1, 60),
        Integer("max_rounds", "R9.5", "the game is scored as it stands after so many rounds", 150, 1, 150),
    ),
)
