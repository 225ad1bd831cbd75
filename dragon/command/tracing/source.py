"""What the text of a program tells a tracer: where statements begin, what they read, and which names hold the clock."""
import ast
import functools

# What gives other values from run to run, so that names bound to it are not compared.
FLEETING = frozenset("""time perf_counter process_time monotonic perf_counter_ns time_ns monotonic_ns now today utcnow
    getpid uuid1 uuid4 mkdtemp mkstemp TemporaryDirectory NamedTemporaryFile gettempdir id hash __version__ timeit
    default_timer getrusage memory_allocated max_memory_allocated data_ptr urandom token_hex gethostname""".split())
SEEDS = frozenset("manual_seed set_seed set_random_seed seed default_rng seed_everything Generator".split())


class Source:
    """A file of a program.

    Parameters
    ----------
    path : str
        Where it is.
    text : str, optional
        What stands in it; read from the file unless it is given.

    """

    def __init__(self, path, text=None):
        self.path, self.statements, self.fleeting, self.sets_seed = path, {}, frozenset(), False
        try:
            if text is None:
                with open(path, "rb") as file:
                    text = file.read()
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt):
                self.note(node)
        self.fleeting = frozenset(find_fleeting(tree))
        self.sets_seed = any(called(node) in SEEDS for node in ast.walk(tree) if isinstance(node, ast.Call))

    def note(self, node):
        """Remember which lines are a statement's own: those of its body are its body's."""
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        last = node.end_lineno
        if isinstance(body, list) and body:
            last = max(node.lineno, getattr(body[0], "lineno", getattr(body[0], "pattern", node).lineno) - 1)
        for line in range(node.lineno, last + 1):
            # Of two that claim a line the inner one, which is walked later, has it.
            self.statements[line] = node

    def first_line(self, line):
        """Return the line where the statement begins that a line belongs to."""
        node = self.statements.get(line)
        return node.lineno if node is not None else line

    def read_names(self, line):
        """Return the names, attributes included, that the statement at a line reads."""
        node = self.statements.get(line)
        if node is None:
            return []
        found = []
        for part in header(node):
            for entry in ast.walk(part):
                if isinstance(entry, (ast.Name, ast.Attribute)) and isinstance(entry.ctx, ast.Load):
                    name = dotted(entry)
                    if name:
                        found.append(name)
        return list(dict.fromkeys(found))


def header(node):
    """Return the parts of a statement without the statements in it."""
    body = [entry for field in ("body", "orelse", "finalbody", "handlers", "cases")
            for entry in getattr(node, field, None) or () if isinstance(getattr(node, field), list)]
    if not body:
        return [node]
    return [child for child in ast.iter_child_nodes(node) if child not in body]


def dotted(node):
    """Return the dotted name that an expression is, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and f"{base}.{node.attr}"
    return None


def called(node):
    """Return the last part of the name of what a call calls."""
    return (dotted(node.func) or "").rpartition(".")[2]


def find_fleeting(tree):
    """Return names that are bound to what the clock or the process says, or to what is computed from such names."""
    pairs = [pair for node in ast.walk(tree) for pair in bindings(node)]
    found, before = set(), None
    while found != before:
        before = set(found)
        for targets, values in pairs:
            if any(is_fleeting(value, found) for value in values):
                found |= targets
    return found


def bindings(node):
    """Yield (names that are bound, expressions that they are bound to) of a statement or expression."""
    if isinstance(node, ast.Assign):
        yield {name for target in node.targets for name in names_in(target)}, [node.value]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield set(names_in(node.target)), [node.value]
    elif isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars is not None:
                yield set(names_in(item.optional_vars)), [item.context_expr]
    elif isinstance(node, ast.Call) and called(node) in ("append", "insert", "add"):
        yield {dotted(node.func).rpartition(".")[0].split(".")[-1]} - {""}, node.args


def names_in(target):
    """Return the names that a target binds, attributes by their last part."""
    return [entry.id if isinstance(entry, ast.Name) else entry.attr for entry in ast.walk(target)
            if isinstance(entry, (ast.Name, ast.Attribute)) and isinstance(entry.ctx, ast.Store)]


def is_fleeting(value, known):
    """Return whether an expression asks the clock, or reads a name that did."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and called(node) in FLEETING:
            return True
        if isinstance(node, ast.Name) and node.id in known or isinstance(node, ast.Attribute) and (
                node.attr in known or node.attr == "__version__"):
            return True
    return False


@functools.lru_cache(None)
def read(path):
    """Return what is known of a file."""
    return Source(path)
