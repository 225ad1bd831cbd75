// One translation of the engine's errors for everything that pybind11 calls.
#include "core/bindings/python.h"

namespace dragon::python {

void RegisterErrors() {
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (!pointer) return;
    try {
      std::rethrow_exception(pointer);
    } catch (const Error&) {
      SetPythonError();
    }
  });
}

}  // namespace dragon::python
