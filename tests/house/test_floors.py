"""The walls of the house: who may include or import whom. An arrow points down only."""
import ast
import pathlib
import re

from harness.subresults import each

from house.imports import list_nodes

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A room of core/ and the rooms it may include, besides itself.
CORE = {
    "base": set(),
    "proto": {"base"},
    "device": {"base"},
    "kernels": {"base", "device"},
    "framework": {"base", "proto", "device"},
    "ops": {"base", "device", "kernels", "framework", "world"},
    "passes": {"base", "proto", "device", "framework"},
    "runtime": {"base", "device", "framework", "passes"},
    "io": {"base", "device", "kernels"},
    "world": {"base", "device", "kernels"},
    "tools": {"base", "proto", "device", "framework", "passes", "runtime"},
    "bindings": {"base", "proto", "device", "framework", "passes", "runtime", "io", "world"},
}
# Single doors in walls that are otherwise closed.
DOORS = {
    ("framework", "kernels/kernel.h"),  # an operator's table of kernels, which names no kernel
    ("framework", "kernels/view.h"),  # what a tensor shows of itself to a kernel
    ("bindings", "kernels/names.h"),  # which kernels there are, and none of them
    ("bindings", "ops/index/subscript.h"),  # x[...] is a call of several operators, and no operator itself
}
# The floors of core/framework, from the ground up, by a header and its sources; a file includes its own floor and those
# below. What a lower floor declares, a higher one may define: `Tensor::requires_grad` stands in autograd/node.cc.
FLOORS = [
    {"value", "expression", "thread_wait"},
    {"schema", "generator", "device_graph"},
    {"tensor", "promotion"},
    {"operator", "infer", "writes", "sizes", "parts", "layout"},
    {"apply", "op", "compute", "observe", "number", "autocast", "profile", "batching", "findings", "shapes_only",
     "known", "known_call", "stand_in", "across"},
    {"autograd/node", "autograd/meta", "autograd/record"},
    {"autograd/backward"},
    {"graph", "graph_body", "graph_check", "graph_proto", "graph_encode", "graph_decode", "graph_file", "fusion"},
    {"trace", "trace_branch", "trace_finish", "trace_found", "trace_write"},
    {"bodies", "procedure", "procedure_run", "procedure_parts", "scribe", "scribe_numbers"},
]
# A stair in that house: who makes a TensorImpl must see the books of autograd, which it owns.
STAIRS = {("tensor.cc", "autograd/meta.h"), ("parts.cc", "autograd/meta.h")}
# A room of dragon/ and the rooms it may import; "native" is what stands directly in dragon/.
PACKAGE = {
    "core": set(),
    "dialects": {"core"},
    "native": {"core", "dialects"},
    "onnx": {"core", "dialects"},
    "io": {"core"},
    "distributed": {"core", "native"},
    "ray": {"core", "native", "distributed", "vm"},
    "vm.guest": set(),
    "vm.docstrings": {"vm.guest"},
    "vm.torch": {"core", "native", "dialects", "onnx", "io", "distributed", "vm.guest", "vm.docstrings"},
    "vm.shared": {"core", "native", "onnx", "io", "vm.guest", "vm"},
    "vm.keras": {"core", "native", "onnx", "io", "distributed", "vm.guest", "vm.docstrings", "vm.shared"},
    "vm.tensorflow": {"core", "native", "dialects", "onnx", "io", "distributed", "vm.guest", "vm.docstrings",
                      "vm.shared", "vm.keras"},
    "vm.torchvision": {"core", "native", "io", "vm.guest", "vm.docstrings", "vm.torch"},
    "vm.dali": {"core", "native", "dialects", "io", "vm.guest", "vm.docstrings"},
    "vm": {"vm.guest"},
    "command": {"core", "native", "onnx", "io", "distributed", "vm", "vm.guest", "vm.torch"},
    "start": {"command"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"core/([^"]+)"', re.MULTILINE)
PYTHON_HEADERS = re.compile(r'^\s*#\s*include\s+[<"](Python\.h|pybind11/)', re.MULTILINE)


def list_sources(*suffixes):
    """Return the C++ sources below core/ with these suffixes."""
    return sorted(path for path in (ROOT / "core").rglob("*") if path.suffix in suffixes)


def read_includes(path):
    """Return the paths below core/ that a source includes."""
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def name_room(module):
    """Return the room of a module of the package, given its dotted name without the leading `dragon.`."""
    parts = module.split(".")
    if parts[0] == "vm":
        return ".".join(parts[:2]) if ".".join(parts[:2]) in PACKAGE else "vm"
    if parts[0] == "__main__":
        return "command"
    return parts[0] if parts[0] in PACKAGE else "native"


def list_modules():
    """Return (dotted name, path) of every module of the package; the front door, which sees all, is left out."""
    found = []
    for path in sorted((ROOT / "dragon").rglob("*.py")):
        parts = path.relative_to(ROOT / "dragon").with_suffix("").parts
        if parts != ("__init__",):
            found.append((".".join(parts), path))
    return found


def read_imports(module, path):
    """Yield the dotted names below dragon that a module imports, wherever in the file it does."""
    package = module.split(".")[:-1]
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = ["dragon"] + package[:len(package) - node.level + 1]
            names = [".".join(base + ([node.module] if node.module else []) + [alias.name]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name[len("dragon."):] for name in names if name.startswith("dragon."))


def test_every_room_of_core_has_a_rule():
    rooms = {path.name for path in (ROOT / "core").iterdir() if path.is_dir()}
    assert rooms <= set(CORE)


@each("room", sorted(CORE))
def test_core_includes_point_down(room):
    allowed = CORE[room] | {room}
    upward = [
        f"{path.relative_to(ROOT)} includes core/{include}"
        for path in list_sources(".h", ".cc", ".cu", ".cuh") if path.parts[len(ROOT.parts) + 1] == room
        for include in read_includes(path) if include.split("/")[0] not in allowed and (room, include) not in DOORS
    ]
    assert not upward


def test_framework_includes_point_down():
    levels = {stem: level for level, floor in enumerate(FLOORS) for stem in floor}
    room = ROOT / "core" / "framework"
    upward = []
    for path in sorted(room.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(room).as_posix()
        for include in read_includes(path):
            below = include.removeprefix("framework/")
            if below == include or (name, below) in STAIRS:
                continue
            if levels[below.rsplit(".", 1)[0]] > levels[name.rsplit(".", 1)[0]]:
                upward.append(f"{name} includes {below}")
    assert not upward


def test_core_headers_form_no_circle():
    includes = {path.relative_to(ROOT / "core").as_posix(): read_includes(path) for path in list_sources(".h", ".cuh")}
    done = set()

    def walk(header, trail):
        assert header not in trail, "a circle: " + " -> ".join(trail[trail.index(header):] + [header])
        if header not in done:
            for include in includes.get(header, ()):
                walk(include, trail + [header])
            done.add(header)

    for header in includes:
        walk(header, [])


def test_only_the_bindings_know_python():
    rooms = {path.parts[len(ROOT.parts) + 1]
             for path in list_sources(".h", ".cc", ".cu", ".cuh")
             if PYTHON_HEADERS.search(path.read_text(encoding="utf-8"))}
    assert rooms <= {"bindings"}


def test_no_source_asks_which_devices_were_built():
    asking = [str(path.relative_to(ROOT)) for path in list_sources(".h", ".cc", ".cu", ".cuh")
              if re.search(r"#\s*if.*\b(USE|WITH)_(CUDA|GPU|MKL|ONEDNN)", path.read_text(encoding="utf-8"))]
    assert not asking


@each("room", sorted(PACKAGE))
def test_package_imports_point_down(room):
    allowed = PACKAGE[room] | {room}
    upward = []
    for module, path in list_modules():
        if name_room(module) != room:
            continue
        for name in read_imports(module, path):
            # `from dragon import _C` and names of the compiled module are the floor below every room.
            if name.split(".")[0] != "_C" and name_room(name) not in allowed:
                upward.append(f"{path.relative_to(ROOT)} imports dragon.{name}")
    assert not upward
