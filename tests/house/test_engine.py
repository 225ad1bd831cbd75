"""What remembers has one home: state of the engine is read and changed from one file of dragon/core each."""
import ast
import collections
import functools

from dragon import _C
from house.imports import list_modules, list_nodes, name_of

# Functions that work on their arguments alone, and tables that never change: whoever needs them takes them. All types
# of the engine are open as well.
OPEN = {
    # tensors from elsewhere, and to elsewhere
    "tensor", "from_buffer", "from_dlpack", "to_dlpack", "dlpack_device", "shared_tensor", "shared_block_of",
    "as_class", "become", "phantom_like", "is_stand_in", "storage_owners", "memory_key", "keep_saved",
    # gradients, and the history of a tensor
    "backward", "grad", "record", "forget", "is_recorded", "output_number",
    "register_hook", "register_accumulated_hook", "remove_hook", "tensor_hooks",
    # operators and graphs
    "schema", "op_names", "call_batched", "evaluate_graph", "unify", "unlike",
    # dtypes and bytes
    "can_cast", "promote_types", "result_type", "crc32c", "split_records", "example_column",
    "read_example", "kpl_read", "kpl_scan", "kpl_encode", "kpl_head", "kpl_walk",
}


def list_names(nodes):
    """Return the names of the engine that the nodes of a file's tree speak of."""
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    found = {alias.name for node in imports if node.module == "dragon._C" for alias in node.names}
    bound = {alias.asname or "_C" for node in imports if node.module == "dragon" for alias in node.names
             if alias.name == "_C"} | {"dragon._C"}
    return found | {node.attr for node in nodes if isinstance(node, ast.Attribute) and name_of(node.value) in bound}


@functools.cache
def read_names():
    """Return {module: names of the engine that it speaks of}."""
    return {module: list_names(list_nodes(path)) for module, path in list_modules().items()}


def list_homes():
    """Return {name of the engine's state: modules that speak of it}."""
    homes = collections.defaultdict(set)
    for module, names in read_names().items():
        for name in names - OPEN:
            if not isinstance(getattr(_C, name), type):
                homes[name].add(module)
    return homes


def test_what_the_engine_remembers_has_one_home():
    astray = {name: sorted(modules) for name, modules in list_homes().items()
              if len(modules) > 1 or not all(module.startswith("dragon.core.") for module in modules)}
    assert not astray


def test_the_list_of_open_functions_is_no_longer_than_needed():
    used = set().union(*read_names().values())
    assert not OPEN - used


def test_state_is_seen_however_it_is_spelt():
    tree = ast.parse("import dragon\nfrom dragon import _C as e\nfrom dragon._C import a\ne.b()\ndragon._C.c\n")
    assert list_names(list(ast.walk(tree))) == {"a", "b", "c"}
