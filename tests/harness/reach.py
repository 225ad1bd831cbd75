"""Which tests a change reaches: `pytest --changed-since REVISION`, `make test-changed`.

* A test that changed, and one that imports a part of the harness that did.
* A file of `dragon/`: every test that leads to it. A test leads to the modules it names and, through the tables of a
  face, to those that show what it mentions: a test with `torch.nn.functional.relu`, in a string as well, to the file of
  `relu`; from there to whatever these import. What only runs on the way to a module, a package's face, is no lead.
* A file of `core/ops` or `core/kernels`: the rows of the operators it names, and tests that mention one of these.
* Any other file of `core/`, and what decides how all is built or tested: all tests.
* Pages and examples: the tests of pages.

It is for the time between two runs of all tests, not instead of them.
"""
import pathlib
import re
import subprocess

import pytest

from house.imports import GUESTS, Reader, list_modules

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
WORD = re.compile(r"[A-Za-z_]\w{2,}")
QUOTED = re.compile(r'"(\w+)[("]')
# What decides how everything is built or tested.
FOR_ALL = ("core/", "CMakeLists.txt", "pyproject.toml", "tests/conftest.py", "tests/harness/reach.py")
OF_OPERATORS = ("core/ops/", "core/kernels/")
OF_PAGES = ("docs/", "examples/", "README.md", "CONTRIBUTING.md")
ALL = None  # what stands for every test


class FaceReader(Reader):
    """Keeps the tables of faces apart: `shown` is {word: {module that has it}}."""

    def __init__(self, name, path, modules):
        super().__init__(name, path, modules)
        self.shown = {}

    def read_table(self, node):
        places = [self.place(key) for key in node.keys]
        if not places or None in places:
            return
        for place, value in zip(places, node.values):
            words = value.value.split() if hasattr(value, "value") and isinstance(value.value, str) else []
            for word in words:
                for part in word.split("="):
                    self.shown.setdefault(part.rpartition(".")[2], set()).add(place)


def changed_files(revision):
    """Return the paths that differ from a revision, those that are not committed or not even known to git included."""
    def ask(*words):
        done = subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT, timeout=60)
        if done.returncode:
            raise ValueError(f"--changed-since: got {revision!r}, of which git says: {done.stderr.strip()}")
        return done.stdout.splitlines()
    return sorted({*ask("diff", "--name-only", revision, "--"), *ask("ls-files", "--others", "--exclude-standard")})


class Package:
    """What the modules of the package need, and what its faces show."""

    def __init__(self):
        self.modules = list_modules()
        self.needs, self.shown = {}, {}
        for name, path in self.modules.items():
            reader = FaceReader(name, path, self.modules)
            self.needs[name] = {arrow.target for arrow in reader.read() if not self.is_face(arrow.target)}
            for word, places in reader.shown.items():
                for place in places:
                    self.shown.setdefault(word, set()).add(place)

    def is_face(self, name):
        """Return whether a module is a package's own file, which Python runs on the way to others."""
        return self.modules[name].name == "__init__.py"

    def reach(self, start):
        """Return all modules that some lead to."""
        found, waiting = set(), list(start)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.needs[name]
        return found


class Suite:
    """What the files of the tests name: modules of the package, one another, and words."""

    def __init__(self, package):
        self.package = package
        self.files = {str(path.relative_to(ROOT)): path for path in TESTS.rglob("*.py")}
        own = {".".join(path.relative_to(TESTS).with_suffix("").parts).removesuffix(".__init__"): path
               for path in self.files.values()}
        self.own = own
        self.modules, self.helpers, self.words = {}, {}, {}
        for name, path in self.files.items():
            everything = {**package.modules, **own}
            reader = Reader(f"tests.{name}", path, everything)
            targets = {arrow.target for arrow in reader.read()}
            self.modules[name] = targets & package.modules.keys()
            self.helpers[name] = {str(own[target].relative_to(ROOT)) for target in targets & own.keys()}
            self.words[name] = set(WORD.findall(path.read_text(encoding="utf-8")))

    def tests(self):
        """Return the paths of tests."""
        return [name for name in self.files if pathlib.Path(name).name.startswith("test_")]

    def with_helpers(self, name):
        """Return a test's path and those of the helpers that it leads to."""
        found, waiting = set(), [name]
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self.helpers[path]
        return found

    def leads(self, name):
        """Return the modules that a test leads to."""
        package, near = self.package, self.with_helpers(name)
        start = set().union(*(self.modules[path] for path in near))
        guests = {guest_of(module) for module in start}
        shown = set().union(*(package.shown.get(word, ()) for word in self.words[name]))
        return package.reach(start | {module for module in shown if guest_of(module) in guests})


def guest_of(module):
    """Return which face a module belongs to: `torch` of `dragon.vm.torch.nn`."""
    return module.split(".")[2] if module.startswith(GUESTS) else ""


def operators_in(path, known):
    """Return the operators that a source in C++ names; all where it is there no longer."""
    source = ROOT / path
    return set(QUOTED.findall(source.read_text(encoding="utf-8"))) & set(known) if source.exists() else set(known)


def tests_reached(changed, operators):
    """Return the tests that changed files reach.

    Parameters
    ----------
    changed : Iterable[str]
        Paths, relative to the repository.
    operators : Iterable[str]
        The names of all operators.

    Returns
    -------
    Tuple[Optional[Set[str]], Set[str]]
        Paths of tests, or None for all of them, and the operators whose rows are to be walked.

    """
    named, modules, helpers, pages = set(), set(), set(), False
    for path in changed:
        if path.startswith(OF_OPERATORS) and path.endswith((".cc", ".cu")):
            named |= operators_in(path, operators)
        elif path.startswith(FOR_ALL):
            return ALL, set(operators)
        elif path.startswith("dragon/") and path.endswith(".py"):
            parts = pathlib.Path(path).with_suffix("").parts
            modules.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        elif path.startswith("tests/"):
            helpers.add(path)
        pages |= path.startswith(OF_PAGES)
    if not (named or modules or helpers or pages):
        return set(), set()
    suite = Suite(Package())
    found = set()
    for name in suite.tests():
        if (suite.with_helpers(name) & helpers or pages and name.startswith("tests/docs/")
                or suite.words[name] & named or modules and (suite.leads(name) | suite.modules[name]) & modules):
            found.add(name)
    # Data beside tests, which no import tells: the tests of that folder.
    for path in helpers - suite.files.keys():
        found |= {name for name in suite.tests() if pathlib.Path(name).parent in pathlib.Path(path).parents}
    return found, named


class ReachedOnly:
    """The plugin: leaves out files that a change does not reach, and rows of other operators.

    Parameters
    ----------
    files : Optional[Iterable[str]]
        Paths of tests; None for all.
    operators : Iterable[str]
        The names of the operators whose rows are walked.

    """

    def __init__(self, files, operators):
        self.files, self.operators = files if files is ALL else set(files), set(operators)

    @classmethod
    def of(cls, config, revision):
        """Return the plugin: a process that shares tests out has found what is reached, others are told."""
        if hasattr(config, "workerinput"):
            return cls(*config.workerinput["reached"])
        from dragon import _C
        return cls(*tests_reached(changed_files(revision), _C.op_names()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Tell a worker."""
        node.workerinput["reached"] = (self.files if self.files is ALL else sorted(self.files), sorted(self.operators))

    def pytest_report_header(self):
        """Say what is run."""
        count = f"{len(self.files or ())} files of tests, {len(self.operators)} operators"
        what = "all tests" if self.files is ALL else count
        return f"changes reach {what}"

    def pytest_ignore_collect(self, collection_path):
        """Do not even read what is not reached."""
        if self.files is ALL or not collection_path.name.startswith("test_"):
            return None
        name = str(collection_path.relative_to(ROOT))
        is_walk = collection_path.name in ("test_rows.py", "test_operator_rows.py")
        return None if name in self.files or is_walk and self.operators else True

    def pytest_collection_modifyitems(self, config, items):
        """Leave out the rows of other operators, in walks that are reached only for some."""
        if self.files is ALL:
            return
        kept = [item for item in items if self.wants(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept

    def wants(self, item):
        """Return whether a test is reached."""
        if str(item.path.relative_to(ROOT)) in self.files:
            return True
        row = getattr(item, "callspec", None) and item.callspec.params.get("row")
        return getattr(row, "name", None) in self.operators
