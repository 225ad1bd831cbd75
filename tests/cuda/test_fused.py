"""Bodies of fused calls become kernels of their own on the device, and compute what their calls compute one by one."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import dragon
from dragon import _C
from graph import test_fused_reductions, test_fusion
from graph.test_fusion import DTYPES, LAYOUTS, REDUCTIONS, array, fuse, graph_of, numbers, run
from harness import nvrtc
from harness.graphs import call, ops

SUMS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-12}


@pytest.fixture(autouse=True)
def codes(tmp_path, monkeypatch, simt):
    """Keep what is compiled in a folder of the test's own; return a check of how many texts were compiled at least.

    A GPU's compiler does not tell: what it compiled in an earlier test is found again.
    """
    monkeypatch.setenv("DRAGON_CACHE", os.fspath(tmp_path))
    monkeypatch.setenv("DRAGON_SIMT_TEXTS", os.fspath(tmp_path))

    def check_count(least):
        assert not simt or len(list(tmp_path.glob("*.cu"))) >= least
    return check_count


def there(tensor):
    return dragon.ops.to_device(tensor, "cuda")


def back(tensor):
    assert str(tensor.device) == "cuda:0"
    return dragon.ops.to_device(tensor, "cpu")


def check_same(mine, wanted, close=None):
    """Check a result of the device against another, bit for bit or within a tolerance."""
    assert mine.dtype == wanted.dtype and mine.shape == wanted.shape
    mine, wanted = array(back(mine)), array(back(wanted) if str(wanted.device) != "cpu" else wanted)
    if close is None:
        numpy.testing.assert_array_equal(mine, wanted)
        return
    numpy.testing.assert_array_equal(numpy.isnan(mine), numpy.isnan(wanted))
    finite = wanted[numpy.isfinite(wanted)]
    largest = max(1.0, numpy.abs(finite.astype("float64")).max() if finite.size else 1.0)
    numpy.testing.assert_allclose(mine, wanted, rtol=close, atol=close * largest)


def check(graph, feeds, close=None, moved=there):
    """Check a fused graph on the device against its calls there, one by one; return what it gave."""
    fused = fuse(graph)
    assert "fused" in ops(fused), ops(fused)
    mine = run(fused, [moved(feed) for feed in feeds])
    for one, wanted in zip(mine, run(graph, [moved(feed) for feed in feeds])):
        check_same(one, wanted, close)
    return mine


def batches(dtype):
    """Return graphs in which several operators stand behind one call, for all that take a dtype."""
    met = []
    for name in test_fusion.OPERATORS:
        found = test_fusion.chain_with(name, ((5, 7), (7,), (5, 1)), dtype)
        if found:
            met.append((name, *found))
    return met


def joined(parts, dtype):
    """Return one graph with the operators of several that begin alike, and its feeds."""
    graph = _C.Graph()
    feeds = [numbers(shape, dtype, seed) for seed, shape in enumerate(((5, 7), (7,), (5, 1)))]
    feeds.append(numbers((5, 7), "bool", 3))
    values = [test_fusion.add_input(graph, feed) for feed in feeds]
    first = call(graph, "where", call(graph, "isnan", values[0]), values[0], values[0])
    made = []
    for name in parts:
        tensors = [a for a in _C.schema(name)["arguments"] if a["type"].startswith("Tensor")]
        given = iter([first, *values[1:3]])
        inputs = {a["name"]: values[3] if a["name"] in ("condition", "mask") else next(given) for a in tensors}
        made += graph.add_call(name, **inputs, **test_fusion.ARGUMENTS.get(name, {}))
    graph.outputs = made
    return graph, feeds


@pytest.mark.parametrize("dtype", [pytest.param(dtype, marks=[] if dtype in ("float32", "bfloat16", "int32")
                                                else [pytest.mark.slow]) for dtype in DTYPES])
def test_every_operator(dtype, codes):
    """Several at a time, of every dtype that they take, broadcast."""
    names = [name for name, *_ in batches(dtype)]
    for first in range(0, len(names), 8):
        graph, feeds = joined(names[first:first + 8], dtype)
        check(graph, feeds)
    codes(1)


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 8 else [])
                                  for seed in range(100)])
def test_random_expressions(seed, codes):
    feeds, graph = test_fusion.random_program(seed)
    check(graph, feeds)
    codes(1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("shapes", [((0, 3),), ((),), ((1,),), ((4, 1, 5), (3, 1), (4, 3, 5)), ((33, 1000), (1000,)),
                                    ((9, 7, 64), (64,), (7, 1)), ((6001,), (1,))])
def test_shapes(shapes, dtype):
    """Nothing, one number, and broadcasting inwards and outwards, against the CPU too."""
    feeds = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    graph = graph_of(feeds, test_fusion.gelu_like)
    for mine, wanted in zip(check(graph, feeds), run(fuse(graph), feeds)):
        check_same(mine, wanted, SUMS[dtype])


@pytest.mark.parametrize("first, second", [(how, "dense") for how in LAYOUTS] + [("transposed", "repeated"),
                                                                                 ("channels last", "every second")])
def test_layouts(first, second, codes):
    feeds = [LAYOUTS[how](there(numbers((2, 6, 5, 4), "float32", seed))) for seed, how in enumerate((first, second))]
    graph = graph_of(feeds, lambda add, x, y: add("abs", add("sub", add("maximum", x, y), add("mul", y, 2.0))))
    check(graph, feeds, moved=lambda x: x)
    codes(1)


def test_addresses_that_are_not_aligned(codes):
    """Tensors that begin in the middle of sixteen bytes have a kernel of their own."""
    feeds = [dragon.ops.narrow(there(numbers((4097,), "float32", seed)), 0, 1, 4096) for seed in range(2)]
    graph = graph_of(feeds, lambda add, x, y: add("tanh", add("add", x, y)))
    check(graph, feeds, moved=lambda x: x)
    check(graph, [dragon.ops.clone(feed) for feed in feeds], moved=lambda x: x)
    codes(2)


def test_numbers_that_the_host_has():
    """A number of the host's is an argument of the kernel, whatever it is this time."""
    x = there(numbers((300,), "float32"))
    graph = graph_of([x, dragon.tensor(2.0)], lambda add, x, y: add("exp", add("mul", add("neg", x), y)))
    for number in (0.5, -1.25):
        check(graph, [x, dragon.tensor(number)], moved=lambda x: x)


def test_products_and_sums_of_two_operators_round_twice():
    """One instruction would round once, and give other bits than the calls."""
    feeds = [numbers((5000,), "float32", seed) for seed in range(3)]
    check(graph_of(feeds, lambda add, x, y, z: add("sub", add("mul", x, y), add("mul", y, z))), feeds)
    feeds = [numbers((5000,), "float64", seed) for seed in range(3)]
    check(graph_of(feeds, lambda add, x, y, z: add("add", add("neg", add("mul", x, y)), z)), feeds)


@pytest.mark.parametrize("count", [5, 3000])
def test_in_place(count):
    """Outputs over inputs, also over one that is read again."""
    moved = [there(numbers((count,), "float32", seed)) for seed in range(2)]
    graph = _C.Graph()
    x, y = (graph.add_input([count], "float32", device="cuda:0") for _ in moved)
    passing = call(graph, "cumsum", x, axis=0)
    first, second = call(graph, "add", passing, y), call(graph, "mul", call(graph, "neg", passing), y)
    graph.outputs = [call(graph, "cumsum", first, axis=0), call(graph, "cumsum", second, axis=0)]
    assert "fused" in ops(fuse(graph))
    for mine, wanted in zip(_C.Plan(graph, 3).run(moved), run(graph, moved)):
        check_same(mine, wanted)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow), "bfloat16"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dtype, codes):
    program, shapes = REDUCTIONS[name]
    feeds = [dragon.ops.cast(dragon.tensor(numpy.random.default_rng(seed).normal(size=shape)), dtype)
             for seed, shape in enumerate(shapes)]
    for mine, wanted in zip(check(graph_of(feeds, program), feeds, SUMS[dtype]), run(graph_of(feeds, program), feeds)):
        check_same(mine, wanted, SUMS[dtype])
    codes(1)


@pytest.mark.parametrize("place", test_fused_reductions.PLACES)
@pytest.mark.parametrize("dtype", ["bool", pytest.param("uint8", marks=pytest.mark.slow), "int32",
                                   pytest.param("int64", marks=pytest.mark.slow), "float16"])
def test_every_reduction(dtype, place):
    """Whole numbers to the bit, halves to their last digit."""
    def program(add, x):
        y = add("maximum", x, add("minimum", x, x))
        names = ["sum", "prod", "amax", "amin"] + (["mean"] if dtype == "float16" else [])
        return [add(op, y, **test_fused_reductions.PLACES[place]) for op in names]

    for shape in [(6, 50), (3, 1500), (40, 3, 8), (1, 1)]:
        feeds = [test_fused_reductions.feed(shape, dtype)]
        check(graph_of(feeds, program), feeds, SUMS.get(dtype))


def test_rows_of_many_lengths():
    """Rows of a warp and of a block, whole packs and not, with a number of each row that leaves as well."""
    def program(add, x, y):
        top = add("amax", x, axis=[-1], keepdims=True)
        above = add("exp", add("sub", x, top))
        total = add("sum", above, axis=[-1], keepdims=True)
        return [add("add", add("div", above, total), y), add("add", top, add("log", total))]

    for shape in [(5, 1), (7, 33), (300, 64), (3, 500), (2, 1111), (1, 12000)]:
        for dtype in ("float32", "float16"):
            feeds = [test_fused_reductions.feed(shape, dtype, seed) for seed in range(2)]
            check(graph_of(feeds, program), feeds, SUMS[dtype])


def test_results_are_the_same_in_every_run():
    x = there(test_fused_reductions.feed((500, 700), "float32"))
    graph = fuse(graph_of([x], lambda add, x: [add("sum", add("exp", x)), add("mean", add("exp", x), axis=[0])]))
    first = run(graph, [x])
    for one, again in zip(first, run(graph, [x])):
        check_same(one, again)


def test_files_that_are_broken_are_written_again(tmp_path):
    """Code is kept for the next process; what is no code of ours counts as nothing."""
    feeds = [numbers((77,), "float32", 5)]
    graph = graph_of(feeds, lambda add, x: add("rsqrt", add("exp", add("sin", x))))
    check(graph, feeds)
    kept, = tmp_path.glob("*.code")
    whole = kept.read_bytes()
    program = ("import dragon, os; from graph.test_fusion import *; os.environ.get('DRAGON_SIMT') and "
               "dragon.load_library(os.environ['DRAGON_SIMT']); feeds = [numbers((77,), 'float32', 5)]; "
               "g = graph_of(feeds, lambda add, x: add('rsqrt', add('exp', add('sin', x)))); "
               "print(run(fuse(g), [dragon.ops.to_device(feeds[0], 'cuda')])[0].device)")
    tests = pathlib.Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.fspath(tests), os.fspath(tests.parent),
                                                                os.environ.get("PYTHONPATH", "")])}
    for content in (whole, whole[:-9], b"", b"something else"):
        kept.write_bytes(content)
        ran = test_fusion.subprocess.run([test_fusion.sys.executable, "-c", program], capture_output=True, text=True,
                                         check=True, env=environment)
        assert ran.stdout.strip() == "cuda:0" and not ran.stderr
        assert kept.read_bytes()[:60] == whole[:60]


def embedded():
    """Return the texts that kernels include, as the build has them."""
    path = pathlib.Path(__file__).parents[2] / "tools" / "embed_kernels.py"
    spec = importlib.util.spec_from_file_location("embed_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.texts()


@pytest.mark.parametrize("dtype", ["bfloat16", *(pytest.param(dtype, marks=pytest.mark.slow)
                                                 for dtype in ("float32", "int32", "bool", "float64"))])
def test_nvrtc_takes_every_text(dtype, simt, tmp_path):
    """The texts that the machine of fibres ran become machine code of a GPU, without one."""
    compiler = nvrtc.library()
    if not simt or not compiler:
        pytest.skip("needs the machine of fibres, and DRAGON_CUDA_LIBRARIES=folder/of/libnvrtc.so")
    names = [name for name, *_ in batches(dtype)]
    graphs = [joined(names[first:first + 8], dtype) for first in range(0, len(names), 8)]
    for program, shapes in REDUCTIONS.values() if dtype.endswith(("float32", "float16", "float64")) else ():
        feeds = [dragon.ops.cast(numbers(shape, "float32"), dtype) for shape in shapes]
        graphs.append((graph_of(feeds, program), feeds))
    for graph, feeds in graphs:
        run(fuse(graph), [there(feed) for feed in feeds])
    texts = sorted(tmp_path.glob("*.cu"))
    assert len(texts) > 3
    options = ["--std=c++20", "--device-int128", "--no-source-include", "--device-as-default-execution-space"]
    for number, text in enumerate(texts):
        # bfloat16 is converted in another way before 8.0, and before 9.0.
        for architecture in ("75", "80", "90", "120") if number < 4 else ("75", "90"):
            asked = [*options, f"--gpu-architecture=sm_{architecture}"]
            code, words = nvrtc.compile_text(compiler, text.read_text(), embedded(), asked)
            assert code, f"{architecture}: {words}"


@pytest.mark.parametrize("asked, files", [("0", False), ("1", True)])
def test_the_switch(asked, files, tmp_path, device):
    """Under DRAGON_FUSED=0 nothing is compiled, and the numbers are the same."""
    program = """
import os
import dragon
from dragon.vm import torch
if os.environ.get("DRAGON_SIMT"):
    dragon.load_library(os.environ["DRAGON_SIMT"])
chain = torch.compile(lambda x: torch.tanh(x * 2.0) + x.abs())
x = torch.arange(5.0, device="cuda")
print(all(torch.equal(chain(x).cpu(), torch.tanh(x * 2.0).cpu() + x.abs().cpu()) for _ in range(3)))
"""
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, DRAGON_FUSED=asked), text=True,
                          capture_output=True, check=True, timeout=200, cwd=tmp_path)
    assert done.stdout == "True\n" and "one by one" not in done.stderr
    assert any(path.suffix in (".code", ".cu") for path in tmp_path.iterdir()) == files
