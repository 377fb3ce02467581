"""London."""

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="london",
    version=0,
    title="London",
    summary="Two to four players rebuild the city after the fire: cards, boroughs, loans and the poor.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 48_000, 3: 48_000, 4: 48_000},  # R16.2
    score_scale=40,
    options=(
        Choice("public_houses", "R9.15, R13.3", "when Public Houses spare the hand", ("both", "official", "end_only")),
        Integer("max_turns", "R12.4", "the game is scored after so many turns of all players", 240, 1, 1000),
        Integer("max_voluntary_loans_per_turn", "R11.5", "loans without need in one turn", 2, 0, 10),
        Flag("school_pays_activation", "R9.3", "a School turns any card into Great Exhibition's blue one"),
        Choice("count_scope", "R9.17, R9.18", "which cards Bridges and Town Houses count", ("visible", "all")),
    ),
)
