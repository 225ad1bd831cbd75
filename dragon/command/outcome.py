"""What `dragon verify` found: as a dict that JSON can hold, and as lines."""
import math
import re

from dragon.command.program import one_line, short
from dragon.command.sway import AHEAD, FACTOR
from dragon.command.tracing import source
from dragon.core.units import count_bytes

# Printed lines that speak of time or memory differ from run to run.
FLEETING = re.compile(r"\b(\d+(\.\d+)?\s*(s|ms|us|µs|sec|secs|seconds|min|minutes|[KMG]i?B)\b|time|took|elapsed|"
                      r"duration|speed|it/s|samples/s|\S+/sec\w*)|ms/|s/step|/tmp/", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b")
PRINTED = 1e-3  # how far numbers in printed lines may differ, relatively, where --rtol says nothing
SIDES = ("genuine", "dragon")


def make(options, comparison, part, sides, known=None):
    """Return the report.

    Parameters
    ----------
    options : argparse.Namespace
        The command's.
    comparison : Comparison
        What was compared.
    part : dict
        Where the sides part, or None.
    sides : Sequence[Side]
        The runs, which have ended: genuine, Dragon's, and the second genuine one, if it was asked for.
    known : Sway, optional
        What the second genuine run tells.

    Returns
    -------
    dict
        The report.

    """
    told = {side.name: side.tell(comparison.said(place)) for place, side in enumerate(sides[:2])}
    notes = [f"{name} was called {count} times more on the {side} side, by the framework"
             for (name, side), count in comparison.skipped.most_common(5)]
    cut = [side.name for side in sides[:2] if side.cut]
    if part and part["why"] == "end" and cut:
        part = None
    beyond = tell_beyond(known, comparison, part)
    if part and beyond:
        part = None
    printed = None
    if part is None and not cut:
        part = parting_ends(told)
        printed = compare_printed([side.read("stdout") for side in sides], options.rtol)
        if part is None and "differ" in printed and not beyond:
            part = {"why": "printed", "place": None, **printed["differ"]}
    if cut:
        notes.append(f"the {' and the '.join(cut)} side was ended since its time was over: what came later is unknown")
    stopped = [side for side in SIDES if told[side].get("stopped")]
    notes += [f"both were ended after {options.lines} lines, as asked"] if len(stopped) == 2 else []
    if part and part["why"] == "end" and part["dragon"] == "end" and "error" in told["dragon"]:
        part.update(why="raise", side="dragon", error="{type}: {message}".format(**told["dragon"]["error"]), other=None)
    if part:
        part.update(describe_place(part, comparison))
    verdict = "parts" if part else "unknown" if cut and not comparison.lines else "equal"
    return {"verdict": verdict, "script": options.script, "seed": options.seed,
            "lines": comparison.lines, "tensors": comparison.tensors, "numbers": comparison.numbers,
            "drift": comparison.worst, "sway": tell_sway(known, comparison, part, beyond), "part": part,
            "printed": printed, "sides": told, "notes": notes}


def tell_beyond(known, comparison, part):
    """Return where the genuine framework takes another way by itself, if that is before the sides part."""
    if known is None or not known.is_beyond(comparison.parted if part else None) or known.end[1] is None:
        return None
    return {"file": known.end[1][0], "line": known.end[1][1]}


def tell_sway(known, comparison, part, beyond):
    """Return what the second genuine run told, or None where there was none."""
    if known is None:
        return None
    told = {"values": comparison.swaying, "factor": known.factor, "largest": comparison.furthest, "beyond": beyond}
    if part and part["why"] == "value":
        told.update(comparison.apart)
    return told


def parting_ends(told):
    """Return how the two ends differ, or None."""
    kinds = [told[side].get("error", {}).get("kinds", []) for side in SIDES]
    statuses = [told[side].get("status", 0) for side in SIDES]
    if bool(kinds[0]) != bool(kinds[1]) or kinds[0] and not set(kinds[0]) & set(kinds[1]):
        side = "genuine" if kinds[0] else "dragon"
        error = told[side]["error"]
        return {"why": "raise", "side": side, "error": "{type}: {message}".format(**error), "place": error["place"],
                "other": None}
    if statuses[0] != statuses[1]:
        return {"why": "status", "place": None, "genuine": statuses[0], "dragon": statuses[1]}
    return None


def compare_printed(printed, relative):
    """Return {"lines": how many, "equal": how many, "differ": the first that do} of what the sides printed.

    Parameters
    ----------
    printed : Sequence[str]
        What the genuine and the Dragon side printed, and the second genuine run, if there was one: where that differs
        from the first, Dragon may as well.
    relative : float
        How far numbers may differ, or None.

    Returns
    -------
    dict
        The comparison.

    """
    lines = [re.sub(r"[^\n]*\r(?=[^\n])", "", text).splitlines() for text in printed]
    spread = printed_spread(*lines[::2]) if len(lines) > 2 else {}
    equal = 0
    for place in range(max(map(len, lines[:2]))):
        first, second = (side[place] if place < len(side) else None for side in lines[:2])
        if None not in (first, second) and (first == second or is_same_line(first, second, relative)):
            equal += 1
        elif None in (first, second) or not (
                FLEETING.search(first + second) or is_spread(first, second, place, spread)):
            return {"lines": len(lines[0]), "equal": equal,
                    "differ": {"printed line": place + 1, "genuine": first, "dragon": second}}
    return {"lines": len(lines[0]), "equal": equal}


def printed_spread(first, second):
    """Return {words of lines: [(place, how far the numbers of two genuine runs are from each other, relatively)]}."""
    spread = {}
    for place, (one, other) in enumerate(zip(first, second)):
        if one != other and words_of(one) == words_of(other):
            gaps = [abs(float(a) - float(b)) / max(abs(float(a)), 1e-30)
                    for a, b in zip(NUMBER.findall(one), NUMBER.findall(other))]
            spread.setdefault(tuple(words_of(one)), []).append((place, gaps))
    return spread


def is_spread(first, second, place, spread):
    """Return whether two printed lines differ as far as lines with those words do in two genuine runs."""
    words = words_of(first)
    known = [gaps for when, gaps in spread.get(tuple(words), ()) if when <= AHEAD * place + 1]
    if not known or words != words_of(second):
        return False
    return all(is_near(a, b, PRINTED) or abs(float(a) - float(b)) <= FACTOR * max(gaps) * max(abs(float(a)), 1e-30)
               for a, b, *gaps in zip(NUMBER.findall(first), NUMBER.findall(second), *known))


def words_of(line):
    """Return the words of a line, without the numbers in it."""
    return NUMBER.sub("#", line).split()


def is_same_line(first, second, relative):
    """Return whether two lines say the same but for the last digits of numbers."""
    if words_of(first) != words_of(second):
        return False
    return all(is_near(a, b, PRINTED if relative is None else relative)
               for a, b in zip(NUMBER.findall(first), NUMBER.findall(second)))


def is_near(first, second, relative):
    """Return whether two printed numbers are equal but for rounding: by half of the last digit, or relatively."""
    a, b = float(first), float(second)
    if first == second or a != a and b != b:
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    if "." not in first + second and "e" not in (first + second).lower():
        return False
    digits = max((len(text.partition(".")[2]) for text in (first, second) if "e" not in text.lower()), default=17)
    return abs(a - b) <= max(relative * abs(a), 1.01 * 10.0 ** -digits)


def describe_place(part, comparison):
    """Return the text of the line where the sides part, and what is known of the names that it reads."""
    place = part.get("place")
    if not place:
        return {}
    text = source.read(place[0])
    found = {"file": place[0], "line": place[1], "source": source_line(*place[:2]), "reads": {}}
    status = comparison.frames[-1].status if comparison.frames else {}
    if part["why"] not in ("value", "absent"):
        return found
    for name in text.read_names(place[1]):
        known = {path: words for path, words in status.items()
                 if (path == name or path.startswith((name + ".", name + "["))) and path != part.get("name")}
        if known and name != "self":  # of which a method's frame has looked at little
            found["reads"][name] = summarise(list(known.values()))
    return found


def summarise(words):
    """Return one word for the states of several values: equal only if all are."""
    if all(word == "equal" for word in words):
        return "equal"
    within = [float(word.removeprefix("within ")) for word in words if word.startswith("within")]
    return f"within {max(within):.1e}" if within else "parts"


def source_line(path, line):
    """Return a line of a file, or an empty string."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((text.strip() for number, text in enumerate(file, 1) if number == line), "")
    except OSError:
        return ""


def as_text(report):
    """Return a report as lines."""
    counts = f"{report['lines']} lines, {report['tensors']} tensors and {report['numbers']} numbers"
    if report["verdict"] == "unknown":
        lines = ["unknown: no line had run when the time was over, so nothing was compared"]
    elif report["part"] is None:
        lines = [f"equal on {counts}"]
        if report["drift"]:
            drift = report["drift"]
            lines.append(f"largest difference: {drift['drift']:.0f} units of rounding, `{drift['name']}` at "
                         f"{short(drift['file'])}:{drift['line']}")
        if report["printed"] and report["printed"]["lines"]:
            lines.append(f"printed: {report['printed']['equal']} of {report['printed']['lines']} lines equal; the rest "
                         "speaks of time or memory, or differs as far as rounding brings the genuine framework")
            if report["printed"]["equal"] == report["printed"]["lines"]:
                lines[-1] = f"printed: all {report['printed']['lines']} lines equal"
    else:
        lines = tell_part(report["part"]) + [f"equal before: {counts}"]
    lines += tell_rounding(report["sway"]) if report["sway"] else []
    lines += [tell_side(name, report["sides"][name]) for name in SIDES]
    return "\n".join(lines + [f"note: {note}" for note in report["notes"]])


def tell_rounding(sway):
    """Say what the second genuine run told, as lines."""
    lines = []
    if sway["values"]:
        most = sway["largest"]
        lines.append(f"rounding: {sway['values']} values are beyond the tolerances, as they are when the genuine "
                     f"framework adds up in another order (furthest: `{most['name']}` at {short(most['file'])}:"
                     f"{most['line']}, {measure(most['distance'])}, genuine {measure(most['own'])})")
    if sway.get("own") is not None:
        lines.append("rounding does not explain it: the genuine framework, adding up in another order, is "
                     f"{measure(sway['own'])} from itself there, Dragon {measure(sway['distance'])}")
    if sway["beyond"]:
        lines.append(f"rounding: at {short(sway['beyond']['file'])}:{sway['beyond']['line']} the genuine framework "
                     "takes another way by itself when it adds up in another order; what comes later is not judged")
    return lines


def measure(far):
    """Return a distance as text: of floats relative to their size, of what is exact by count."""
    return f"{far:.1e}"


def tell_part(part):
    """Return where and how the sides part, as lines."""
    where = f"part at {short(part['file'])}:{part['line']}" if "file" in part else "part"
    lines = {"value": tell_value, "raise": tell_raised, "flow": tell_flow, "end": tell_flow, "absent": tell_absent,
             "printed": tell_printed, "status": tell_status}[part["why"]](part)
    lines[0] = f"{where}, {lines[0]}" if "file" in part else f"{where}: {lines[0]}"
    if part.get("source"):
        lines.insert(1, f"    {part['source']}")
    if part.get("reads"):
        lines.append("first computed from " + ", ".join(f"`{name}` ({word})" for name, word in part["reads"].items()))
    return lines


def tell_value(part):
    """Say how a value differs."""
    name, (first, second) = part["name"], (part[side] for side in SIDES)
    kind = f"{first['dtype']}[{', '.join(map(str, first['shape']))}]" if "shape" in first else ""
    if part["what"] in ("shape", "dtype"):
        told = " against ".join(f"{value['dtype']}[{', '.join(map(str, value['shape']))}]" for value in (first, second))
        return [f"`{name}`: {part['what']}: {told}"]
    if part["what"] == "kind":
        return [f"`{name}`: another kind: {first} against {second}"]
    if "value" in first and "value" in second:
        gap = f" (difference {part['difference']:.1e})" if "difference" in part else ""
        return [f"`{name}`: {kind}{': ' if kind else ''}{first['value']!r} against {second['value']!r}{gap}"]
    lines = [f"`{name}`: {kind}"]
    if "elements" in part:
        gap = f"largest difference {part['difference']:.1e}" if "difference" in part else "they differ"
        seen = "" if part["all elements"] else ", of the elements that were looked at"
        lines[0] += f": {part['elements'][0]!r} against {part['elements'][1]!r} ({gap} at {part['index']}{seen})"
    for side, value in zip(SIDES, (first, second)):
        if "mean" in value:
            lines.append(f"    {side:8} min {value['min']:.6g}, max {value['max']:.6g}, mean {value['mean']:.6g}, "
                         f"rms {value['rms']:.6g}" + f", {value['not finite']} not finite" * bool(value["not finite"]))
    return lines


def tell_raised(part):
    """Say who raises what."""
    side, other = part["side"], "dragon" if part["side"] == "genuine" else "genuine"
    lines = [f"the {side} side raises and the {other} side {'raises something else' if part['other'] else 'goes on'}:",
             f"    {side:8} {one_line(part['error'])}"]
    return lines + ([f"    {other:8} {one_line(part['other'])}"] if part["other"] else [])


def tell_flow(part):
    """Say where each goes on."""
    return ["after which they go other ways:"] + [f"    {side:8} {tell_event(part[side])}" for side in SIDES]


def tell_event(event):
    """Say what an event is."""
    if isinstance(event, str):
        event = [event]
    if event[0] == "line":
        return f"runs {short(event[1])}:{event[2]}"
    if event[0] == "call":
        return f"calls {event[2]} ({short(event[1])}:{event[3]})"
    return {"return": "leaves the function", "end": "ends"}.get(event[0], event[0])


def tell_absent(part):
    """Say which side lacks a name."""
    return [f"`{part['name']}`: the {part['missing']} side has no such tensor"]


def tell_printed(part):
    """Say which printed line differs."""
    return [f"printed line {part['printed line']}:"] + [
        f"    {side:8} {part[side] if part[side] is not None else '(nothing)'}" for side in SIDES]


def tell_status(part):
    """Say how the exit statuses differ."""
    return [f"the genuine side ends with status {part['genuine']}, the dragon side with {part['dragon']}"]


def tell_side(name, side):
    """Return time, memory and end of a side; without the colours that a message may have."""
    seconds = "" if side["seconds"] is None else f"{side['seconds']:.2f} s, "
    memory = "no figures" if side["peak memory"] is None else f"{seconds}peak {count_bytes(side['peak memory'])}"
    said = one_line(side["error"]["message"]) if side.get("error") else ""
    end = f"; ended by {side['error']['type']}: {said}" if said else ""
    return f"{name:8} {memory}{end}"
