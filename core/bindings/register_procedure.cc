// Calls for other sizes than they were captured for, seen from Python.
#include <pybind11/stl.h>

#include "core/bindings/captures.h"
#include "core/framework/scribe.h"
#include "core/runtime/family.h"

namespace dragon::python {

namespace {

/// A call for other sizes than it was captured for.
struct ProcedureFace {
  std::shared_ptr<Procedure> procedure;
  std::vector<const Frontend*> frontends;

  py::list Run(const py::sequence& arguments, const std::vector<double>& symbols) const {
    const std::vector<Tensor> inputs = TensorsOf(arguments, "procedure");
    std::vector<Tensor> results;
    {
      WithoutGil outside;
      results = procedure->Run(inputs, symbols);
    }
    py::list list(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Wrap(results[i], frontends[i]));
    }
    return list;
  }
  CaptureFace Traced(const py::sequence& arguments, const CaptureFace& like) const {
    CaptureFace captured;
    captured.trace = std::make_shared<Trace>();
    captured.frontends = frontends;
    captured.capture =
        procedure->Traced(TensorsOf(arguments, "procedure"), like.capture, captured.trace.get(), &captured.outputs);
    return captured;
  }
};

ProcedureFace FinishProcedure(Scribe& scribe, const py::sequence& outputs) {
  ProcedureFace face;
  for (py::handle object : outputs) face.frontends.push_back(FrontendOf(Py_TYPE(object.ptr())));
  face.procedure = std::make_shared<Procedure>(scribe.Finish(TensorsOf(outputs, "scribe")));
  return face;
}

/// Where two captures differ; empty if they are the same to the last number.
std::string DifferenceOf(CaptureFace& one, CaptureFace& other) { return Difference(one.With(true), other.With(true)); }

}  // namespace

void RegisterProcedure(py::module_& m) {
  py::class_<ProcedureFace>(m, "Procedure", "A call as the program asked for it, for sizes that vary.")
      .def("run", &ProcedureFace::Run, "Do the call again, operator by operator.", py::arg("arguments"),
           py::arg("symbols"))
      .def(
          "refusal",
          [](const ProcedureFace& self, const py::sequence& arguments) {
            const std::vector<double> symbols(self.procedure->symbols.size(), 1.0);
            return self.procedure->Refusal(TensorsOf(arguments, "procedure"), symbols);
          },
          "Why it does not hold for arguments like these; empty if it does.", py::arg("arguments"))
      .def("traced", &ProcedureFace::Traced,
           "What the call comes to for arguments like these, which are not looked at.", py::arg("arguments"),
           py::arg("like"))
      .def_property_readonly("step_count", [](const ProcedureFace& self) { return self.procedure->steps.size(); })
      .def_property_readonly(
          "fixed_sizes", [](const ProcedureFace& self) { return self.procedure->FixedSizes(); },
          "The sizes (argument, axis) that the program took for plain numbers.")
      .def_property_readonly("outside",
                             [](const ProcedureFace& self) {
                               py::list list;
                               for (const auto& [id, tensor] : self.procedure->outside) list.append(Shown(tensor));
                               return list;
                             })
      .def_property_readonly(
          "conditions", [](const ProcedureFace& self) { return self.procedure->Conditions(); },
          "What the program decided by sizes.");
  m.def("finish_procedure", &FinishProcedure, "The procedure that leads to these tensors.", py::arg("scribe"),
        py::arg("outputs"));
  m.def("difference", &DifferenceOf, "Where two captures differ; empty where they do not.", py::arg("one"),
        py::arg("other"));
}

}  // namespace dragon::python
