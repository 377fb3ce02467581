"""London as a picture."""

from tabletop_envs.render.scene import Cell, Scene, Rect


def scene(s, viewer):
    return Scene(100, 100, "#ffffff", (Rect(0, 0, 10, 10, fill="#000000"),), "London", (), ("x",))
