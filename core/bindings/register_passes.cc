// The passes seen from Python: their names, and running them on a graph.
#include <pybind11/stl.h>

#include "core/bindings/python.h"
#include "core/passes/pass.h"

namespace dragon::python {

namespace {

py::list OptimizeGraph(Graph& graph, int level, const std::set<std::string>& skip, bool verify) {
  py::list reports;
  for (const PassReport& report : Optimize(graph, {level, skip, verify})) {
    reports.append(py::make_tuple(report.name, report.nanoseconds, report.calls_before, report.calls_after));
  }
  return reports;
}

py::list PassNames() {
  py::list names;
  for (const Pass& pass : Passes()) names.append(py::make_tuple(pass.name, pass.level, pass.order, pass.doc));
  return names;
}

}  // namespace

void RegisterPasses(py::module_& m) {
  m.def("optimize", &OptimizeGraph,
        "Run the passes of a level (0 to 3) on a graph, but those to skip; with `verify`, check it after each. Returns "
        "a (name, nanoseconds, calls before, calls after) for each run.",
        py::arg("graph"), py::arg("level") = 3, py::arg("skip") = std::set<std::string>(), py::arg("verify") = false);
  m.def("pass_names", &PassNames, "All passes in their order: (name, level, order, what it does).");
}

}  // namespace dragon::python
