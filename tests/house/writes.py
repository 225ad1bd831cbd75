"""What in the package writes files: calls that open, make or move them, and calls of the one writer.

Found in the syntax tree, by what a call is named and the mode it is given. A mode that is no constant counts, too.
"""
import ast
import re
from typing import NamedTuple

from house.imports import list_modules, parse

WRITER = "dragon.core.files"
# What the one writer offers: each call of these writes a file whole.
WHOLE = frozenset(("write", "copy", "replacing", "rewriting", "replacing_folder", "replacing_group",
                   "replace_pair", "save_picture", "move", "second_name"))
MODE = re.compile(r"[rwaxbtU+]{1,4}(?:[:|]\w*)?")
WRITES = re.compile(r"[wax+]")
# Functions that open: where among their arguments the mode is.
OPENERS = {"open": 1, "io.open": 1, "gzip.open": 1, "bz2.open": 1, "lzma.open": 1, "codecs.open": 1, "tarfile.open": 1,
           "TarFile.open": 1, "wave.open": 1, "fdopen": 1, "ZipFile": 1, "TarFile": 1, "GzipFile": 1, "BZ2File": 1,
           "LZMAFile": 1, "FileIO": 1, "h5py.File": 1, "memmap": 2, "open_memmap": 1}
# Modules and functions that open archives and the like in memory or from an opened file, by their keyword.
MADE_OF_A_FILE = ("fileobj", "buffer")
# Functions that write, make or move whatever they are given.
ALWAYS = frozenset((
    "write_text", "write_bytes", "touch", "tofile", "savez", "savez_compressed", "savetxt", "numpy.save", "np.save",
    "numpy.memmap", "copyfile", "copy2", "copytree", "copyfileobj", "shutil.copy", "shutil.move", "make_archive",
    "unpack_archive", "extract", "extractall", "os.rename", "os.replace", "os.renames", "os.link", "os.symlink",
    "os.truncate", "os.mknod", "os.mkfifo", "os.sendfile", "mkstemp", "NamedTemporaryFile", "symlink_to",
    "hardlink_to", "link_to", "sqlite3.connect", "shelve.open", "dbm.open"))


# Those that a module imports by name.
PLAIN_NAMES = frozenset(("copyfile", "copy2", "copytree", "copyfileobj", "mkstemp", "NamedTemporaryFile"))


# What a file has that calls any of them: most files need not be parsed.
CALLS = re.compile(r"\b(?:%s)\(|from dragon\.core import [\w, ]*\bfiles\b|dragon\.core\.files" % "|".join(
    {re.escape(name.rpartition(".")[2]) for name in OPENERS} | set(map(re.escape, ALWAYS))))


class Write(NamedTuple):
    """A call that writes a file: its module, the function it stands in, its lines and its text."""

    module: str
    function: str
    line: int
    last: int
    text: str


def _name_of(function):
    """Return what a call calls, "os.path.join", or ".join" of what has no name."""
    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    parts.append(function.id if isinstance(function, ast.Name) else "")
    return ".".join(reversed(parts))


def _mode_of(call, place):
    """Return the node of a call's mode, or None."""
    for word in call.keywords:
        if word.arg == "mode":
            return word.value
    return call.args[place] if len(call.args) > place else None


def _constants(node):
    """Return the strings that an expression may be, or None where that is not told."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        parts = [_constants(node.body), _constants(node.orelse)]
        return None if None in parts else parts[0] + parts[1]
    return None


def _opens_to_write(call, name):
    last = name.rpartition(".")[2]
    if any(word.arg in MADE_OF_A_FILE for word in call.keywords):
        return False
    if name == "os.open":
        flags = ast.unparse(call)
        return "O_RDONLY" not in flags or re.search("O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", flags) is not None
    for known in (name, last):
        if known in OPENERS and (known != "open" or name in OPENERS):
            mode = _mode_of(call, OPENERS[known])
            if mode is None:
                return False
            texts = _constants(mode)
            return texts is None or any(WRITES.search(text) for text in texts)
    if last != "open":
        return False
    # A method: of a path, with the mode first, or of a store, with the name first.
    texts = [text for node in (*call.args, *(word.value for word in call.keywords if word.arg == "mode"))
             for text in _constants(node) or ()]
    return any(MODE.fullmatch(text) and WRITES.search(text) for text in texts)


def _is_plain(call, name):
    """Return whether a call writes by itself, not through the one writer."""
    last = name.rpartition(".")[2]
    if name in ("traceback.StackSummary.extract",):
        return False
    return name in ALWAYS and "." in name or last in ALWAYS and (
        "." in name or last in PLAIN_NAMES) or _opens_to_write(call, name)


def _whole_names(tree):
    """Return how a module's text calls the one writer: {text of the function}."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(WRITER):
            names |= {alias.asname or alias.name for alias in node.names if alias.name in WHOLE}
        elif isinstance(node, ast.ImportFrom) and WRITER.startswith(f"{node.module}."):
            for alias in node.names:
                if f"{node.module}.{alias.name}" == WRITER:
                    names |= {f"{alias.asname or alias.name}.{function}" for function in WHOLE}
    return names


class _Reader(ast.NodeVisitor):
    """Walks a module and notes its calls with the functions they stand in."""

    def __init__(self, module, whole):
        self.module, self.whole, self.within = module, whole, []
        self.plain, self.through = [], []
        self.given = set()  # names of what the one writer gives to fill

    def visit_With(self, node):
        """Note what a `with` block is given to fill."""
        for item in node.items:
            made = item.context_expr
            calls = [call for call in ast.walk(made) if isinstance(call, ast.Call)]
            if any(_name_of(call.func) in self.whole for call in calls) and isinstance(item.optional_vars, ast.Name):
                self.given.add((tuple(self.within), item.optional_vars.id))
        self.generic_visit(node)

    def _fills(self, call):
        """Return whether a call writes into what the one writer gave to the function it stands in."""
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Call) and _name_of(first.func) == "os.path.join":
            first = first.args[0]
        return isinstance(first, ast.Name) and (tuple(self.within), first.id) in self.given

    def _enter(self, node):
        self.within.append(node.name)
        self.generic_visit(node)
        self.within.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _enter

    def visit_Call(self, node):
        """Note a call that writes."""
        name = _name_of(node.func)
        found = (self.through if name in self.whole else
                 self.plain if _is_plain(node, name) and not self._fills(node) else None)
        if found is not None:
            text = ast.unparse(node)[:100]
            found.append(Write(self.module, ".".join(self.within), node.lineno, node.end_lineno, text))
        self.generic_visit(node)


def read_writes():
    """Return (the calls that write by themselves, those of the one writer) of the whole package but the writer."""
    plain, through = [], []
    for module, path in list_modules().items():
        if module == WRITER or module.startswith(f"{WRITER}."):
            continue
        if not CALLS.search(path.read_text(encoding="utf-8")):
            continue
        tree = parse(path)
        reader = _Reader(module, _whole_names(tree))
        reader.visit(tree)
        plain += reader.plain
        through += reader.through
    return plain, through
