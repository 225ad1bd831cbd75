"""From what a watcher heard to a step as JSON: calls with their places, and the memory in use after each."""
import collections
import functools
import math

from dragon import _C

WRITES = {"copy", "fill", "all_reduce", "broadcast_from"}  # into memory that was there before, mostly
LARGEST_REST = 4  # statistics beside a result go with it, where they are less than this share of it


def tell(watcher):
    """Return what a dry run found, as a dict that JSON can hold.

    Parameters
    ----------
    watcher : Watcher
        It has seen a step.

    Returns
    -------
    dict
        "paths" and "kinds" of modules, "parameters", "calls" (name, path, phase, bytes of the results, shapes of the
        operands), "modules" (path, bytes of what it gave out), "memory" and "collectives".

    """
    step = watcher.step
    order, nodes = arrange(step["events"])
    place_backward(order, nodes)
    calls = [[event["name"], event["path"], event["phase"], event["bytes"], event["shapes"], event["view"],
              (event["end"] - event["start"]) * 1e-9]
             for event in order]
    return {"paths": watcher.paths, "kinds": watcher.kinds, "parameters": watcher.parameters(),
            "persistent": step["persistent"], "others": step["others"], "calls": calls,
            "modules": [[number, size] for number, size, _ in step["calls"]],
            "saved": [[path, size, list(shape)] for _, kind, size, storage, path, shape in step["changes"]
                      if kind == "saved" and size > 0 and storage not in step["storages"]],
            "memory": trace_memory(step, order, nodes), "counts": len(step["events"])}


def arrange(events):
    """Return (calls that contain no other call, backward nodes), in the order of their ends.

    Parameters
    ----------
    events : Sequence[tuple]
        What the profile noted.

    Returns
    -------
    Tuple[List[dict], List[dict]]
        A call within a node has it under "node".

    """
    rows = sorted(({"name": name, "start": start, "end": end, "is node": is_node, "bytes": size, "shapes": shapes,
                    "where": where, "node": None, "whole": True}
                   for name, start, end, is_node, size, shapes, where in events),
                  key=lambda row: (row["start"], -row["end"]))
    around, calls, nodes = [], [], []
    for row in rows:
        while around and around[-1]["end"] <= row["start"]:
            around.pop()
        node = next((outer for outer in reversed(around) if outer["is node"]), None)
        row["node"] = node
        if row["is node"]:
            nodes.append(row)
        elif around and not around[-1]["is node"]:
            around[-1]["whole"] = False
        around.append(row)
        number, _, phase = row["where"].partition(" ")
        row["path"], row["phase"] = int(number or 0), phase or "forward"
        row["view"], row["several"] = (False, False) if row["is node"] else form_of(row["name"])
    calls = [row for row in rows if not row["is node"] and row["whole"]]
    return sorted(calls, key=lambda row: row["end"]), nodes


@functools.cache
def form_of(name):
    """Return whether an operator's result is a look at its operand's memory, and whether it has several results."""
    try:
        told = _C.schema(name)
    except (RuntimeError, ValueError, KeyError):
        return False, False
    return bool(told["view"]), bool(told["returns_list"]) or len(told["returns"]) > 1


def place_backward(calls, nodes):
    """Give calls of backward nodes the places of the calls that made the nodes: they run the other way round."""
    made = [row for row in sorted(calls, key=lambda row: row["start"]) if row["node"] is None]
    last = len(made)
    for node in nodes:
        for place in range(min(last, len(made)) - 1, -1, -1):
            if made[place]["name"] == node["name"] and made[place]["start"] < node["start"]:
                last, node["path"] = place, made[place]["path"]
                break
        else:
            node["path"] = made[min(last, len(made) - 1)]["path"] if made else 0
    for row in calls:
        if row["node"] is not None:
            row["path"], row["phase"] = row["node"]["path"], "backward"


class Pool:
    """Results on their way to the call that reads them, told by their sizes: calls are noted with shapes alone."""

    def __init__(self):
        self.bytes, self._free, self._joined, self._dying = 0, collections.Counter(), [], 0

    def add(self, size, is_joined):
        """A result was made, or several, of which the sum is known."""
        self.bytes += size
        if is_joined:
            self._joined.append(size)
        else:
            self._free[size] += 1

    def take(self, size):
        """Somebody holds a result from now on, who counts it by himself."""
        self.bytes -= self._find(size)

    def read(self, count, item):
        """A call reads a result of so many numbers, probably of a width; it lives as long as the call does."""
        for width in (item, 4, 2, 8):
            found = self._find(count * width)
            if found:
                self._dying += found
                return

    def _find(self, size):
        """Return the bytes of a result that is no longer waited for: its own, and the rest of those it came with."""
        if self._free[size]:
            self._free[size] -= 1
            return size
        for place in range(len(self._joined) - 1, -1, -1):
            rest = self._joined[place] - size
            if size and rest >= 0:
                if rest < size / LARGEST_REST:
                    return self._joined.pop(place)
                self._joined[place] = rest
                return size
        return 0

    def end_call(self):
        """What was read is no longer needed."""
        self.bytes -= self._dying
        self._dying = 0


def trace_memory(step, calls, nodes):
    """Return {"saved", "gradients", "passing", "others"}: bytes after each call, and at which "phase"."""
    persistent = step["storages"]
    changes = sorted((change for change in step["changes"] if change[3] not in persistent), key=lambda one: one[0])
    found = {"saved": [], "gradients": [], "passing": [], "others": [], "phase": []}
    now, pool, place = {"saved": 0, "gradients": step["gradients before"], "others": step["others"]}, Pool(), 0
    open_node = None
    for row in calls:
        if row["node"] is not open_node:
            pool.end_call()
            open_node = row["node"]
        item = item_size(row)
        for shape in row["shapes"]:
            pool.read(math.prod(shape), item)
        if not row["view"] and row["name"] not in WRITES and row["phase"] != "update":
            pool.add(row["bytes"], row["several"])
        while place < len(changes) and changes[place][0] <= row["end"]:
            _, kind, size, *_ = changes[place]
            now[kind] += size
            if size > 0 and kind in ("saved", "gradients"):
                pool.take(size)
            place += 1
        passing = pool.bytes if row["phase"] != "update" else row["bytes"]
        for name, number in (("saved", now["saved"]), ("gradients", now["gradients"]), ("passing", passing),
                             ("others", now["others"]), ("phase", row["phase"])):
            found[name].append(number)
        if open_node is None:
            pool.end_call()
    return found


def item_size(row):
    """Return the bytes of an element, guessed from a call's result: 4 unless that says otherwise."""
    counts = [math.prod(shape) for shape in row["shapes"]]
    for size in (4, 2, 8):
        if row["bytes"] and row["bytes"] % size == 0 and row["bytes"] // size in counts:
            return size
    return 4
