"""The report of `explain()` about a captured function."""
from dragon.core.capture.lines import definition


def explain(function):
    """Return a report on a captured function, for people."""
    lines = [f"{function.__name__} ({definition(function._function)})"]
    if function.fallback:
        lines.append(f"  runs as plain Python: {function.fallback}")
    lines.append(f"  {len(function.variants)} graphs")
    for number, reason in enumerate(function.retraces, start=2):
        lines.append(f"  capture {number} was made because of {reason}")
    for number, variant in enumerate(function.variants, start=1):
        lines += _explain_variant(number, variant)
    return "\n".join(lines)


def _explain_variant(number, variant):
    costs = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in variant.seconds.items())
    calls = variant.captured.graph.calls
    lines = [f"  graph {number}: {len(calls)} operators as captured, run {variant.calls} times; cost: {costs}"]
    for name, text in _reports(variant):
        lines += [f"    {name}:", *(f"      {line}" for line in text.splitlines())]
    lines.append(f"    guards ({len(variant.guards)}):")
    entries = variant.guards.lines()
    lines += [f"      {entry}" for entry in entries[:40]]
    if len(entries) > 40:
        lines.append(f"      ... and {len(entries) - 40} more")
    return lines


def _reports(variant):
    """Return what the plans tell of themselves: (title, text)."""
    rows = [f"{name}: {before} -> {after} operators, {nanoseconds / 1e6:.2f} ms"
            for name, nanoseconds, before, after in variant.compiled.reports]
    if rows:
        yield "passes", "\n".join(rows)
    for title, plan in (("forward", variant.compiled.forward), ("backward", variant.compiled.backward)):
        if plan is not None:
            memory = plan.memory
            yield title, (f"{plan.step_count} steps; memory {memory['planned']} bytes in {memory['buffers']} buffers, "
                          f"{memory['naive']} if each value had its own")
