"""Hansa Teutonica: two to five merchants lay trade routes between 27 cities, and push each other off them."""

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="hansa_teutonica",
    version=0,
    title="Hansa Teutonica",
    summary="Two to five merchants fill trade routes, found offices, and are paid for being pushed aside.",
    package=__name__,
    min_players=2,
    max_players=5,
    max_decisions={2: 6228, 3: 6228, 4: 6228, 5: 6228},  # R17.3
    score_scale=20,
    options=(
        Choice("edition", "R16.1", "the set of markers, and what remove three does", ("original", "bigbox")),
        Flag("merchant_in_square", "R16.2", "a merchant may fill a square office", True),
        Choice("east_west", "R16.3", "when the east-west network pays", ("end", "immediate")),
        Flag("swap_requires_own", "R16.4", "one of two swapped offices must be the player's own"),
        Flag("allow_early_end", "R16.5", "a turn may be ended with actions left", True),
        Flag("two_player_pawn", "R16.6", "two players only: a pawn says where routes may be used", players=(2,)),
        Integer("max_rounds", "R16.7", "turns of each player after which the game is scored as it stands", 100, 1),
    ),
)
