"""The Palaces of Carrara: two to four builders, a turning market of marble, and an end that players may announce."""

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="carrara",
    version=0,
    title="The Palaces of Carrara",
    summary="Two to four players buy marble on a turning wheel, build in six cities and choose when to score them.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 6400, 3: 9600, 4: 12800},  # R17.11
    score_scale=30,
    options=(
        Choice("wheel_setup", "R2.5", "the first six bricks on the wheel", ("random_six", "one_of_each")),
        Choice("exhaustion", "R8.2", "when the tiles are used up and the end comes", ("no_refill", "all_built")),
        Flag("no_turn", "R11", "a purchase may leave the wheel as it stands"),
        Flag("cards", "R12", "four cards out of 31 set objectives and final scoring"),
        Flag("monuments", "R13", "buildings of cost 8, and improvements of cities"),
        Flag("colour_scoring", "R14", "scorings of all city and of all country buildings"),
        Choice("improvement_supply", "R13.6", "how many improvements there are", ("one_per_city", "eight")),
        Choice("payment", "R5.3", "who chooses the bricks that are paid", ("choose", "auto")),
        Flag("open_holdings", "R15.3", "everybody is shown coins, bricks and objects of everybody"),
        Integer("max_rounds", "R8.8", "the game is scored as it stands after so many rounds", 200, 1, 10_000),
    ),
)
