"""What many processes make of a step: memory, what they send, and time, for each way of sharing it out."""
from dataclasses import dataclass, replace

from dragon.command.planning import chain, network, schedule
from dragon.distributed.gradients import ALONE_BYTES

BUCKET_BYTES = 25 << 20  # of gradients that are sent together


@dataclass(frozen=True)
class Layout:
    """How processes share a step out.

    Parameters
    ----------
    data : int, optional, default=1
        How many have batches of their own.
    tensor : int, optional, default=1
        How many share out each product.
    pipeline : int, optional, default=1
        How many have layers of their own.
    zero : int, optional, default=0
        What those with batches of their own share out: 1 the optimizer's state, 2 gradients as well, 3 weights as well.

    """

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    zero: int = 0

    @property
    def count(self):
        """How many processes there are."""
        return self.data * self.tensor * self.pipeline

    @property
    def name(self):
        """The layout in words."""
        words = [f"tensor {self.tensor}"] if self.tensor > 1 else []
        words += [f"pipeline {self.pipeline}"] if self.pipeline > 1 else []
        words += [(f"zero-{self.zero} " if self.zero else "data ") + str(self.data)] if self.data > 1 else []
        return " x ".join(words) or "one process"


def layouts(machines, local, units, tensor=None, pipeline=None):
    """Return the layouts worth a look in a world.

    Parameters
    ----------
    machines, local : int
        How many machines, and processes on each.
    units : int
        How many units the model has: no more stages than these.
    tensor, pipeline : int, optional
        Numbers that are settled.

    Returns
    -------
    List[Layout]
        All use all processes.

    """
    world, found = machines * local, []
    if world == 1:
        return [Layout()]
    tensors = [tensor] if tensor else sorted({1, local})
    pipelines = [pipeline] if pipeline else sorted({1, machines if machines > 1 else local, *(
        [2, 4] if machines * local >= 4 else [])})
    for shared in tensors:
        for stages in pipelines:
            if stages > units or world % (shared * stages):
                continue
            data = world // (shared * stages)
            zeros = (0, 1, 2, 3) if shared == stages == 1 else (0, 1) if data > 1 else (0,)
            found += [Layout(data, shared, stages, zero) for zero in zeros]
    return found


@dataclass
class Setting:
    """What a plan is made for.

    Parameters
    ----------
    step : dict
        Of a dry run.
    costs : Union[Table, Roofline]
        What calls cost.
    net : Network
        What it costs to send.
    machines, local : int
        How many machines, and processes on each.
    parts : int, optional
        Into how many parts pipelines cut a batch; four for each stage by default.
    order : str, optional, default="1f1b"
        The pipelines' schedule.
    cores : int, optional
        How many processes a machine runs at once; more of them wait for each other. As many as there are by default.

    """

    step: dict
    costs: object
    net: network.Network
    machines: int
    local: int
    parts: int = None
    order: str = "1f1b"
    cores: int = None

    def __post_init__(self):
        self.units = chain.make_chain(self.step, self.costs)
        self.update = sum(self.costs.seconds(call) for call in self.step["calls"] if call[2] == "update")
        self.crowd = max(self.local / self.cores, 1.0) if self.cores else 1.0

    def inside(self, layout):
        """Return ((machines, processes on each) of those with one another's batches, the same of those who share out).

        Those who share out products are neighbours; stages follow, and copies of all of it come last.
        """
        near = layout.tensor * layout.pipeline
        local = max(min(self.local // near, layout.data), 1)
        shared = min(self.local, layout.tensor)
        return (layout.data // local, local), (layout.tensor // shared, shared)


def plan(setting, layout):
    """Return what a layout takes.

    Parameters
    ----------
    setting : Setting
        What it is planned for.
    layout : Layout
        How processes share the step out.

    Returns
    -------
    dict
        "memory" by kind of the process that needs most, "stages" with that of each, "traffic" in bytes that a process
        sends in a step, "bubble", "seconds", "speed-up" over one process.

    """
    runs = chain.cut(setting.units, layout.pipeline) if layout.pipeline > 1 else [setting.units]
    parts = setting.parts or (4 * layout.pipeline if layout.pipeline > 1 else 1)
    if layout.tensor == layout.pipeline == 1:
        stages = [whole_memory(setting, layout)]
    else:
        kept = schedule.in_flight(layout.pipeline, parts, setting.order)
        stages = [stage_memory(setting, layout, run, parts, kept[place]) for place, run in enumerate(runs)]
    seconds, bubble, traffic = spend(setting, layout, runs, parts)
    alone = setting.update + sum(unit.forward + unit.backward for unit in setting.units)
    return {"layout": layout.name, "data": layout.data, "tensor": layout.tensor, "pipeline": layout.pipeline,
            "zero": layout.zero, "memory": max(stages, key=lambda stage: stage["total"]), "stages": stages,
            "units": [[run[0].name, run[-1].name] for run in runs], "parts": parts, "traffic": traffic,
            "bubble": bubble, "seconds": seconds, "one process": alone,
            "speed-up": layout.data * alone / seconds if seconds else None}


def whole_memory(setting, layout):
    """Return the memory of a process that has all layers: what outlives a step, and the highest of all that passes."""
    persistent, curve, count = setting.step["persistent"], setting.step["memory"], layout.data
    weights = persistent["parameters"] / (count if layout.zero == 3 else 1)
    state = persistent["state"] / (count if layout.zero else 1)
    share = 1 / count if layout.zero >= 2 else 1.0
    sent = 0
    if count > 1 and "DistributedDataParallel" not in setting.step["kinds"]:  # it has buckets of its own
        trained, copied = sent_bytes(setting)
        sent = copied if layout.zero < 2 else min(trained, BUCKET_BYTES)
    gathered = 2 * max(unit.parameters for unit in setting.units) if layout.zero == 3 and count > 1 else 0
    passing, gradients = 0, 0
    for saved, grads, between, others in zip(curve["saved"], curve["gradients"], curve["passing"], curve["others"]):
        if saved + grads * share + between + others > passing + gradients:
            passing, gradients = saved + between + others, grads * share
    return total_of(weights + gathered, gradients, state, passing, persistent["buffers"] + sent)


def sent_bytes(setting):
    """Return the bytes of gradients, and of those that are copied into buckets: large ones are sent as they are."""
    sizes = [size for _, _, size, _, is_trained in setting.step["parameters"] if is_trained]
    return sum(sizes), sum(size for size in sizes if size < ALONE_BYTES)


def stage_memory(setting, layout, run, parts, kept):
    """Return the memory of a process that has some layers, or a share of each, and keeps some parts of a batch."""
    count, shared = layout.data, layout.tensor
    weights, gradients, state, saved = (sum(unit.shared(what, shared) for unit in run)
                                        for what in ("parameters", "gradients", "state", "saved"))
    curve = setting.step["memory"]
    passing = (max(curve["passing"], default=0) / shared + max(curve["others"], default=0)) / parts
    trained, copied = sent_bytes(setting)
    buckets = 0 if count == 1 else gradients * copied / max(trained, 1)
    buffers = setting.step["persistent"]["buffers"] * len(run) / len(setting.units)
    return total_of(weights, gradients, state / (count if layout.zero else 1), saved * kept / parts + passing,
                    buffers + buckets)


def total_of(weights, gradients, state, activations, rest):
    """Return memory by kind, with the total."""
    return {"weights": round(weights), "gradients": round(gradients), "state": round(state),
            "activations": round(activations), "rest": round(rest),
            "total": round(weights + gradients + state + activations + rest)}


def spend(setting, layout, runs, parts):
    """Return (seconds of a step, the pipeline's bubble, bytes that a process sends at most)."""
    data, tensor = setting.inside(layout)
    forward, backward, traffic, sends = [], [], [], []
    for place, run in enumerate(runs):
        sums, count = sum(unit.sums for unit in run), sum(unit.sum_count for unit in run)
        between = count * setting.net.reduce(sums / max(count, 1) / parts, *tensor) if layout.tensor > 1 else 0.0
        calls = sum(unit.calls for unit in run)
        starts = setting.costs.between * calls * (parts - 1) / 2  # each part calls anew
        for times, what in ((forward, "forward"), (backward, "backward")):
            work = sum(unit.shared(what, layout.tensor) for unit in run)
            times.append(((work + starts) / parts) * setting.crowd + between)
        moved = 0 if layout.tensor == 1 else 2 * network.reduce_traffic(sums, layout.tensor)
        if layout.pipeline > 1:
            moved += (run[-1].output if place < len(runs) - 1 else 0) + (runs[place - 1][-1].output if place else 0)
            if place < len(runs) - 1:
                crosses = setting.machines > 1 and layout.tensor * layout.pipeline > setting.local
                sends.append(setting.net.send(run[-1].output / parts, crosses))
        traffic.append(moved)
    total, bubble = schedule.simulate(forward, backward, sends, parts, setting.order)
    after, moved = share_gradients(setting, layout, runs, data, backward)
    update = setting.update * setting.crowd / layout.tensor / layout.pipeline / (layout.data if layout.zero else 1)
    return total + after + update, bubble, max(traffic) + moved


def share_gradients(setting, layout, runs, data, backward):
    """Return (seconds for which a step waits for gradients and weights of others, bytes that each process sends)."""
    if layout.data == 1:
        return 0.0, 0.0
    longest, most = 0.0, 0.0
    # All processes of a machine send to other machines at once, each with its own group.
    net = replace(setting.net, between=setting.net.between / max(setting.local // data[1], 1))
    for run, seconds in zip(runs, backward):
        gradients = sum(unit.shared("gradients", layout.tensor) for unit in run)
        weights = sum(unit.shared("parameters", layout.tensor) for unit in run)
        reduced, gathered = net.reduce(gradients, *data), net.gather(weights, *data)
        if layout.zero:
            reduced = net.gather(gradients, *data)
        moved = network.reduce_traffic(gradients, layout.data) if not layout.zero else (
            network.gather_traffic(gradients, layout.data)
            + (2 if layout.zero == 3 else 1) * network.gather_traffic(weights, layout.data))
        waits = reduced
        if setting.costs.overlaps:
            waits = hidden(setting, layout, run, data, reduced, seconds)
        if layout.zero in (1, 2):
            waits += gathered
        elif layout.zero == 3:
            first = net.gather(run[0].parameters, *data)
            waits += 2 * gathered if not setting.costs.overlaps else first + max(
                2 * gathered - sum(unit.forward + unit.backward for unit in run) / layout.tensor, 0.0)
        longest, most = max(longest, waits), max(most, moved)
    return longest, most


def hidden(setting, layout, run, data, seconds, backward):
    """Return for how long a step waits for gradients that were sent while others were computed."""
    total = sum(unit.shared("gradients", layout.tensor) for unit in run) or 1
    time, sent = 0.0, 0.0
    scale = backward / (sum(unit.shared("backward", layout.tensor) for unit in run) or 1)
    for unit in reversed(run):
        time += unit.shared("backward", layout.tensor) * scale
        sent = max(sent, time) + seconds * unit.shared("gradients", layout.tensor) / total
    return max(sent - time, 0.0)
