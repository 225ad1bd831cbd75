"""Writers of Dragon's own face, of its commands, and of DALI's."""
import json
import os
import re

import numpy

from contents import SIZE, same

KINDS = {".kpl": "x", ".tfrecord": "x", ".rec": "data", ".tar": "x.npy", ".csv": "n", ".jsonl": "x", ".npy": None,
         ".parquet": "x"}


def trace(path, number):
    """Write a profile."""
    from dragon.core.profile import Profile
    profile = Profile.__new__(Profile)
    profile.chrome_trace = lambda: {"numbers": [number] * SIZE}
    profile.save_chrome_trace(path)


def read_json(path):
    """Read the numbers of a JSON file."""
    with open(path, encoding="utf-8") as file:
        return same(json.load(file)["numbers"])


def samples(path, number):
    """Write with `dragon.io`'s `write_samples`."""
    from dragon.io.formats import write_samples
    rows = numpy.full((100, SIZE // 100), number, "float32")
    made = {".csv": lambda: [{"n": number}] * SIZE, ".npy": lambda: list(rows),
            ".rec": lambda: [{"data": row.tobytes()} for row in rows]}.get(
                os.path.splitext(path)[1], lambda: [{"x": row.tolist()} for row in rows])
    if path.endswith((".kpl", ".tar")):
        write_samples([{"x": row} for row in rows], path)
    else:
        write_samples(made(), path)


def read_samples(path):
    """Read with `dragon.io`'s `open_samples`."""
    from dragon.io.formats import open_samples
    name, found = KINDS[os.path.splitext(path)[1]], []
    for sample in open_samples(path):
        value = sample if name is None else sample[name if name in sample else "x"]
        found.append(numpy.frombuffer(value, "float32") if isinstance(value, bytes) else numpy.asarray(value))
    return same(numpy.concatenate([numpy.asarray(one, "float64").ravel() for one in found]))


def appearance(path, number):
    """Write an image of numbers, as `dragon.show(x).save` does."""
    from dragon.core.pictures.image import ImagePicture
    ImagePicture(numpy.full((SIZE // 200, 200), number % 200, "uint8")).save(path)


def read_appearance(path):
    """Read an image of numbers."""
    from PIL import Image
    with Image.open(path) as image:
        return same(numpy.asarray(image))


def page(path, number):
    """Write a picture of a graph as a page."""
    from dragon.core.pictures.page import Page
    made = Page.__new__(Page)
    made.text = " ".join([str(number)] * SIZE)
    made.save(path)


def read_words(path):
    """Read numbers in a text."""
    with open(path, encoding="utf-8") as file:
        return same([int(word) for word in file.read().split()])


def onnx(path, number):
    """Write with `dragon.onnx.export`."""
    import dragon
    held = dragon.tensor(numpy.full(SIZE, number, "float32"))
    dragon.onnx.export(lambda x: x + held, dragon.zeros((SIZE,)), path)


def read_onnx(path):
    """Read with the onnx package."""
    import onnx as package
    model = package.load(path)
    package.checker.check_model(model)
    return same(package.numpy_helper.to_array(max(model.graph.initializer, key=lambda one: one.ByteSize())))


class Rule:
    """An optimizer, as MXNet has them, whose state is a number."""

    def __init__(self, number):
        self.number = number

    def create_state(self, key, weight):
        """Return a state."""
        from dragon import ops
        return ops.full_like(weight, self.number)

    def update(self, key, weight, gradient, state):
        """Change nothing."""


def states(path, number):
    """Write what the optimizer of a key-value store remembers."""
    import dragon
    from dragon.distributed import kvstore
    store = kvstore.create()
    store.init("w", dragon.zeros((SIZE,)))
    store.set_optimizer(Rule(number))
    store.push("w", dragon.zeros((SIZE,)))
    store.save_optimizer_states(path)


def read_states(path):
    """Read what an optimizer remembers."""
    import dragon
    from dragon.distributed import kvstore
    store = kvstore.create()
    store.init("w", dragon.zeros((SIZE,)))
    store.set_optimizer(Rule(-1))
    store.load_optimizer_states(path)
    return same(numpy.asarray(store._updater.states["w"]))


def returned(path, number):
    """Write what a function in another process returned."""
    from dragon.distributed import functions
    functions.die_with, before = lambda parent: None, functions.die_with
    try:
        functions._call(numpy.full, (SIZE, number), path, {}, (None, None), 0)
    finally:
        functions.die_with = before


def read_returned(path):
    """Read what a function returned."""
    import pickle
    with open(path, "rb") as file:
        return same(pickle.load(file))


def going_on(path, number):
    """Write with DALI's `Pipeline.checkpoint`."""
    from dragon.vm import dali
    pipe = dali.Pipeline(1, 1, None, enable_checkpointing=True)
    pipe.build = lambda: None
    pipe._get_checkpoint = lambda data: json.dumps({"numbers": [number] * SIZE})
    pipe.checkpoint(path)


def pipeline_graph(path, number):
    """Write with DALI's `save_graph_to_dot_file`."""
    from dragon.vm import dali

    class Graph:
        """So many operators."""

        class Node:
            """An operator with a number for a name."""

            class operator:
                """Its name."""

                name = str(number)

            sources = staticmethod(list)
        nodes = [Node()]
    pipe = dali.Pipeline(1, 1, None)
    pipe.build, pipe._graph = lambda: None, Graph()
    Graph.nodes = [Graph.Node() for _ in range(SIZE)]
    pipe.save_graph_to_dot_file(path)


def read_pipeline_graph(path):
    """Read the names of a drawing."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.endswith("}\n"):
        raise AssertionError("got half of a drawing")
    return same([int(one) for one in re.findall(r'label="(\d+)"', text)])


def dumped(path, number):
    """Write with DALI's `fn.dump_image`, which names the files itself."""
    from dragon.vm.dali.core.operators import batches
    os.makedirs(path, exist_ok=True)
    before = os.getcwd()
    os.chdir(path)
    batches._counters.clear()
    try:
        batches.dump_image(numpy.full((SIZE // 200, 200, 3), number % 200, "uint8"), suffix="a")
    finally:
        os.chdir(before)


def read_pictures(path):
    """Read the only picture of a folder."""
    from PIL import Image
    name, = (name for name in os.listdir(path) if not name.endswith(".part"))
    with Image.open(os.path.join(path, name)) as image:
        return same(numpy.asarray(image)[..., 0])


def read_picture(path):
    """Read a picture."""
    from PIL import Image
    with Image.open(path) as image:
        return same(numpy.asarray(image)[..., 0])


def evaluation(path, number):
    """Write the report of `dragon evaluate`."""
    from dragon.command import evaluate
    evaluate.write({"numbers": [number] * SIZE}, path)


def costs(path, number):
    """Write the table of `dragon plan --save-costs`."""
    from dragon.command.planning.costs import Table
    Table({}, 0.0, {"numbers": [number] * SIZE}).save(path)


def read_costs(path):
    """Read a table of costs."""
    from dragon.command.planning.costs import Table
    return same(Table.load(path).about["numbers"])


def results(path, number):
    """Write the results of `dragon onnx run --save`."""
    from dragon.command import onnx_files
    onnx_files.save(path, {"a": numpy.full(SIZE, number)})


def read_results(path):
    """Read a result."""
    return same(numpy.load(os.path.join(path, "a.npy")))


def drawn_plan(path, number):
    """Write the drawing of `dragon plan --svg`."""
    from dragon.command import plan
    from dragon.core import graph
    graph.Graph.svg, before = lambda self: " ".join([str(number)] * SIZE), graph.Graph.svg
    try:
        from dragon import _C
        plan.write_svg(_C.Graph(), path)
    finally:
        graph.Graph.svg = before


def stubs(path, number):
    """Write with `dragon stubs`: each file is whole, they are not one."""
    import pathlib

    from dragon.command import stubs as command
    home = pathlib.Path(path).parent.parent / f"home{os.getpid()}"
    (home / "tiny").mkdir(parents=True, exist_ok=True)
    (home / "tiny" / "__init__.pyi").write_text(f"a: {number}\n")
    command.mirror_all, before = lambda home, guest, target: {
        target / "__init__.pyi": f"# {command.MARK}\n" + f"{number}\n" * SIZE}, command.mirror_all
    try:
        command.write_guest("tiny", home, pathlib.Path(path))
    finally:
        command.mirror_all = before


def read_stubs(path):
    """Read a stub."""
    with open(os.path.join(path, "tiny", "__init__.pyi"), encoding="utf-8") as file:
        return same([int(line) for line in file.read().splitlines()[1:]])


WRITERS = {
    "profile": ("a.json", trace, read_json), "dragon.show, image": ("a.png", appearance, read_appearance),
    "dragon.show, page": ("a.txt", page, read_words), "dragon.onnx.export": ("a.onnx", onnx, read_onnx),
    **{f"samples, {ending}": (f"a{ending}", samples, read_samples) for ending in KINDS},
    "kvstore": ("a", states, read_states), "functions in processes": ("a", returned, read_returned),
    "DALI checkpoint": ("a.json", going_on, read_json),
    "DALI graph": ("a.dot", pipeline_graph, read_pipeline_graph), "DALI dump_image": ("a", dumped, read_pictures),
    "dragon evaluate": ("a.json", evaluation, read_json), "dragon plan, costs": ("a.json", costs, read_costs),
    "dragon plan, svg": ("a.svg", drawn_plan, read_words), "dragon onnx": ("a", results, read_results),
    "dragon stubs": ("a", stubs, read_stubs),
}
