"""Numbers with units, as a command line has them."""
import re

POWERS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "ki": 2 ** 10, "mi": 2 ** 20, "gi": 2 ** 30,
          "ti": 2 ** 40}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def amount(text):
    """Return a number such as 80G, 312T or 1.5GiB; the unit behind the power (B, B/s, FLOPS) may be left out."""
    found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?) ?([kmgtp]i?)?(?:b|b/s|bps|flops|flop/s)?", text.strip().lower())
    try:
        number = float(found[1]) * POWERS[found[2] or ""]
    except (TypeError, ValueError):
        raise ValueError(text) from None
    if not number > 0:
        raise ValueError(text)
    return number


amount.__name__ = "a number with a power, such as 80G or 1.5T"


def duration(text):
    """Return the seconds of a text such as 5us or 0.1ms."""
    found = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?) ?(s|ms|us|ns)", text.strip().lower())
    try:
        return float(found[1]) * SECONDS[found[2]]
    except (TypeError, ValueError):
        raise ValueError(text) from None


duration.__name__ = "a time, such as 5us or 0.1ms"


def worlds(text):
    """Return [(machines, processes on each)] of a text such as 8x4 or 1x1,1x8,128x8."""
    found = []
    for one in text.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*[x×]\s*([0-9]+)\s*", one)
        if match is None or not int(match[1]) * int(match[2]):
            raise ValueError(text)
        found.append((int(match[1]), int(match[2])))
    return found


worlds.__name__ = "machines x processes on each, such as 8x4, or several as 1x1,1x8,128x8"


def write_seconds(seconds):
    """Return a time as people read it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e6:.3g} us"
