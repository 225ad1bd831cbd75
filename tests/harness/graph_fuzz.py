"""Damage the bytes of graphs, and load them: run as a program, under a limit of memory, by tests/graph.

Two kinds of damage: bytes are flipped, cut, spliced and their lengths edited; and messages are made that are well
formed and senseless: any operator over any shapes, with any numbers for attributes.
"""
import collections
import random
import resource
import sys

from dragon import _C
from harness.graph_samples import SAMPLES
from harness.limits import limit_addresses

MEMORY = 3 << 30  # of addresses: libraries and threads' stacks reserve most of it
LENGTHS = (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\xff\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x08", b"\x80",
           b"\xff\xff\x03", b"\x00")
INTEGERS = (0, 1, 2, 3, 4, -1, -2, 5, 7, 8, 64, -64, 2**31 - 1, -2**31, 2**31, 2**32, 2**62, -2**63, 2**63 - 1, 100)
REALS = (0.0, 1.0, -1.0, 0.5, 2.0, 1e-5, float("inf"), float("nan"), 1e300, -3.5)
TEXTS = ("", "none", "mean", "sum", "constant", "reflect", "linear", "nearest", "bilinear", "valid", "same", "ij",
         "i,j->ij", "ij,jk->ik", "...i->i", "tanh", "fro", "floor", "trunc", "ortho", "->", ",,,")
SIZES = (0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 8)
HUGE = (0, 1, 2, 2**20, 2**31, 2**40)


def mutate(data, others, pick):
    """Return damaged bytes."""
    data = bytearray(data)
    for _ in range(pick.choice((1, 1, 1, 2, 4))):
        place, kind = pick.randrange(len(data) + 1), pick.randrange(6)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << pick.randrange(8)
        elif kind == 1:
            del data[place:]
        elif kind == 2:
            other = pick.choice(others)
            start = pick.randrange(len(other))
            data[place:place + pick.randrange(40)] = other[start:start + pick.randrange(40)]
        elif kind == 3 and place < len(data):
            data[place] = pick.randrange(256)
        elif kind == 4:
            data[place:place + pick.randrange(2)] = pick.choice(LENGTHS)
        else:
            del data[place:place + pick.randrange(8)]
    return bytes(data)


class Nonsense:
    """Makes messages of one call that protobuf finds nothing wrong with."""

    def __init__(self, pick):
        from dragon.core import proto
        self.pick, self.proto = pick, proto
        self.schemas = [_C.schema(name) for name in _C.op_names()]

    def make(self, number):
        """Return the bytes of a graph that calls operator `number`, counted round."""
        pick, schema = self.pick, self.schemas[number % len(self.schemas)]
        graph = self.proto.messages()["GraphDef"](version=1, inputs=range(6))
        common, dtype = self.make_shape(), pick.choice((9, 9, 9, 9, 10, 6, 5, 1, 7, 8, 11, 12))
        for _ in range(6):
            value = graph.values.add(dtype=dtype if pick.random() < 0.8 else pick.randrange(1, 13))
            value.shape.extend(common if pick.random() < 0.5 else self.make_shape())
            if pick.random() < 0.1:
                value.strides.extend(pick.choice((0, 1, 2, 8, 2**40)) for _ in value.shape)
        call = graph.calls.add(type=schema["name"], outputs=[-1] * len(schema["returns"]))
        for argument in schema["arguments"]:
            self.fill(call, argument)
        return self.proto.serialize(graph)

    def make_shape(self):
        pick = self.pick
        if pick.random() < 0.06:
            return [pick.choice(HUGE) for _ in range(pick.randrange(5))]
        return [pick.choice(SIZES) for _ in range(pick.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 6)))]

    def fill(self, call, argument):
        pick, kind = self.pick, argument["type"]
        if kind.startswith("Tensor"):
            count = 1 if "[]" not in kind else pick.choice((0, 1, 2, 2, 3))
            if "[]" in kind:
                call.list_sizes.append(count)
            call.inputs.extend(-1 if "?" in kind and pick.random() < 0.4 else pick.randrange(6) for _ in range(count))
        elif not argument["has_default"] or pick.random() < 0.7:
            attr = call.attrs.add(name=argument["name"])
            if not kind.endswith("?") or pick.random() < 0.6:
                wrong = pick.choice(("int", "str", "float[]", "int[]", "dtype", "device"))
                self.fill_attribute(attr, wrong if pick.random() < 0.02 else kind.rstrip("?"))

    def fill_attribute(self, attr, kind):
        pick = self.pick
        integer = pick.choice(INTEGERS[:12] if pick.random() < 0.8 else INTEGERS)
        if "[" in kind:
            numbers = attr.integers if kind.startswith("int") else attr.reals
            numbers.SetInParent()
            numbers.list.extend(pick.choice(INTEGERS if kind.startswith("int") else REALS)
                                for _ in range(pick.choice((0, 1, 2, 2, 2, 3, 3, 4, 5, 12))))
        elif kind == "int" or (kind == "Scalar" and pick.random() < 0.3):
            attr.integer = integer
        elif kind == "float" or (kind == "Scalar" and pick.random() < 0.5):
            attr.real = pick.choice(REALS)
        elif kind == "bool":
            attr.boolean = pick.random() < 0.5
        elif kind == "Scalar":
            attr.complex.re = 1.5
        elif kind == "str":
            attr.text = pick.choice(TEXTS)
        elif kind == "dtype":
            attr.dtype = pick.randrange(1, 13)
        elif kind == "device":
            attr.device = pick.choice(("cpu", "meta"))


def load(data, seen):
    """Load the bytes: a graph, or an error of the engine's that says something."""
    try:
        _C.decode_graph(data)
        seen["graphs"] += 1
    except (ValueError, TypeError, IndexError, NotImplementedError, _C.EngineError) as error:
        assert str(error), "an error without a word"
        seen["errors"] += 1


def main(mutations, messages, seed):
    """Load that many damaged graphs, and print what came of it."""
    pick, seen = random.Random(seed), collections.Counter()
    samples = [make().to_bytes() for make in SAMPLES.values()]
    nonsense = Nonsense(pick) if messages else None
    limit_addresses(MEMORY)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(mutations):
        load(mutate(pick.choice(samples), samples, pick), seen)
    for number in range(messages):
        load(nonsense.make(number), seen)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    print(f"graphs={seen['graphs']} errors={seen['errors']} grown={grown}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
