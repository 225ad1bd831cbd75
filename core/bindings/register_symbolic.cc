// Graphs whose sizes are known only at run time, seen from Python.
#include <pybind11/stl.h>

#include "core/bindings/python.h"
#include "core/runtime/symbolic.h"

namespace dragon::python {

void RegisterSymbolic(py::module_& m) {
  m.def(
      "specialise_graph",
      [](const Graph& graph, const std::vector<int64_t>& sizes) {
        return std::make_shared<Graph>(Specialise(graph, sizes));
      },
      "The graph with numbers in the places of symbols.", py::arg("graph"), py::arg("sizes"));
  m.def(
      "evaluate_graph",
      [](const Graph& graph, const py::object& inputs, const py::object& tensor_class) {
        const char* who = "evaluate_graph";
        const std::vector<Tensor> tensors = TensorsIn(inputs, who);
        const Frontend* frontend = FrontendIn(tensor_class, who);
        py::list outputs;
        for (const Tensor& tensor : Evaluate(graph, tensors)) {
          outputs.append(py::reinterpret_steal<py::object>(Wrap(tensor, frontend)));
        }
        return outputs;
      },
      "The outputs of a graph, each call made at the door.", py::arg("graph"), py::arg("inputs"),
      py::arg("tensor_class"));
}

}  // namespace dragon::python
