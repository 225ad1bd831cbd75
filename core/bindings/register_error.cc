// One translation of the engine's errors, and the classes they become.
//
// NumPy's users expect ValueError where PyTorch's expect RuntimeError: each class is both, so either `except` holds.
#include "core/bindings/python.h"

namespace dragon::python {

namespace {

struct ErrorKindClass {
  const char* name;
  const char* doc;
  std::vector<PyObject*> bases;
};

PyObject* error_classes[7] = {};

}  // namespace

PyObject* ErrorClass(ErrorKind kind) { return error_classes[static_cast<int>(kind)]; }

void RegisterErrors(py::module_& m) {
  const ErrorKindClass kinds[] = {
      {"InvalidValue", "A wrong value or shape.", {PyExc_ValueError, PyExc_RuntimeError}},
      {"InvalidType", "A wrong kind of argument or dtype.", {PyExc_TypeError, PyExc_RuntimeError}},
      {"InvalidIndex", "An axis or index out of range.", {PyExc_IndexError, PyExc_ValueError, PyExc_RuntimeError}},
      {"Unsupported", "Something that this build or device lacks.", {PyExc_NotImplementedError}},
      {"EngineError", "Trouble at run time.", {PyExc_RuntimeError}},
      {"OutOfMemory", "No memory for a tensor.", {PyExc_MemoryError, PyExc_RuntimeError}},
      {"LinAlgError", "A matrix that a decomposition or solver cannot take.", {PyExc_RuntimeError}},
  };
  for (size_t i = 0; i < std::size(kinds); ++i) {
    py::tuple bases(kinds[i].bases.size());
    for (size_t k = 0; k < kinds[i].bases.size(); ++k) bases[k] = py::handle(kinds[i].bases[k]);
    const std::string name = std::string("dragon.") + kinds[i].name;
    error_classes[i] = PyErr_NewExceptionWithDoc(name.c_str(), kinds[i].doc, bases.ptr(), nullptr);
    if (!error_classes[i]) throw py::error_already_set();
    m.attr(kinds[i].name) = py::handle(error_classes[i]);
  }
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (!pointer) return;
    try {
      std::rethrow_exception(pointer);
    } catch (const Error&) {
      SetPythonError();
    } catch (const py::reference_cast_error&) {
      throw;  // another overload may do
    } catch (const py::cast_error&) {
      SetPythonError();
    }
  });
}

}  // namespace dragon::python
