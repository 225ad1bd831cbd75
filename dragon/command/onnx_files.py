"""`dragon onnx`: a saved graph as an ONNX file, what an ONNX file holds, and a run of it under ONNX Runtime."""
import json
import os

from dragon.command.parser import Mistake, add_json, number
from dragon.command.plan import load_graph
from dragon.core.files import rewriting
from dragon.core.units import count_bytes

EXAMPLES = (
    ("dragon onnx export model.dragon model.onnx", "a saved graph as ONNX"),
    ("dragon onnx inspect model.onnx", "inputs, outputs, operators and weights of an ONNX file"),
    ("dragon onnx run model.onnx --input x=x.npy --repeat 10", "run it under ONNX Runtime, and tell the time"),
)
WORDS = {"description": "Export saved graphs to ONNX; inspect ONNX files and run them under ONNX Runtime."}


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("action", choices=tuple(ACTIONS), help="what is done")
    parser.add_argument("file", help="a saved graph (export) or an ONNX file")
    parser.add_argument("to", nargs="?", metavar="model.onnx", help="where an export is written")
    parser.add_argument("--opset", type=number(18), help="export: the version of ONNX's operators (default 18)")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy",
                        help="run: an input; random numbers otherwise; may be repeated")
    parser.add_argument("--save", metavar="FOLDER", help="run: a folder to write the outputs to, an .npy file each")
    parser.add_argument("--repeat", type=number(1), default=1, help="run: how often; the best time is told")
    add_json(parser)


def main(options):
    """Do what is asked with a file."""
    for option, action in (("opset", "export"), ("to", "export"), ("input", "run"), ("save", "run")):
        if getattr(options, option) and options.action != action:
            raise Mistake(f"got {options.action} with {option if option == 'to' else '--' + option}, expected it with "
                          f"{action} only")
    try:
        report = ACTIONS[options.action](options)
    except ModuleNotFoundError as error:
        if "expected it to be installed" not in str(error):
            raise
        raise Mistake(str(error)) from None
    print(json.dumps(report, indent=2) if options.json else "\n".join(as_lines(report)))
    return 0


def export(options):
    """Write a saved graph as ONNX."""
    from dragon import onnx
    if not options.to:
        raise Mistake("got export of one file, expected the name of the ONNX file after it")
    graph = load_graph(options.file)
    try:
        onnx.export(graph, path=options.to, opset=options.opset or 18)
    except (onnx.ExportError, ValueError) as error:
        raise Mistake(f"got {options.file!r}, expected a graph that ONNX can say: {error}") from None
    return inspect_file(options.to)


def inspect(options):
    """Tell what an ONNX file holds."""
    return inspect_file(options.file)


def read_model(path):
    """Return the message in an ONNX file; large weights beside it are left where they are."""
    from dragon.onnx.errors import load_package
    onnx = load_package("onnx")
    with open(path, "rb"):  # says what is wrong with the file itself
        pass
    try:
        model = onnx.load(path, load_external_data=False)
        onnx.checker.check_model(model)
    except Exception as error:  # protobuf's and onnx's own errors, of many classes
        raise Mistake(f"got {path!r}, expected an ONNX file: {str(error).strip().splitlines()[0]}") from None
    return model


def inspect_file(path):
    """Return a report on an ONNX file, as a dict that JSON can hold."""
    import collections
    import math
    from dragon.onnx.errors import load_package
    onnx = load_package("onnx")
    model = read_model(path)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    operators = collections.Counter(node.op_type if not node.domain else f"{node.domain}.{node.op_type}"
                                    for node in model.graph.node)
    name_of = onnx.TensorProto.DataType.Name
    faces = {side: [{"name": face.name, "dtype": name_of(face.type.tensor_type.elem_type).lower(),
                     "shape": [dim.dim_param or dim.dim_value for dim in face.type.tensor_type.shape.dim]}
                    for face in getattr(model.graph, side[:-1]) if face.name not in weights]
             for side in ("inputs", "outputs")}
    return {"file": path, "bytes": os.path.getsize(path), "producer": f"{model.producer_name} {model.producer_version}",
            "opset": {entry.domain or "onnx": entry.version for entry in model.opset_import}, **faces,
            "operators": dict(operators.most_common()), "nodes": len(model.graph.node), "weights": len(weights),
            "parameters": sum(math.prod(shape) for shape in weights.values())}


def run(options):
    """Run an ONNX file under ONNX Runtime."""
    import time
    from dragon.onnx.errors import load_package
    runtime = load_package("onnxruntime", "onnxruntime")
    with open(options.file, "rb"):
        pass
    try:
        session = runtime.InferenceSession(options.file, providers=["CPUExecutionProvider"])
        feeds = read_feeds(session, options.input)
        seconds = []
        for _ in range(options.repeat):
            start = time.perf_counter()
            outputs = session.run(None, feeds)
            seconds.append(time.perf_counter() - start)
    except (Mistake, OSError):
        raise
    except Exception as error:  # ONNX Runtime's errors share no class of their own
        raise Mistake(f"got {options.file!r}, expected a file that ONNX Runtime runs: {error}") from None
    names = [face.name for face in session.get_outputs()]
    if options.save:
        save(options.save, dict(zip(names, outputs)))
    return {"file": options.file, "seconds": min(seconds), "outputs": [
        {"name": name, "dtype": str(value.dtype), "shape": list(value.shape), **summary(value)}
        for name, value in zip(names, outputs)]}


def read_feeds(session, words):
    """Return {name: array} for a session: files that were given, random numbers for the rest."""
    import numpy
    files = dict(word.partition("=")[::2] for word in words)
    names = [face.name for face in session.get_inputs()]
    for name, file in files.items():
        if name not in names or not file:
            raise Mistake(f"got --input {name}={file}, expected NAME=FILE.npy with one of {', '.join(names)}")
    numbers, feeds = numpy.random.default_rng(0), {}
    for face in session.get_inputs():
        if face.name in files:
            try:
                feeds[face.name] = numpy.load(files[face.name], allow_pickle=False)
            except ValueError as error:
                raise Mistake(f"got {files[face.name]!r}, expected an .npy file: {error}") from None
            continue
        kind = {"float": "float32", "double": "float64"}.get(face.type[7:-1], face.type[7:-1])
        shape = [entry if isinstance(entry, int) else 1 for entry in face.shape]
        values = numbers.standard_normal(shape) if kind.startswith("float") else numpy.zeros(shape)
        feeds[face.name] = values.astype(kind)
    return feeds


def save(folder, outputs):
    """Write outputs into a folder."""
    import numpy
    os.makedirs(folder, exist_ok=True)
    for name, value in outputs.items():
        with rewriting(os.path.join(folder, name.replace("/", "_") + ".npy")) as file:
            numpy.save(file, value)


def summary(value):
    """Return a few numbers about an array."""
    if value.size == 0 or value.dtype.kind not in "fiub":
        return {}
    return {"min": float(value.min()), "max": float(value.max()), "mean": float(value.mean(dtype="float64"))}


def as_lines(report):
    """Return a report as lines."""
    if "seconds" in report:
        lines = [f"{report['file']}: {report['seconds'] * 1e3:.3f} ms under ONNX Runtime"]
        return lines + [f"  {told(face)}" + (f"  min {face['min']:.6g}, max {face['max']:.6g}, mean {face['mean']:.6g}"
                                             if "min" in face else "") for face in report["outputs"]]
    opset = ", ".join(f"{name} {version}" for name, version in report["opset"].items())
    lines = [f"{report['file']}: {count_bytes(report['bytes'])}, by {report['producer'].strip()}, opset {opset}"]
    for side in ("inputs", "outputs"):
        lines += [f"{side}:"] + [f"  {told(face)}" for face in report[side]]
    counts = ", ".join(f"{count} {name}" for name, count in report["operators"].items())
    return lines + [f"{report['nodes']} nodes: {counts}",
                    f"{report['weights']} weights with {report['parameters']} numbers"]


def told(face):
    """Return an input or output in words."""
    return f"{face['name']}  {face['dtype']}[{', '.join(map(str, face['shape']))}]"


ACTIONS = {"export": export, "inspect": inspect, "run": run}
