// Bodies of fused calls seen from Python.
#include "core/bindings/python.h"
#include "core/framework/graph_body.h"

namespace dragon::python {

void RegisterFusion(py::module_& m) {
  py::class_<GraphBody, Object, Ref<GraphBody>>(m, "GraphBody", "A graph that an argument of an operator holds.")
      .def(py::init([](const Graph& graph) {
             graph.Verify();
             return MakeRef<GraphBody>(graph);
           }),
           py::arg("graph"))
      .def_property_readonly("graph", [](const GraphBody& body) { return body.graph(); }, "A copy of the graph.");
}

}  // namespace dragon::python
