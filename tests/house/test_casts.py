"""No object is taken for a tensor, a graph or a list unasked: `core/bindings/objects.h` alone casts, after a look."""
import pathlib
import re

ROOM = pathlib.Path(__file__).resolve().parents[2] / "core" / "bindings"
HOME = ("objects.h", "objects.cc")
# What would take an object for another: each has its checked form in objects.h.
CASTS = {
    r"(reinterpret_cast|static_cast|const_cast)<(const )?Py\w+( const)?\*": "TensorIf, TensorIn, Self(self), Upcast",
    r"\((const )?Py[A-Z]\w*\*\)\s*[\w&(]": "TensorIf, TensorIn, Self(self), Upcast",
    r"reinterpret_borrow<py::(?!object\b|handle\b)\w+": "TupleOf, TupleIn, EngineObject",
    r"Py(List|Tuple)_GET_ITEM|PySequence_Fast_(GET_ITEM|ITEMS)": "ItemAt, EachItem, KeywordAt",
    r"py::detail::instance\b": "Behind",
}
COMMENT = re.compile(r"//[^\n]*")
# `Self` is for what Python hands to the functions of a C type, which it has looked at, and for the object that a line
# before has looked at.
SELF = re.compile(r"\bSelf(?:<\w+>|Tensor)\((?!self\b)([^()]*(?:\([^()]*\))?[^()]*)\)")
LOOKED_AT = {
    ("guard.h", "object"): "behind a comparison of its class",
    ("guard.cc", "place.container"): "RequireKind has looked at it",
    ("subscript.cc", "object"): "behind PySlice_Check",
    ("register_record_walk.cc", "type"): "what PyType_FromSpec made",
}


def sources():
    """Yield (name, text without comments) of the room's files."""
    for path in sorted(ROOM.glob("*.[ch]*")):
        yield path.name, COMMENT.sub("", path.read_text(encoding="utf-8"))


def casts_in(text):
    """Return [(cast, what stands for it)] of a source."""
    return [(match[0], better) for pattern, better in CASTS.items() for match in re.finditer(pattern, text)
            if not re.search(r"<(const )?Py(CFunction|_ssize_t|_intptr_t)", match[0])]


def test_one_place_casts():
    found = [f"{name}: {cast}, expected one of {better}" for name, text in sources() if name not in HOME
             for cast, better in casts_in(text)]
    assert not found


def test_self_is_what_python_has_looked_at():
    found = {(name, match[1]) for name, text in sources() if name not in HOME for match in SELF.finditer(text)}
    assert found == set(LOOKED_AT)


def test_casts_are_recognised():
    for text in ("reinterpret_cast<PyTensor*>(x)", "static_cast<const PyDType*>(x)", "(PyTensor*)x",
                 "PyList_GET_ITEM(x, 1)", "py::reinterpret_borrow<py::sequence>(x)"):
        assert len(casts_in(text)) == 1, text
    for text in ("py::reinterpret_borrow<py::object>(x)", "reinterpret_cast<Py_ssize_t*>(x)",
                 "f(PyObject* (*)(PyObject*))"):
        assert not casts_in(text), text
