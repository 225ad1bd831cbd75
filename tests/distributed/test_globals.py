"""Global tensors: who holds what by signatures, and the way from one to another."""
import itertools
import random

import pytest
from harness.ranks import in_group, run_ranks

from dragon.distributed.globals import Broadcast, Layout, Mesh, Partial, Split, choose, plan
from dragon.distributed.globals.layout import ranges_of, share

B, S, P = Broadcast(), Split, Partial()


@pytest.mark.parametrize("length, parts", [(0, 3), (1, 4), (7, 2), (7, 4), (8, 4), (5, 5), (3, 8)])
def test_shares_are_those_of_chunk(length, parts):
    step = -(-length // parts)
    wanted = [list(range(length))[place * step:(place + 1) * step] for place in range(parts)]
    for place in range(parts):
        start, size = share(length, parts, place)
        assert list(range(start, start + size)) == wanted[place]


def test_parts_are_the_whole_once():
    generator = random.Random(0)
    for _ in range(300):
        mesh_shape = tuple(generator.randint(1, 3) for _ in range(generator.randint(1, 3)))
        signatures = tuple(generator.choice([B, S(0), S(1), S(0, 2), S(0, 3)]) for _ in mesh_shape)
        length = generator.randint(0, 9)
        found = []
        for coordinate in itertools.product(*map(range, mesh_shape)):
            if any(place and not isinstance(cut, Split) or place and cut.axis == 1
                   for place, cut in zip(coordinate, signatures)):
                continue  # others hold the same
            ranges = ranges_of(length, signatures, 0, mesh_shape, coordinate)
            found.extend(place for first, end in ranges for place in range(first, end))
        assert sorted(found) == list(range(length)), (length, signatures, mesh_shape)


def test_a_layout_tells_shapes_and_places():
    layout = Layout(Mesh((2, 2), (1, 0), ()), (7, 5), (S(0), S(1)))
    assert layout.local_shape() == (3, 3) and layout.offsets() == (4, 0)
    assert layout.local_shape((0, 1)) == (4, 2) and layout.offsets((0, 1)) == (0, 3)
    assert Layout(Mesh((4,), (3,), ()), (5,), (S(0),)).local_shape() == (0,)
    assert Layout(Mesh((4,), (3,), ()), (5,), (S(0),)).offsets() == (5,)
    pieces = Layout(Mesh((2,), (1,), ()), (8,), (S(0, 2),))
    assert pieces.ranges(0) == ((2, 4), (6, 8))


def test_the_cheapest_steps_are_taken():
    assert plan((8, 8), 4, (4,), (P,), (S(0),))[1] == ((0, S(0)),)  # not reduced everywhere first
    assert plan((8, 8), 4, (4,), (S(0),), (S(1),))[1] == ((0, S(1)),)  # not gathered first
    cost, steps = plan((64, 64), 4, (2, 2), (S(0), S(0)), (S(1), S(0)))
    assert steps[0] == (1, B) and steps[-1] == (1, S(0))  # what was cut last is put together first
    assert plan((8,), 4, (2,), (B,), (B,)) == (0.0, ())
    assert plan((1024, 1024), 4, (2,), (B,), (S(0),))[0] < plan((1024, 1024), 4, (2,), (S(0),), (B,))[0]


def test_ways_are_chosen_by_what_their_operands_cost():
    ways = [((S(0), B), (S(0),)), ((B, S(1)), (S(1),)), ((S(1), S(0)), (P,))]
    for held, wanted in (((S(0), B), S(0)), ((B, S(1)), S(1)), ((S(1), S(0)), P), ((B, B), B)):
        found = choose((2,), [((held[0],), 4096), ((held[1],), 4096)], ways)
        assert found[1] == [(wanted,)]
    assert choose((2,), [((S(0),), 64), ((P,), 64)], [((S(0), S(0)), (S(0),))], kept=0)[1] == [(S(0),)]
    assert choose((2,), [((P,), 64), ((B,), 64)], [((S(0), S(0)), (S(0),))], kept=0) is None


BOXES = '''
import random
from dragon.distributed.globals import Broadcast, Layout, Mesh, Partial, Split, box
from dragon.distributed.stores.memory import MemoryStore
generator = random.Random(SEED)


class Prefixed:
    def __init__(self, prefix):
        self.prefix = prefix
    def set(self, key, value):
        store.set(f"{self.prefix}/{key}", value)
    def get(self, key):
        return store.get(f"{self.prefix}/{key}")
    def wait(self, keys, seconds):
        store.wait([f"{self.prefix}/{key}" for key in keys], seconds)


def make_mesh(shape):
    numbers = np.arange(size).reshape(shape)
    here = tuple(int(place[0]) for place in np.where(numbers == rank))
    groups = []
    for axis in range(len(shape)):
        ranks = numbers[tuple(slice(None) if other == axis else place for other, place in enumerate(here))].tolist()
        groups.append(ProcessGroup(Prefixed(f"{shape} {axis} {ranks}"), ranks.index(rank), len(ranks), 30.0, ranks))
    return Mesh(shape, here, groups)


meshes = [make_mesh(shape) for shape in SHAPES]
SIGNATURES = [Broadcast(), Split(0), Split(1), Split(0, 2), Split(1, 3)]
for turn in range(TURNS):
    mesh = generator.choice(meshes)
    shape = tuple(generator.choice([0, 1, 2, 3, 5, 7, 8]) for _ in range(2))
    dtype = generator.choice(["float32", "int64", "float16", "bool"])
    whole = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)
    source, target = (tuple(generator.choice(SIGNATURES) for _ in mesh.shape) for _ in "st")
    layout, other = Layout(mesh, shape, source), Layout(mesh, shape, target)
    def part(layout):
        rows, columns = ([place for first, end in layout.ranges(axis) for place in range(first, end)]
                         for axis in (0, 1))
        return whole[np.ix_(rows, columns)]
    found = np.asarray(box(ops, dragon.tensor(part(layout)), layout, target))
    assert found.shape == other.local_shape() and found.dtype == whole.dtype, (mesh.shape, shape, source, target)
    np.testing.assert_array_equal(found, part(other), err_msg=str((mesh.shape, shape, source, target)))
    if dtype in ("float32", "int64"):  # what is partial, on one axis of the mesh
        axis = generator.randrange(len(mesh.shape))
        reduction = generator.choice(["sum", "maximum", "minimum"] + ["average"] * (dtype == "float32"))
        source = tuple(Partial(reduction) if place == axis else each for place, each in enumerate(source))
        layout, here = Layout(mesh, shape, source), mesh.coordinate[axis]
        shift = {"sum": here - (mesh.shape[axis] - 1) / 2, "average": here - (mesh.shape[axis] - 1) / 2,
                 "maximum": here - mesh.shape[axis] + 1, "minimum": here}[reduction]
        mine = part(layout) / mesh.shape[axis] if reduction == "sum" else part(layout)
        if reduction == "sum" and dtype == "int64":
            mine = part(layout) if here == 0 else part(layout) * 0
            shift = 0
        found = np.asarray(box(ops, dragon.tensor((mine + shift).astype(dtype)), layout, target))
        np.testing.assert_allclose(found, part(other), 1e-5, 1e-5, err_msg=str((mesh.shape, shape, source, target)))
        back = Layout(mesh, shape, target)
        again = box(ops, dragon.tensor(part(back)), back, source)
        np.testing.assert_allclose(np.asarray(box(ops, again, layout, target)), part(back), 1e-5)
'''


@pytest.mark.parametrize("size, shapes", [(2, [(2,), (1, 2)]), (4, [(4,), (2, 2)])])
def test_boxes_of_any_signatures_have_the_same_numbers(size, shapes):
    code = BOXES.replace("SEED", "7").replace("SHAPES", repr(shapes)).replace("TURNS", "120")
    run_ranks(code, size, in_group(60.0))
