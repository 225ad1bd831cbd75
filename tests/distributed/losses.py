"""Losses that a training has written down, of each step as often as it was made."""


def read_losses(folder):
    """Return {step: its losses, one for each time that it was made}."""
    found = {}
    path = folder / "losses"
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.split()
        if len(words) == 2 and words[1].startswith(("0x", "-0x")) and "p" in words[1]:
            found.setdefault(int(words[0]), []).append(words[1])
    return found


def find_difference(found, expected):
    """Return how losses differ from those of an undisturbed training of as many steps, or None."""
    for step, losses in found.items():
        if set(losses) != set(expected.get(step, ())):
            return f"step {step}: got losses {losses}, expected {expected.get(step)}"
    steps = max(found, default=0)
    return None if sorted(found) == list(range(1, steps + 1)) else f"steps are missing up to {steps}"
