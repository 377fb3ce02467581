"""Bit sets in non-negative int64 words: the lowest bit, the highest bit, the number of bits.

A word holds at most 62 elements, so that the same code runs with the JIT off, where numpy would turn uint64 with
int64 into floats.
"""

from __future__ import annotations

from tabletop_envs.core.jit import COMPILED

if COMPILED:
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic
    def lowest_bit(typingctx, word):
        """Index of the lowest bit; 64 for the empty word."""

        def generate(context, builder, signature, values):
            return builder.cttz(values[0], context.get_constant(types.boolean, 0))

        return types.int64(types.int64), generate

    @intrinsic
    def highest_bit(typingctx, word):
        """Index of the highest bit; -1 for the empty word."""

        def generate(context, builder, signature, values):
            zeros = builder.ctlz(values[0], context.get_constant(types.boolean, 0))
            return builder.sub(context.get_constant(types.int64, 63), zeros)

        return types.int64(types.int64), generate

    @intrinsic
    def count_bits(typingctx, word):
        """Number of bits."""

        def generate(context, builder, signature, values):
            return builder.ctpop(values[0])

        return types.int64(types.int64), generate

else:

    def lowest_bit(word):  # type: ignore[misc]
        """Index of the lowest bit; 64 for the empty word."""
        word = int(word)
        return (word & -word).bit_length() - 1 if word else 64

    def highest_bit(word):  # type: ignore[misc]
        """Index of the highest bit; -1 for the empty word."""
        return int(word).bit_length() - 1

    def count_bits(word):  # type: ignore[misc]
        """Number of bits."""
        return int(word).bit_count()
