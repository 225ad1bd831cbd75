// x[...] and x[...] = y: Python's subscripts become lists of index items for the engine.
#include "core/bindings/python.h"

namespace dragon::python {

PyObject* GetItem(PyObject* self, PyObject* key) {
  return Guarded([&]() -> PyObject* { throw NotImplementedError("getitem").Says("lands with the index operators"); });
}

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  return GuardedInt([&]() -> int { throw NotImplementedError("setitem").Says("lands with the index operators"); });
}

}  // namespace dragon::python
