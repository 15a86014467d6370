"""Damage to a file: flips, truncations, splices, lying lengths, huge and deep values, repetitions."""

from __future__ import annotations

import random
import re

HUGE = (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x80", b"999999999", b"-1")
NUMBERS = (b"0", b"-1", b"4294967296", b"99999999999999999999", b"1e999", b"NaN", b"\xc2\xb2")  # the last is ²
DEEP = (b"[", b'{"a":', b"(", b"((")
_DIGITS = re.compile(rb"\d+")


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
    match rng.randrange(10):
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
        case 5:
            data[place:place] = data[place : place + 1] * rng.choice((10, 1000, 100_000))
        case 6:
            data[place:place] = rng.choice(DEEP) * rng.choice((3, 2000, 100_000))
        case 7:
            _change_number(data, place, rng)
        case 8:
            length = rng.choice((4, 64, 4096))
            data[place : place + length] = bytes(len(data[place : place + length]))
        case _:
            _swap(data, place, rng)


def _change_number(data: bytearray, place: int, rng: random.Random) -> None:
    """Replace the next number that is written in digits."""
    if found := _DIGITS.search(data, place):
        data[found.start() : found.end()] = rng.choice(NUMBERS)


def _swap(data: bytearray, place: int, rng: random.Random) -> None:
    """Copy a part of the file over another: lengths stay, contents do not."""
    start, length = rng.randrange(len(data)), rng.choice((2, 16, 256, 4096))
    part = data[start : start + length]
    data[place : place + len(part)] = part
