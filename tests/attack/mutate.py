"""Damage to a file: flips, truncations, splices, lying lengths, huge values, repetitions."""

from __future__ import annotations

import random

HUGE = (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x80", b"999999999", b"-1")


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Damage a file in one to four places."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _damage(changed, rng)
    return bytes(changed)


def _damage(data: bytearray, rng: random.Random) -> None:
    if not data:
        return
    # Headers decide most: half of the damage goes to the beginning.
    place = rng.randrange(min(len(data), 512) if rng.random() < 0.5 else len(data))
    match rng.randrange(6):
        case 0:
            data[place] ^= 1 << rng.randrange(8)
        case 1:
            data[place] = rng.randrange(256)
        case 2:
            del data[place : place + rng.choice((1, 8, len(data)))]
        case 3:
            value = rng.choice(HUGE)
            data[place : place + len(value)] = value
        case 4:
            start = rng.randrange(len(data))
            data[place:place] = data[start : start + rng.randrange(64)]
        case _:
            data[place:place] = data[place : place + 1] * rng.choice((10, 1000, 100_000))
