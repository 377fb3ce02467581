"""Urbino."""

from tabletop_envs.core.spec import Flag, GameSpec

GAME = GameSpec(
    id="urbino",
    version=0,
    title="Urbino",
    summary="Two players build houses, palaces and towers where the sight lines of two shared architects cross.",
    package=__name__,
    min_players=2,
    max_players=2,
    max_decisions={2: 110},  # R10.7
    score_scale=12,
    auto_forced=False,  # R10.6
    opening_decisions=2,  # both architects
    options=(
        Flag("monuments", "R11", "three buildings in line can count double"),
        Flag("build_planes", "R12.3", "seven more observation planes: lots, and where each colour may build"),
    ),
)
