// Random generators seen from Python.
#include "core/bindings/python.h"

namespace dragon::python {

void RegisterRandom(py::module_& m) {
  py::class_<Object, Ref<Object>>(m, "Object", "Something an operator's attribute may refer to.");
}

}  // namespace dragon::python
