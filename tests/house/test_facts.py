"""One home for each fact about an operator: beside the operator, in core/ops."""
import ast
import operator
import pathlib
import re

import pytest

from dragon import _C
from dragon.core.python_operators import COMPARISONS
from dragon.dialects.aten import table
from dragon.dialects.aten.signatures import EXPORTS, signatures

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = frozenset(_C.op_names())
# What asks operators for facts, wherever in core/ it stands, and so has no names of operators to keep.
ASKING = ("autocast.cc", "apply.cc", "batching.cc", "common_subexpressions.cc", "tails.cc")
# Op<"add">(x, y) is a call, and `&OpNamed<"add">()` one operator, not a list of them.
CALLED = re.compile(r'Op(N|Into|Named)?<"\w+">')
# Who an error is from.
SPEAKERS = re.compile(r'\w+Error\("[^"]*"\)')
TEXT = re.compile(r'"(\w+)"')


@pytest.mark.parametrize("name", ASKING)
def test_no_table_of_operators(name):
    paths = list((ROOT / "core").rglob(name))
    assert paths, f"{name} is nowhere in core/"
    for path in paths:
        source = SPEAKERS.sub("", CALLED.sub("", path.read_text(encoding="utf-8")))
        assert not [word for word in TEXT.findall(source) if word in NAMES]


def test_onnx_is_told_in_its_own_room():
    known = [path.name for path in (ROOT / "core").rglob("*.[ch]*")
             if "onnx" in path.read_text(encoding="utf-8").lower()]
    assert not known


def test_no_list_of_operators_for_batches():
    """`vmap` asks the engine; a handful of operators it calls itself is no list."""
    for path in (ROOT / "dragon" / "vm" / "torch" / "_functorch").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = node.value.split()
                assert len(words) < 4 or not set(words) <= NAMES, f"{path.name}:{node.lineno}"


# Names of operators in lists of Python outside the dialects, of which each is a second place for a fact: only fewer.
MOST_NAMES_IN_LISTS = 225
FEW = 4  # operators that a file calls by itself are no list


def words_of(node):
    """Return the words that a literal lists: a list's, the keys of a dictionary, or those of a text."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        items = node.keys if isinstance(node, ast.Dict) else node.elts
        return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = re.split(r"[\s=]+", node.value.strip())
        return words if all(re.fullmatch(r"[\w.]+", word) for word in words) else []
    return []


def list_names(known):
    """Return {file: names of operators that stand in its lists}."""
    found = {}
    for path in sorted((ROOT / "dragon").rglob("*.py")):
        if "dialects" in path.parts or path.parent.name == "_api":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = {word.partition(".")[0].rstrip("_") for word in words_of(node)}
            if len(words & known) >= FEW and len(words & known) > 0.8 * len(words):
                found.setdefault(str(path.relative_to(ROOT)), set()).update(words & known)
    return found


@pytest.mark.long("it parses every file of the package")
def test_names_of_operators_stand_in_dialects():
    known = NAMES | {name.removeprefix("aten::").rstrip("_") for name in signatures(EXPORTS)}
    found = list_names(known)
    count = sum(map(len, found.values()))
    assert count <= MOST_NAMES_IN_LISTS, {name: len(names) for name, names in found.items()}
    assert count == MOST_NAMES_IN_LISTS, f"fewer: write {count}"


# Operators that are entered in five or more parts of PyTorch's frontend: only fewer.
MOST_NAMES_IN_PARTS = 18
PARTS = 5


def entered_words(node):
    """Return the words that a piece of a program enters: keys of a dictionary, a list's, a decorator's arguments."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
        return [argument.value for call in calls for argument in call.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    words = words_of(node)
    return words if isinstance(node, ast.Dict) or len(words) > 1 else []


def part_of(path):
    """Return the part of PyTorch's frontend, or the package, that a file belongs to."""
    first, *rest = path.relative_to(ROOT / "dragon").parts
    if (first, *rest[:1]) != ("vm", "torch"):
        return first
    return "/".join(rest[1:3] if rest[1] == "core" else rest[1:2])


def parts_with(known):
    """Return {operator: the parts in which it is entered}, of PyTorch's frontend, the dialects and ONNX."""
    found = {}
    places = [*(ROOT / "dragon/vm/torch").rglob("*.py"), *(ROOT / "dragon/onnx").rglob("*.py")]
    for path in places:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = {word.rpartition("::")[2].partition(".")[0].rstrip("_") for word in entered_words(node)}
            if words and words <= known:
                for word in words:
                    found.setdefault(word, set()).add(part_of(path))
    for relation, name in table.rows():
        if name in known:
            found.setdefault(name, set()).add("dialects")
    return found


@pytest.mark.long("it parses every file of PyTorch's frontend")
def test_operators_are_entered_in_few_parts():
    """Sparse, nested and distributed tensors have rules of their own for what has no kind; who else tells it anew?"""
    found = {name: parts for name, parts in parts_with(NAMES).items() if len(parts) >= PARTS}
    assert len(found) <= MOST_NAMES_IN_PARTS, found
    assert len(found) == MOST_NAMES_IN_PARTS, f"fewer: write {len(found)}"


def test_comparisons_are_pythons_and_the_engines():
    methods = {name for name in vars(object) if callable(getattr(operator, name.strip("_"), None))}
    assert methods == {f"__{name}__" for name in COMPARISONS}
    for name in COMPARISONS:
        assert _C.schema(name)["pointwise"] and len(_C.schema(name)["arguments"]) == 2


def test_facts_are_shown():
    assert _C.schema("matmul")["autocast"] == "lower" and _C.schema("matmul")["batches"] == "own"
    assert _C.schema("native_batch_norm")["writes_when"] == "training"
    assert _C.schema("mul")["commutes"] and not _C.schema("sub")["commutes"]
    assert _C.schema("relu")["tail"] and _C.schema("relu")["batches"] == "numbers"
    assert _C.schema("sum")["batches"] == "rows" and _C.schema("conv_forward")["batches"] == "samples"


def test_the_reference_has_a_word_for_every_way_to_batch():
    words = {_C.schema(name)["batches"] for name in NAMES} - {""}
    told = re.search(r"^BATCHES = (\{.*?\})", (ROOT / "docs/conf.py").read_text(encoding="utf-8"), re.DOTALL | re.M)
    assert set(ast.literal_eval(told[1])) == words


READS = re.compile(r'\b[a-z]\w*(?:\.|->)(\w+)\("(\w+)"')
OF_TENSORS = frozenset(("x", "has", "list", "in", "inout", "Contiguous", "needs", "dx", "x_shape", "x_dtype",
                        "x_device", "Varies", "batch", "Raised", "Repeated", "input", "Number"))
OF_ATTRIBUTES = frozenset(("attr", "Given", "Bool", "Int", "Real", "Ints", "String", "DTypeOr"))
NUMBERED = re.compile(rf"\b[a-z]\w*\.(?:{'|'.join(sorted(OF_TENSORS - {'list'}))})\([1-9][,)]")


def read_names():
    """Each read of an argument by name in the core: file, line, the sort of argument and its name."""
    for path in sorted((ROOT / "core").rglob("*.[ch]*")):
        if path.parts[-2] == "bindings":  # Python's attributes are read there
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for function, name in READS.findall(line):
                if function in OF_TENSORS or function in OF_ATTRIBUTES:
                    yield f"{path.name}:{number}", function in OF_TENSORS, name


def test_names_that_are_read_are_arguments():
    """A wrong one raises when it is read; this finds it in branches that nothing walks."""
    known = {(argument["type"].startswith("Tensor"), argument["name"])
             for name in NAMES for argument in _C.schema(name)["arguments"]}
    reads = list(read_names())
    assert len(reads) > 2000, "the pattern has lost the reads"
    assert not [read for read in reads if read[1:] not in known]


def test_tensors_have_names_where_there_are_several():
    """A swapped number compiles. 0 is the lone tensor, or the first in rules that serve operators of many kinds."""
    numbered = [f"{path.name}:{number}" for path in sorted((ROOT / "core/ops").rglob("*.*"))
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
                if NUMBERED.search(line)]
    assert not numbered
