"""A plan as people read it."""
from dragon.command.planning.units import write_seconds
from dragon.core.units import count_bytes

HEAD = ("", "weights", "gradients", "state", "activations", "rest", "in all", "sent", "bubble", "step", "speed-up")


def as_lines(report):
    """Return a report on a program as lines.

    Parameters
    ----------
    report : dict
        What `dragon plan --json` prints.

    Returns
    -------
    List[str]
        The lines.

    """
    step = report["program"]
    lines = [f"{report['script']}: {step['parameters'] / 1e6:.2f} M parameters in {step['units']} units; a step has "
             f"{step['calls']} calls and {step['multiply-adds'] / 1e9:.3g} G multiply-adds, and takes "
             f"{write_seconds(step['seconds'])} in one process",
             f"memory of one process: {count_bytes(step['memory']['total'])}"]
    if report["asked"]:
        lines.append("numbers that nobody has computed were asked for, and 1.0, 0 or False answered: " + ", ".join(
            f"{path}:{line}" for path, line, _ in report["asked"][:5]) + (", ..." if report["asked"][5:] else ""))
    for world in report["worlds"]:
        lines += ["", f"{world['machines']} x {world['local']}"] + table(world["plans"], report["device memory"])
        best = world["best"]
        lines.append("nothing fits" if best is None else f"fastest that fits: {best}")
        lines += [line for plan in world["plans"] if plan["layout"] == best for line in stages_of(plan)]
    return lines + ["", f"costs: {report['costs']}"]


def table(plans, limit):
    """Return a table of plans."""
    rows = [HEAD]
    for plan in plans:
        memory = plan["memory"]
        rows.append((plan["layout"], *(short_bytes(memory[kind]) for kind in
                                       ("weights", "gradients", "state", "activations", "rest")),
                     short_bytes(memory["total"]) + ("" if fits(plan, limit) else " !"), short_bytes(plan["traffic"]),
                     f"{plan['bubble']:.0%}", write_seconds(plan["seconds"]), f"{plan['speed-up']:.2f}"))
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    return ["  ".join([row[0].ljust(widths[0])] + [word.rjust(width) for word, width in zip(row[1:], widths[1:])])
            .rstrip() for row in rows]


def fits(plan, limit):
    """Return whether a plan's processes have enough memory."""
    return limit is None or plan["memory"]["total"] <= limit


def stages_of(plan):
    """Return lines about the stages of a pipeline."""
    if plan["pipeline"] == 1:
        return []
    return [f"  stage {place}: {first.partition('/')[2]} to {last.partition('/')[2]}, "
            f"{count_bytes(memory['total'])}"
            for place, ((first, last), memory) in enumerate(zip(plan["units"], plan["stages"]))]


def short_bytes(number):
    """Return a number of bytes with three digits."""
    return count_bytes(number, 2 if number < 10 * 2 ** 30 else 1) if number else "0"
