"""Pictures of positions: `scene` says what one is made of; `svg`, `raster` and `ansi` draw it, `modes` is for
environments."""
