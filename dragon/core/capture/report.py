"""The report of `explain()` about a captured function."""
from dragon.core.capture.source_lines import definition


class Report(str):
    """What is known of a captured function: the text, and a picture of the memory of its plans."""

    def __new__(cls, text, name, plans):
        made = super().__new__(cls, text)
        made._name, made._plans = name, plans
        return made

    def __reduce__(self):
        return str, (str(self),)  # plans stay where they are

    def memory(self):
        """Return the picture of the memory of the graph that was used last.

        Returns
        -------
        dragon.core.pictures.memory.MemoryPicture
            Its `show()`, `save(path)`, `html()` and `text`.

        """
        from dragon.core.pictures.memory import MemoryPicture
        if not self._plans:
            raise RuntimeError(f"explain: got {self._name} without a graph, expected a call that became one before")
        return MemoryPicture(self._name, self._plans)

    def show(self):
        """Show the memory of the plan: in the notebook, in a browser, or as text where there is no screen."""
        self.memory().show()

    def save(self, path):
        """Write the picture of the memory to a file.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            A file whose name ends in .html, .svg or .txt.

        """
        self.memory().save(path)

    def _repr_html_(self):
        from dragon.core.pictures.page import escape
        picture = self.memory()._repr_html_() if self._plans else ""
        return f"<pre>{escape(self)}</pre>{picture}"


def explain(function):
    """Return a report on a captured function, for people."""
    plans = [(title, plan) for variant in function.variants[:1] for title, plan in _plans(variant) if plan is not None]
    return Report(_describe(function), function.__name__, plans)


def _plans(variant):
    if variant.parts is not None:
        return [(f"part {number + 1}, {name}", plan) for number, program in variant.parts.plans
                for name, plan in (("forward", program.forward), ("backward", program.backward))]
    return ("forward", variant.compiled.forward), ("backward", variant.compiled.backward)


def _describe(function):
    lines = [f"{function.__name__} ({definition(function._function)})"]
    if function.fallback:
        lines.append(f"  runs as plain Python: {function.fallback}")
    lines.append(f"  {len(function.variants)} graphs")
    if function._unsettled and not function.fallback:
        lines.append(f"  the next call is captured: the last one changed something in Python ({function._unsettled})")
    for number, reason in enumerate(function.retraces, start=2):
        lines.append(f"  capture {number} was made because of {reason}")
    if function._sizes_fixed:
        lines.append(f"  a graph is for one size each: {function._sizes_fixed}")
    for number, variant in enumerate(function.variants, start=1):
        lines += _explain_variant(number, variant)
    return "\n".join(lines + _regions(function))


def _regions(function, indent="  "):
    """Return one line for each module that a function left to Python calls, and for what breaks each that is none."""
    regions, lines = function.regions, []
    for region in () if regions is None else regions.functions.values():
        count, place = len(region.variants), definition(region._function)
        runs = sum(variant.calls for variant in region.variants)
        told = f"{count} graph{'s' * (count != 1)}, run {runs} times" if count else "no graph"
        why = f"; runs as plain Python: {region.fallback}" if region.fallback else ""
        lines.append(f"{indent}region {region.__name__} ({place}): {told}{why}")
        lines += _regions(region, f"{indent}  ")
    if regions is not None and regions.small:
        lines.append(f"{indent}{regions.small} regions are too small for graphs")
    return lines


def _explain_variant(number, variant):
    costs = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in variant.seconds.items())
    calls = variant.captured.graph.calls
    lines = [f"  graph {number}: {len(calls)} operators as captured, run {variant.calls} times; cost: {costs}"]
    if variant.sized is not None:
        axes = ", ".join(f"axis {axis} of argument {number}" for number, axis in variant.axes)
        lines.append(f"    for all sizes of {axes}; plans for {len(variant.sized.sizes)} of them")
        lines += [f"      where {condition}" for condition in variant.sized.conditions]
    if variant.parts is not None:
        lines.append(f"    in {len(variant.parts.procedure)} parts, as the program looks at numbers:")
        lines += [f"      {place}" for place in variant.parts.looks]
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
            for name, nanoseconds, before, after in (variant.compiled.reports if variant.compiled else ())]
    if rows:
        yield "passes", "\n".join(rows)
    for title, plan in _plans(variant):
        if plan is not None:
            memory = plan.memory
            yield title, (f"{plan.step_count} steps; memory {memory['planned']} bytes in {memory['buffers']} buffers, "
                          f"{memory['naive']} if each value had its own{_device_graphs(plan)}")


def _device_graphs(plan):
    captures, runs, refusal = plan.device_graphs
    if refusal:
        return f"; no CUDA graph: {refusal}"
    return f"; as a CUDA graph run {runs} times, noted down {captures} times" if captures else ""
