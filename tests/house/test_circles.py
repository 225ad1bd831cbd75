"""No module needs itself by a detour: imports inside functions, and modules named in strings, count as imports."""
import ast
import functools

import pytest

from house.imports import find_circle, find_knots, list_calls, list_modules, list_nodes, read_graph

# Arrows that still close a circle, as (module, module): the list may only get shorter.
LEFT = set()
# What Keras's workshop asks its front for, since it stands upon the workshop: the list may only get shorter, too.
ABOVE = {"initializers", "ops", "read_policy", "wrap_module", "serialize_keras_object"}
# Who imports by a name that is computed, and where the name comes from.
BY_NAME = {
    "dragon.command.table": "a command line", "dragon.command.coverage": "a command line",
    "dragon.distributed.serving.shipping": "a module that a function uses",
    "dragon.core.places": "a table of places, read as arrows",
    "dragon.onnx.errors": "a caller, the name of another's package",
    "dragon.vm.alias": "an import of a guest", "dragon.vm.guest": "a table of places, read as arrows",
    "dragon.vm.keras.core.lazy_modules": "a caller, the name of another's package",
    "dragon.vm.keras.core.source_tree": "an import below keras.src", "dragon.vm.keras.saving.public_names": "a file",
    "dragon.vm.keras.wrappers": "a name below the package",
    "dragon.vm.torch._utils": "a caller", "dragon.vm.torch.core.containers": "a file",
    "dragon.vm.torch.core.files.plain": "a file", "dragon.vm.torch.core.files.trusted": "a file",
    "dragon.vm.torch.core.dispatching.wrapper_construction":
        "its own package, when there is a class that answers for operators",
    "dragon.vm.torch.core.functions.settings": "the type of a device",
    "dragon.vm.torch.core.operators": "a caller, the name of a face",
    "dragon.vm.torch.core.scripting.scripts": "a table of places, read as arrows",
    "dragon.vm.torch.fx.graph_module": "a pickle", "dragon.vm.torchvision.datasets.utils": "a file",
    "dragon.vm.torchvision.models._api": "a caller",
}


@functools.cache
def graph():
    """Return the arrows of the package."""
    return read_graph()


def draw(arrows):
    """Return a circle in words."""
    return "\n".join(f"{arrow.source}:{arrow.line} needs {arrow.target}" for arrow in arrows)


@pytest.mark.long("every file of the package is parsed")
def test_no_module_needs_itself():
    tree = {name: {target: arrow for target, arrow in targets.items() if (name, target) not in LEFT}
            for name, targets in graph().items()}
    circles = [draw(find_circle(tree, knot)) for knot in find_knots(tree)]
    assert not circles, "\n\n".join(circles)


def test_what_is_left_of_circles_is_no_longer_than_needed():
    knots = find_knots(graph())
    gone = [(name, target) for name, target in LEFT
            if target not in graph().get(name, ()) or not any({name, target} <= knot for knot in knots)]
    assert not gone


def test_names_that_are_data_are_imported_in_few_places():
    """An import by a computed name is an arrow that nobody sees."""
    found = set()
    for name, path in list_modules().items():
        for node in list_nodes(path):
            called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            if called in ("import_module", "__import__", "import_or_none"):
                found |= set() if isinstance(node.args[0], ast.Constant) else {name}
    assert found == set(BY_NAME)


def test_few_things_are_handed_down():
    """What is handed down is an arrow that nobody sees either."""
    calls = (call for name, path in list_modules().items() if "dragon.vm.keras.core.above" in graph()[name]
             for call in list_calls(path))
    asked = {ast.unparse(node.args[0]).strip("'") for name, node in calls if name == "above"}
    assert asked == ABOVE


def test_a_knot_is_seen():
    arrows = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": [], "e": ["a"]}
    assert find_knots(arrows) == [{"b", "c"}]
