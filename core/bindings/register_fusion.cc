// Graphs as arguments seen from Python, and Ctrl-C while they run in loops.
#include <chrono>

#include "core/bindings/gil.h"
#include "core/bindings/python.h"
#include "core/framework/bodies.h"

namespace dragon::python {

namespace {

/// Often enough for people, and seldom enough for loops of small rounds.
constexpr std::chrono::milliseconds kBetweenLooks{20};

void RaiseSignals() {
  thread_local std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now();
  if (now - last < kBetweenLooks) return;
  last = now;
  if (PyGILState_Check()) const WithoutGil others;  // have their turn
  WithGil gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// What Python has named as the keeper of functions; never let go of, since graphs may outlive the interpreter.
py::object& Keeper() {
  static auto* keeper = new py::object();
  return *keeper;
}

void CallHost(int64_t function, std::span<const Tensor> inputs) {
  WithGil gil;
  py::list tensors;
  for (const Tensor& tensor : inputs) {
    tensors.append(py::reinterpret_steal<py::object>(Wrap(tensor, nullptr)));
  }
  Keeper()(function, tensors);
}

}  // namespace

void RegisterFusion(py::module_& m) {
  Bodies().interrupt = &RaiseSignals;
  m.def(
      "set_host",
      [](py::function keeper) {
        Keeper() = std::move(keeper);
        Bodies().host = &CallHost;
      },
      py::arg("keeper"), "Have `host_call` call this function, with a number and a list of tensors.");
  py::class_<GraphBody, Object, Ref<GraphBody>>(m, "GraphBody", "A graph that an argument of an operator holds.")
      .def(py::init([](const Graph& graph) {
             graph.Verify();
             return MakeRef<GraphBody>(graph);
           }),
           py::arg("graph"))
      .def_property_readonly("graph", [](const GraphBody& body) { return body.graph(); }, "A copy of the graph.");
}

}  // namespace dragon::python
