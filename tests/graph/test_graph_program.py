"""dragon_run: saved graphs against libdragon alone, their times and operators, and how far they are from references."""
import pathlib
import re
import subprocess
import sys

import numpy
import pytest

import dragon
from dragon import _C
from harness.graph_samples import make_network, make_updates

PROGRAM = pathlib.Path(dragon.__file__).resolve().parent / "lib" / "dragon_run"
GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = ("network", "updates", "attributes", "constants", "nested")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no dragon_run")


def run(*words, status=0):
    """Run the program; return what it says."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", NAMES)
def test_golden_graphs_give_their_results(name, level):
    reference = GOLDEN / f"{name}-v1.reference"
    said = run(GOLDEN / f"{name}-v1.dragon", "--inputs", reference, "--reference", reference, "--level", level)
    assert "too much" not in said and f"at level {level}" in said


def test_it_needs_no_python():
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
    assert "libdragon.so" in linked and "libpython" not in linked


def test_times_and_table():
    said = run(GOLDEN / "network-v1.dragon", "--repeat", 7, "--threads", 1, "--profile", "--print", "--level", 0)
    assert re.search(r"7 runs: fastest [\d.]+ ms, median [\d.]+ ms", said)
    assert re.search(r"^softmax +1 +[\d.]+ +[\d.]+ +[\d.]+$", said, re.MULTILINE)
    assert "graph network(%0:image float32[2, 3, 8, 8]) {" in said


def test_arrays_of_numpy(tmp_path):
    make_updates().save(tmp_path / "graph.dragon")
    x = numpy.random.default_rng(0).normal(size=(4, 3))
    numpy.save(tmp_path / "x.npy", x)
    joined = numpy.concatenate([x[:, [0, 2]], x, x[:, [0, 2]]], axis=1)
    for place, array in enumerate((joined, joined, x)):
        numpy.save(tmp_path / f"{place}.npy", array)
    reference = ",".join(str(tmp_path / f"{place}.npy") for place in range(3))
    words = (tmp_path / "graph.dragon", "--inputs", tmp_path / "x.npy", "--reference", reference)
    assert run(*words, "--repeat", 2).count("max difference 0\n") == 3
    numpy.save(tmp_path / "1.npy", joined + numpy.eye(4, 7) * 0.5)
    assert "output 1: max difference 0.5, too much" in run(*words, status=1)
    run(*words, "--tolerance", 0.5)
    numpy.save(tmp_path / "1.npy", joined[:2])
    assert "output 1: got float64(4, 7), expected float64(2, 7)" in run(*words, status=1)
    numpy.save(tmp_path / "1.npy", joined * numpy.nan)
    assert "inf, too much" in run(*words, status=1)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "complex64"])
def test_dtypes_of_arrays(dtype, tmp_path):
    graph = dragon.Graph()
    with graph.edit():
        graph.outputs = graph.add_call("square", [graph.add_input((2, 2), dtype)])
    graph.save(tmp_path / "graph.dragon")
    numpy.save(tmp_path / "x.npy", numpy.eye(2).astype(dtype))
    run(tmp_path / "graph.dragon", "--inputs", tmp_path / "x.npy", "--reference", tmp_path / "x.npy")


def test_results_are_saved(tmp_path):
    path = tmp_path / "graph.dragon"
    make_network().save(path)
    run(path, "--save", tmp_path / "results", "--seed", 5)
    results = dragon.Graph.load(tmp_path / "results")
    assert sorted(value.name for value in results.values) == ["input image", "output 0", "output 1"]
    run(path, "--seed", 5, "--reference", tmp_path / "results")
    run(path, "--inputs", tmp_path / "results", "--reference", tmp_path / "results", "--threads", 2)
    assert "too much" in run(path, "--seed", 6, "--reference", tmp_path / "results", "--tolerance", 1e-9, status=1)


def score(image):
    """Return what the graph of any batch computes."""
    return dragon.ops.softmax(dragon.ops.mean(dragon.ops.relu(image), axis=[2, 3]) * 2.0, axis=-1)


def make_any_batch():
    """Return a graph whose batch is open."""
    found = []
    for batch in (2, 5, 14):
        trace, image = _C.Trace(), dragon.zeros((batch, 3, 8, 8))
        trace.add_input(image, "image")
        trace.start()
        result = score(image)
        trace.stop()
        found.append((trace.finish([result]), [batch]))
    graph = dragon.Graph(_C.unify(found, ["batch"]))
    graph.name = "network"
    return graph


def test_any_batch(tmp_path):
    graph = make_any_batch()
    assert graph.symbols == ["batch"]
    path = tmp_path / "graph.dragon"
    graph.save(path)
    graph = dragon.Graph.load(path)
    for batch in (1, 2, 7):
        image = dragon.random.randn(batch, 3, 8, 8)
        numpy.save(tmp_path / "image.npy", image.numpy())
        numpy.save(tmp_path / "0.npy", score(image).numpy())
        result, = graph.at(batch=batch).compile(level=0).run([image])
        numpy.testing.assert_array_equal(result.numpy(), score(image).numpy())
        run(path, "--inputs", tmp_path / "image.npy", "--reference", tmp_path / "0.npy")
    assert "graph network(%0:image float32[9, 3, 8, 8])" in run(path, "--symbol", "batch=9", "--print")
    assert "as the inputs have it" in run(path, "--symbol", "batch=9", "--inputs", tmp_path / "image.npy", status=2)
    assert "--symbol: got 'length'" in run(path, "--symbol", "length=9", status=2)
    with pytest.raises(ValueError, match=r"got sizes for \['length'\], expected them for \['batch'\]"):
        graph.at(length=3)


WRONG = {
    "nothing": ((), "got no graph"),
    "no file": (("nobody",), "cannot open 'nobody'"),
    "an option": (("graph", "--fast"), "got '--fast'"),
    "no number": (("graph", "--repeat", "often"), "--repeat: got 'often', expected a number"),
    "no value": (("graph", "--repeat"), "--repeat: got nothing"),
    "a level": (("graph", "--level", "9"), "level 9"),
    "a pass": (("graph", "--skip", "lunch"), "lunch"),
    "no dump": (("graph", "--inputs", "graph"), "expected a constant 'input image'"),
    "too many": (("graph", "--inputs", "x.npy,y.npy"), "got 2 files, expected 1"),
    "another shape": (("graph", "--inputs", "x.npy"), "for input 0"),
    "a broken array": (("graph", "--inputs", "broken.npy"), "bytes of numbers"),
    "no array": (("graph", "--inputs", "text.npy"), "does not begin as one"),
    "another order": (("graph", "--inputs", "order.npy"), "row-major"),
    "no dtype of ours": (("graph", "--inputs", "dates.npy"), "<M8"),
    "a broken graph": (("broken",), "cut short or changed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told(case, tmp_path):
    words, text = WRONG[case]
    make_network().save(tmp_path / "graph")
    numpy.save(tmp_path / "x.npy", numpy.zeros((5, 5), "float32"))
    numpy.save(tmp_path / "order.npy", numpy.asfortranarray(numpy.zeros((5, 4))))
    numpy.save(tmp_path / "dates.npy", numpy.zeros((5, 4), "datetime64[s]"))
    (tmp_path / "broken.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-3])
    (tmp_path / "text.npy").write_text("no array at all")
    (tmp_path / "broken").write_bytes((tmp_path / "graph").read_bytes()[:-64])
    done = subprocess.run([PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr, done.stderr


def test_command():
    done = subprocess.run([sys.executable, "-m", "dragon", "run-graph", str(GOLDEN / "updates-v1.dragon")],
                          capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and "updates: 1 inputs" in done.stdout, done.stderr
