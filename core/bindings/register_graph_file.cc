// Graphs as bytes and files, seen from Python.
#include "core/bindings/python.h"
#include "core/framework/graph_proto.h"

namespace dragon::python {

void RegisterGraphFile(py::module_& m) {
  m.attr("graph_version") = kGraphVersion;
  m.def(
      "encode_graph", [](const Graph& graph) { return py::bytes(EncodeGraph(graph)); },
      "Return a graph as the bytes of a GraphDef.", py::arg("graph"));
  m.def(
      "decode_graph",
      [](const py::bytes& bytes) {
        const std::string_view view = bytes;
        return DecodeGraph({reinterpret_cast<const uint8_t*>(view.data()), view.size()});
      },
      "Return the graph of the bytes of a GraphDef, verified.", py::arg("bytes"));
  m.def("save_graph", &SaveGraph, "Write a graph and its weights to a file.", py::arg("graph"), py::arg("path"));
  m.def("load_graph", &LoadGraph, "Read a graph from a file, verified.", py::arg("path"), py::arg("map") = true);
}

}  // namespace dragon::python
