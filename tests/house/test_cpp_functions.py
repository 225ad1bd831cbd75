"""C++ functions are as short as a page: sixty lines from the line that names them to the brace that ends them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "tests")
SUFFIXES = (".h", ".cc", ".cu", ".cuh")
LONGEST = 60
# What may hold a brace that is none of the code's: comments, literals, and lines of the preprocessor.
SILENT = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|"""
                    r"""^[ ]*\#(?:\\\n|[^\n])*""", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"[;{}]")
ROOMS = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")
NAME = re.compile(r"(operator\s*[^\s(]+|~?[\w:]+)\s*\(")


def list_functions(text):
    """Yield (name, lines) of the functions of a source; what stands inside of a function is part of it.

    A table of rows at the level of the file is no function, however long.
    """
    text = SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    depth, begins = 0, None  # of braces within a function or table, and where it begins
    name, is_table, start = "", False, 0
    for mark in MARK.finditer(text):
        head = text[start:mark.start()]
        start = mark.end()
        if begins is not None:
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if depth == 0:
                if not is_table:
                    yield name, text.count("\n", begins, mark.start()) + 1
                begins = None
        elif mark[0] == "{" and not ROOMS.search(head):
            begins, depth = start - 1 - len(head.lstrip()), 1
            is_table = head.rstrip().endswith("=")
            found = NAME.search(head)
            name = re.sub(r"\s", "", found[1]) if found else head.strip()


def long_functions():
    """Return {(name of the file, function): lines} of the functions that are too long."""
    found = {}
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES):
        for name, lines in list_functions(path.read_text(encoding="utf-8")):
            if lines > LONGEST:
                found[path.name, name] = lines
    return found


def test_no_cpp_function_is_too_long():
    assert not long_functions()


def test_functions_are_told_from_what_surrounds_them():
    text = (
        'namespace a {\nstruct B {\n  int f(int x) const {\n    if (x) {  // }\n      return \'{\';\n    }\n  }\n};\n'
        'const int kTable[] = {\n  1, 2};\nstd::string g(\n    int x) {\n  return "}";\n}\n}  // namespace a\n')
    assert list(list_functions(text)) == [("f", 5), ("g", 4)]
