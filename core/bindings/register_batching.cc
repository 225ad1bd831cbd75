// Functions written for one slice, called once for whole batches, from Python.
#include "core/bindings/python.h"
#include "core/framework/batching.h"

namespace dragon::python {

namespace {

/// Call a function with stand-ins for the slices of batches. Tensors among its results that are stand-ins come back as
/// (batch, True), everything else as (item, False).
py::list CallBatched(const py::function& function, const py::object& given_arguments, const py::object& given_varies,
                     int64_t size, bool apart) {
  const py::tuple arguments = TupleOf(given_arguments, "call_batched"), varies = TupleOf(given_varies, "call_batched");
  if (arguments.size() != varies.size()) {
    throw ValueError("call_batched")
        .Got(arguments.size(), " arguments and ", varies.size(), " flags")
        .Expected("as many of each");
  }
  Batch batch(size, apart);
  py::list given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const py::object item = arguments[i];
    if (!py::cast<bool>(varies[i])) {
      given.append(item);
      continue;
    }
    const Tensor stand_in = batch.StandIn(TensorIn(item, "call_batched"));
    given.append(py::reinterpret_steal<py::object>(Wrap(stand_in, FrontendOf(Py_TYPE(item.ptr())))));
  }
  batch.Open();
  const py::tuple results = TupleOf(function(*py::tuple(given)), "call_batched");
  if (batch.refused()) throw RuntimeError("call_batched").Says("the function went on although a call was refused");
  py::list found;
  for (size_t i = 0; i < results.size(); ++i) {
    py::object item = results[i];
    const Tensor* tensor = TensorIf(item);
    const Tensor* behind = tensor ? batch.Find(*tensor) : nullptr;
    if (behind) item = py::reinterpret_steal<py::object>(Wrap(*behind, FrontendOf(Py_TYPE(item.ptr()))));
    found.append(py::make_tuple(item, behind != nullptr));
  }
  return found;
}

}  // namespace

void RegisterBatching(py::module_& m) {
  m.def(
      "call_batched", &CallBatched,
      "Call a function, written for one slice, with batches whose slices lie along their first axes: those of the "
      "arguments that vary. Return its results, each with whether it is a batch. Raises what it cannot do so; without "
      "`apart`, that holds for operators that go slice by slice.",
      py::arg("function"), py::arg("arguments"), py::arg("varies"), py::arg("size"), py::arg("apart") = true);
  m.def(
      "is_stand_in",
      [](const py::object& item) {
        const Tensor* tensor = TensorIf(item);
        return tensor && FindBatch(*tensor);
      },
      "Whether an object stands for the slices of a batch.", py::arg("item"));
}

}  // namespace dragon::python
