"""The rules of an evaluation: what a report must tell, for others to believe it and to repeat it."""
import math
import statistics

LEAST_RUNS, MOST_RUNS = 5, 7
HARDWARE = ("processor", "processors", "memory")
SIDES = ("dragon", "torch")


def judge(report):
    """Return what a report lacks.

    Parameters
    ----------
    report : dict
        Of `dragon evaluate`, perhaps written down and read again.

    Returns
    -------
    Dict[str, str]
        By rule: what is amiss. Empty where all is told.

    """
    found = {}
    for rule, check in RULES.items():
        try:
            said = check(report)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            said = f"it is not told, or not as it should be ({type(error).__name__}: {error})"
        if said:
            found[rule] = said
    return found


def _sides(report):
    sides = report["sides"]
    if not isinstance(sides, list) or not sides:
        raise ValueError("no sides")
    return sides


def _measured(report):
    """Yield (net, side, figures) of all that was run."""
    for net in report["nets"]:
        for world in net["worlds"]:
            for side in _sides(report):
                if "not run" not in world:
                    yield net, side, world["sides"][side]


def _hardware(report):
    missing = [name for name in HARDWARE if not report["hardware"].get(name)]
    return f"the {', '.join(missing)} is not told" if missing else None


def _versions(report):
    wanted = ("python", "system", *_sides(report))
    missing = [name for name in wanted if not report["versions"].get(name)]
    return f"the version of {', '.join(missing)} is not told" if missing else None


def _same_net(report):
    for net, side, figures in _measured(report):
        if not isinstance(net["parameters"], int) or net["parameters"] < 1:
            return f"{net['name']}: how many parameters it has is not told"
        if figures["parameters"] != net["parameters"]:
            return f"{net['name']}: {side} has {figures['parameters']} parameters, expected {net['parameters']}"
    return None if report["nets"] else "there is no net"


def _same_data(report):
    for net, side, figures in _measured(report):
        if len(net["data"]) != 64 or int(net["data"], 16) < 0:
            return f"{net['name']}: the data have no SHA-256"
        if figures["data"] != net["data"]:
            return f"{net['name']}: {side} has data of {figures['data'][:12]}, expected {net['data'][:12]}"
    return None


def _recipe(report):
    recipe = report["recipe"]
    missing = [name for name in ("command", "program", "steps", "seed") if recipe.get(name) in (None, "", [])]
    return f"{', '.join(missing)} is not told" if missing else None


def _runs(report):
    count = 0
    for net, side, figures in _measured(report):
        runs, count = figures["runs"], count + 1
        if not LEAST_RUNS <= len(runs) <= MOST_RUNS:
            return f"{net['name']}: {side} was run {len(runs)} times, expected {LEAST_RUNS} to {MOST_RUNS}"
        if not all(math.isfinite(run) and run > 0 for run in runs):
            return f"{net['name']}: {side} has a throughput that is no number above 0"
        if not math.isclose(statistics.median(runs), figures["median"], rel_tol=1e-9):
            return f"{net['name']}: {side} tells {figures['median']}, expected the middle of its runs"
    return None if count else "nothing was run"


def _flags(report):
    for side in SIDES:
        if side not in _sides(report):
            return f"{side} was not run beside it" if side == "torch" else "dragon was not run"
        if not report["flags"][side].get("environment") or not report["flags"][side].get("build"):
            return f"those of {side} are not told"
    return None


RULES = {
    "hardware": _hardware,
    "versions": _versions,
    "same net": _same_net,
    "same data": _same_data,
    "recipe": _recipe,
    "median of runs": _runs,
    "flags of both sides": _flags,
}
