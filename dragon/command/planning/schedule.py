"""Pipelines: in which order stages take their parts of a batch, and how long they wait for each other."""

SCHEDULES = ("1f1b", "gpipe")


def orders(stages, parts, schedule):
    """Return what each stage does, in order: ("forward" or "backward", part).

    Parameters
    ----------
    stages : int
        How many there are.
    parts : int
        How many parts a batch has.
    schedule : str
        "gpipe": all forward passes, then all backward ones; "1f1b": backward ones as soon as they can be.

    Returns
    -------
    List[List[Tuple[str, int]]]
        One list for each stage.

    """
    found = []
    for stage in range(stages):
        ahead = parts if schedule == "gpipe" else min(stages - stage, parts)
        order = [("forward", part) for part in range(ahead)]
        if schedule == "gpipe":
            order += [("backward", part) for part in reversed(range(parts))]
        else:
            for part in range(parts):
                order.append(("backward", part))
                if ahead + part < parts:
                    order.append(("forward", ahead + part))
        found.append(order)
    return found


def in_flight(stages, parts, schedule):
    """Return of how many parts each stage keeps what its backward pass needs, at most."""
    return [parts if schedule == "gpipe" else min(stages - stage, parts) for stage in range(stages)]


def simulate(forward, backward, sends, parts, schedule):
    """Return (seconds from the first pass to the last, the share of them in which stages wait).

    Parameters
    ----------
    forward, backward : Sequence[float]
        Seconds of each stage for one part.
    sends : Sequence[float]
        Seconds from each stage to the next, and back.
    parts : int
        How many parts.
    schedule : str
        "1f1b" or "gpipe".

    Returns
    -------
    Tuple[float, float]
        The time and the bubble.

    """
    count = len(forward)
    waiting = [iter(order) for order in orders(count, parts, schedule)]
    heads = [next(order) for order in waiting]
    clock, done = [0.0] * count, {}
    while any(head is not None for head in heads):
        moved = False
        for stage, head in enumerate(heads):
            while head is not None:
                ready = _ready(head, stage, count, done, sends)
                if ready is None:
                    break
                seconds = forward[stage] if head[0] == "forward" else backward[stage]
                clock[stage] = max(clock[stage], ready) + seconds
                done[(*head, stage)] = clock[stage]
                head, moved = next(waiting[stage], None), True
            heads[stage] = head
        if not moved:
            raise RuntimeError(f"simulate: got the schedule {schedule!r}, in which all stages wait for each other")
    total = max(clock)
    busy = parts * sum(a + b for a, b in zip(forward, backward))
    return total, (1 - busy / (count * total) if total else 0.0)


def _ready(head, stage, count, done, sends):
    """Return when a pass may begin; None while what it needs is not there."""
    kind, part = head
    if kind == "forward":
        before = done.get(("forward", part, stage - 1)) if stage else 0.0
        return None if before is None else before + (sends[stage - 1] if stage else 0.0)
    if stage == count - 1:
        return done.get(("forward", part, stage))
    after = done.get(("backward", part, stage + 1))
    return None if after is None else after + sends[stage]
