// Tracing, compiling and running captured calls, seen from Python.
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>

#include "core/bindings/captures.h"
#include "core/device/absent.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/known.h"
#include "core/passes/decompose.h"
#include "core/runtime/family.h"
#include "core/runtime/program.h"

namespace dragon::python {

namespace {

struct PlanFace {
  std::shared_ptr<Plan> plan;
};

PassOptions PassesOf(int level, const std::set<std::string>& skip) {
  PassOptions options;
  options.level = level;
  options.skip = skip;
  return options;
}

PlanOptions PlanOf(int level, const std::string& memory, bool device_graphs) {
  PlanOptions options;
  options.device_graphs = device_graphs;
  options.memory = MemoryModeNamed(memory.empty() ? level >= 3 ? "arena" : "naive" : memory);
  options.in_place = level >= 2;
  return options;
}

CaptureFace Finish(TraceFace& face, const py::object& given) {
  const py::tuple outputs = TupleOf(given, "trace");
  CaptureFace captured;
  captured.outputs = TensorsIn(outputs, "trace");
  for (py::handle object : outputs) captured.frontends.push_back(FrontendOf(Py_TYPE(object.ptr())));
  captured.capture = face.trace->Finish(captured.outputs);
  captured.trace = face.trace;
  return captured;
}

ProgramFace MakeProgram(Capture capture, const std::vector<const Frontend*>& frontends, int level, int forward_level,
                        const std::set<std::string>& skip, const std::string& memory, bool device_graphs = false) {
  const bool both = !capture.backward.roots.empty() && !capture.backward.wanted.empty();
  const CompileOptions options{PassesOf(both ? forward_level : level, skip), PassesOf(level, skip),
                               PlanOf(level, memory, device_graphs)};
  WithoutGil outside;
  return {std::make_shared<Program>(std::move(capture), options), frontends};
}

ProgramFace CompileCapture(CaptureFace& captured, int level, int forward_level, const std::set<std::string>& skip,
                           const std::string& memory, bool differentiate, bool device_graphs) {
  return MakeProgram(captured.With(differentiate), captured.frontends, level, forward_level, skip, memory,
                     device_graphs);
}

Relation RelationNamed(const std::string& name) {
  const auto found = std::find(std::begin(kRelations), std::end(kRelations), name);
  if (found == std::end(kRelations)) throw ValueError("unify").Got("relation '", name, "'").Expected("==, < or <=");
  return static_cast<Relation>(found - std::begin(kRelations));
}

/// The graph of a call for sizes that are symbols.
std::shared_ptr<Graph> Unify(
    const std::vector<std::pair<CaptureFace*, std::vector<int64_t>>>& samples, const std::vector<std::string>& symbols,
    const std::vector<std::tuple<std::string, bool, std::vector<int64_t>, std::vector<int64_t>>>& decisions) {
  std::vector<Capture> captures;
  std::vector<std::vector<int64_t>> sizes;
  for (const auto& [captured, those] : samples) {
    captures.push_back(Present(captured, "unify", "a capture")->With(false));
    sizes.push_back(those);
  }
  std::vector<Decided> decided;
  for (const auto& [relation, held, a, b] : decisions) {
    if (a.size() != samples.size() || b.size() != samples.size()) {
      throw ValueError("unify").Got(a.size(), " and ", b.size(), " numbers").Expected(samples.size());
    }
    decided.push_back({RelationNamed(relation), held, a, b});
  }
  return std::make_shared<Graph>(Unified(captures, sizes, symbols, decided));
}

py::object PhantomLike(const py::object& tensor, const py::object& shape, bool requires_grad) {
  const Tensor& x = TensorIn(tensor, "phantom_like");
  const Frontend* frontend = FrontendOf(Py_TYPE(tensor.ptr()));
  const Tensor phantom = Tensor::Phantom(ParseDims(shape.ptr(), {"phantom_like", nullptr}), {}, x.dtype(), x.device());
  if (x.requires_grad() || (requires_grad && IsInexact(x.dtype()))) {
    phantom.set_requires_grad(true);
    AutogradMeta::Of(phantom).when_asked =
        x.requires_grad() ? !RecordsUnasked(x) : frontend && frontend->waits_to_be_asked;
  }
  return Wrapped(phantom, frontend);
}

py::dict MemoryDict(const Plan& plan) {
  py::dict dict;
  dict["naive"] = plan.memory().naive;
  dict["planned"] = plan.memory().planned;
  dict["measured"] = plan.memory().measured;
  dict["buffers"] = plan.memory().buffers;
  return dict;
}

/// A piece of memory as Python is told of it.
py::dict PieceDict(const PlanPiece& piece) {
  static constexpr const char* kKinds[] = {"block", "input", "constant", "output", "own"};
  py::dict dict;
  dict["kind"] = kKinds[static_cast<int>(piece.kind)];
  dict["device"] = piece.device.str();
  dict["offset"] = piece.life.offset;
  dict["bytes"] = piece.life.bytes;
  dict["first"] = piece.life.first;
  dict["last"] = piece.life.last;
  dict["values"] = piece.values;
  return dict;
}

py::list Pieces(const Plan& plan) {
  py::list list;
  for (const PlanPiece& piece : plan.memory().pieces) list.append(PieceDict(piece));
  return list;
}

py::list Events(const std::vector<PlanEvent>& events) {
  py::list list;
  for (const PlanEvent& event : events) {
    list.append(py::make_tuple(event.name, event.start, event.end, event.bytes, event.scope));
  }
  return list;
}

const Frontend* FrontendOfAny(const py::tuple& objects) {
  for (py::handle object : objects) return FrontendOf(Py_TYPE(object.ptr()));
  return FrontendOf(&TensorType);
}

py::list WrapList(const std::vector<Tensor>& tensors, const Frontend* frontend) {
  py::list list;
  for (const Tensor& tensor : tensors) list.append(Wrapped(tensor, frontend));
  return list;
}

void RegisterPlan(py::module_& m) {
  py::class_<PlanFace>(m, "Plan", "A graph made ready to run.")
      .def(py::init([](const Graph& graph, int level, const std::set<std::string>& skip, const std::string& memory,
                       bool device_graphs) {
             WithoutGil outside;
             return PlanFace{Compile(Decompose(graph), PassesOf(level, skip), PlanOf(level, memory, device_graphs))};
           }),
           py::arg("graph"), py::arg("level") = 3, py::arg("skip") = std::set<std::string>(), py::arg("memory") = "",
           py::arg("device_graphs") = false)
      .def(
          "run",
          [](const PlanFace& self, const py::object& given, const py::object& tensor_class) {
            const py::tuple inputs = TupleOf(given, "plan");
            const std::vector<Tensor> tensors = TensorsIn(inputs, "plan");
            const Frontend* frontend =
                tensor_class.is_none() ? FrontendOfAny(inputs) : FrontendIn(tensor_class, "plan");
            std::vector<Tensor> results;
            {
              WithoutGil outside;
              results = self.plan->Run(tensors);
            }
            return WrapList(results, frontend);
          },
          "Run over tensors; inputs that the graph updates are written.", py::arg("inputs"),
          py::arg("tensor_class") = py::none())
      .def(
          "profile",
          [](const PlanFace& self, const py::object& inputs) {
            const std::vector<Tensor> tensors = TensorsIn(inputs, "plan");
            std::vector<PlanEvent> events;
            self.plan->Profile(tensors, &events);
            return Events(events);
          },
          "Run, and return (operator, start in ns, end in ns, bytes of results, scope) per call.", py::arg("inputs"))
      .def(
          "measure",
          [](const PlanFace& self, const py::object& inputs) {
            self.plan->Measure(TensorsIn(inputs, "plan"));
            return MemoryDict(*self.plan);
          },
          "Run, and return bytes: naive, planned, measured; and the number of buffers.", py::arg("inputs"))
      .def_property_readonly("memory", [](const PlanFace& self) { return MemoryDict(*self.plan); })
      .def_property_readonly(
          "pieces", [](const PlanFace& self) { return Pieces(*self.plan); },
          "Each piece of memory: its kind, device, offset and bytes, the calls between which it is needed, and the "
          "values that lie there one after another.")
      .def_property_readonly("graph", [](const PlanFace& self) { return std::make_shared<Graph>(self.plan->graph()); })
      .def_property_readonly(
          "device_graphs",
          [](const PlanFace& self) {
            const Plan::DeviceGraphFacts facts = self.plan->device_graphs();
            return py::make_tuple(facts.captures, facts.runs, facts.refusal);
          },
          "As graphs of the device: how often it was noted down, how often that ran, and why it is not; empty while it "
          "may be.")
      .def_property_readonly("step_count", [](const PlanFace& self) { return self.plan->step_count(); });
}

void RegisterProgram(py::module_& m) {
  py::class_<ProgramFace>(m, "Program", "A captured call made ready to run.")
      .def("run", &ProgramFace::Run,
           "Do again what the captured call did, with these arguments; `symbols` are numbers that change from run to "
           "run. None, and nothing done, where another thread has moved an argument since guards looked at it.",
           py::arg("arguments"), py::arg("symbols") = std::vector<double>())
      .def(
          "staleness",
          [](const ProgramFace& self, const py::object& arguments) {
            return self.program->Staleness(TensorsIn(arguments, "compiled"));
          },
          "Why this does not fit the present state; empty if it does.", py::arg("arguments"))
      .def_property_readonly(
          "forward",
          [](ProgramFace& self) { return PlanFace{std::shared_ptr<Plan>(self.program, &self.program->forward())}; })
      .def_property_readonly("backward",
                             [](ProgramFace& self) -> py::object {
                               if (!self.program->backward()) return py::none();
                               return py::cast(PlanFace{std::shared_ptr<Plan>(self.program, self.program->backward())});
                             })
      .def_property_readonly("reports", [](ProgramFace& self) {
        py::list list;
        for (const PassReport& report : self.program->reports()) {
          list.append(py::make_tuple(report.name, report.nanoseconds, report.calls_before, report.calls_after));
        }
        return list;
      });
}

void RegisterCapture(py::module_& m) {
  py::class_<CaptureFace>(m, "Capture", "What a traced call did.")
      .def_property_readonly("graph",
                             [](const CaptureFace& self) { return std::make_shared<Graph>(self.capture.graph); })
      .def_property_readonly(
          "inputs",
          [](const CaptureFace& self) {
            static const char* const kSources[] = {"argument", "outside", "gradient", "upstream"};
            py::list list;
            for (const CapturedInput& input : self.capture.inputs) {
              list.append(py::make_tuple(kSources[static_cast<int>(input.source)],
                                         Wrapped(input.tensor, FrontendOf(&TensorType))));
            }
            return list;
          },
          "(source, tensor) of each input of the graph: 'argument', 'outside' or 'gradient'.")
      .def_property_readonly("written",
                             [](const CaptureFace& self) {
                               std::vector<int> written;
                               for (const auto& [input, value] : self.capture.graph.updates) written.push_back(input);
                               return written;
                             })
      .def_property_readonly(
          "placed",
          [](const CaptureFace& self) {
            py::list list;
            for (int32_t input : self.capture.placed) list.append(Shown(self.capture.inputs[input].tensor));
            return list;
          },
          "The tensors from outside whose place in their memory matters.")
      .def_property_readonly(
          "guarded_grads",
          [](const CaptureFace& self) {
            py::list list;
            for (const CapturedGradient& gradient : self.capture.gradients) {
              if (gradient.guarded) list.append(Shown(gradient.leaf));
            }
            return list;
          },
          "The leaves for which it matters whether they have a gradient.")
      .def("forget", &CaptureFace::Forget, "Let go of what the traced call has computed.")
      .def("drop", &CaptureFace::Drop, "The same where nobody will ask for gradients.")
      .def("compile", &CompileCapture, "Optimise and plan; with `differentiate`, the backward pass as well.",
           py::arg("level") = 3, py::arg("forward_level") = 3, py::arg("skip") = std::set<std::string>(),
           py::arg("memory") = "", py::arg("differentiate") = true, py::arg("device_graphs") = false);
}

void RegisterFindings(py::class_<TraceFace>* trace) {
  trace
      ->def(
          "note_findings", [](TraceFace& self) { self.trace->NoteFindings(); },
          "Go on where the program looks at numbers, and note what it finds. Before the start.")
      .def(
          "foretell", [](TraceFace& self, const TraceFace& other) { self.trace->Foretell(other.trace->findings()); },
          "Tell the program, which computes nothing, what it found before another trace.", py::arg("other"))
      .def_property_readonly(
          "unfound",
          [](const TraceFace& self) { return static_cast<int>(self.trace->findings().size()) - self.trace->found(); },
          "How much of what it was foretold the program has not looked at.")
      .def_property_readonly(
          "first_look", [](const TraceFace& self) { return self.trace->first_look(); },
          "Where the program first looked at numbers that may be others the next time; empty if nowhere.");
}

void RegisterTracing(py::module_& m) {
  py::class_<TraceFace> trace(m, "Trace", "Writes down the calls that come to this thread's door.");
  RegisterFindings(&trace);
  trace
      .def(py::init([](bool branch, bool follows) { return TraceFace{std::make_shared<Trace>(branch, follows)}; }),
           py::arg("branch") = false, py::arg("follows") = true)
      .def(
          "add_input",
          [](TraceFace& self, const py::object& tensor, const std::string& name) {
            self.trace->AddInput(TensorIn(tensor, "trace"), name);
          },
          "Name an argument of the call.", py::arg("tensor"), py::arg("name") = "")
      .def(
          "tell_views_apart", [](TraceFace& self) { self.trace->TellViewsApart(); },
          "Say which of two tensors is read that lie alike, for graphs of other sizes. Before the start.")
      .def("start", [](TraceFace& self) { self.trace->Start(); })
      .def("stop", [](TraceFace& self) { self.trace->Stop(); })
      .def(
          "give_up", [](TraceFace& self, const std::string& why) { self.trace->GiveUp(why); }, py::arg("why"))
      .def(
          "set_place", [](TraceFace& self, py::function place) { self.trace->place = Asking(std::move(place)); },
          "Have a function say where the program stands, for when the trace gives up.", py::arg("place"))
      .def(
          "set_scope", [](TraceFace& self, py::function scope) { self.trace->scope = Asking(std::move(scope)); },
          "Have a function say where each call comes from.", py::arg("scope"))
      .def_property_readonly("failure",
                             [](const TraceFace& self) -> py::object {
                               return self.trace->failure().empty() ? py::object(py::none())
                                                                    : py::str(self.trace->failure());
                             })
      .def_property_readonly(
          "outside", [](const TraceFace& self) { return WrapList(self.trace->Outside(), FrontendOf(&TensorType)); })
      .def_property_readonly(
          "outside_inputs",
          [](const TraceFace& self) {
            py::list list;
            const std::vector<CapturedInput>& inputs = self.trace->inputs();
            for (size_t i = 0; i < inputs.size(); ++i) {
              if (inputs[i].source != CapturedInput::Source::kOutside) continue;
              list.append(py::make_tuple(i, Shown(inputs[i].tensor)));
            }
            return list;
          },
          "(number among the inputs, tensor) of each tensor that the function found by itself.")
      .def("set_owner",
           [](TraceFace& self, int input, const py::object& tensor) {
             const auto count = static_cast<int>(self.trace->inputs().size());
             if (input < 0 || input >= count)
               throw ValueError("set_owner").Got("input ", input).Expected("one of ", count);
             self.trace->SetOwner(input, TensorIn(tensor, "set_owner"));
           })
      .def(
          "add_symbol", [](TraceFace& self, const std::string& name) { return self.trace->AddSymbol(name); },
          py::arg("name"))
      .def(
          "restore_gradients", [](TraceFace& self) { self.trace->RestoreGradients(); },
          "Give leaves their gradients back, after a call of which only the shapes were wanted.")
      .def("finish", &Finish, "The graph that leads to these tensors.", py::arg("outputs"));
}

void RegisterFamily(py::module_& m) {
  m.def(
      "unify", &Unify,
      "Make one graph of captures (captured, sizes) of a call: at some sizes, at others in each symbol alone, and at "
      "others in all; a ValueError says why not.",
      py::arg("samples"), py::arg("symbols"),
      py::arg("decisions") = std::vector<std::tuple<std::string, bool, std::vector<int64_t>, std::vector<int64_t>>>());
}

/// Calls of which only the shapes are wanted, and what a graph is made of.
void RegisterPhantoms(py::module_& m) {
  m.def("phantom_like", &PhantomLike,
        "Return a tensor of a shape but without numbers, otherwise like another; with `requires_grad`, recorded.",
        py::arg("tensor"), py::arg("shape"), py::arg("requires_grad") = false);
  m.def(
      "is_open", [](const py::object& tensor) { return IsOpen(TensorIn(tensor, "is_open")); },
      "Whether this thread's calls are written down, and could not be if somebody looked at these numbers.",
      py::arg("tensor"));
  m.def(
      "give_up",
      [](const std::string& why) {
        if (Door().tracer) Door().tracer->GiveUp(why);
      },
      "Have whoever writes down this thread's calls give up.", py::arg("why"));
  m.def("is_tracing", [] { return Door().tracer != nullptr; }, "Whether this thread's calls are written down.");
  m.def(
      "set_phantom",
      [](uint32_t phantom) {
        const uint32_t before = Door().phantom ? std::max<uint32_t>(PhantomRun(), 1) : 0;
        Door().phantom = NumbersAreAbsent() = phantom != 0;
        if (phantom != 1) {
          PhantomRun() = phantom;
        } else if (!before) {
          PhantomRun() = NextPhantomRun();
        }
        return before;
      },
      "Have this thread's calls make shapes only (True: a run of its own, unless it is in one; a number: the run that "
      "it was in) or not; returns what was. A look at numbers that are not there is then a NotImplementedError.",
      py::arg("phantom"));
  m.def("is_phantom", [] { return Door().phantom; }, "Whether this thread's calls make shapes only.");
  m.def(
      "decompose", [](const Graph& graph) { return std::make_shared<Graph>(Decompose(graph)); },
      "The graph with every composition taken apart.", py::arg("graph"));
}

}  // namespace

void RegisterTrace(py::module_& m) {
  RegisterPlan(m);
  RegisterProgram(m);
  RegisterCapture(m);
  RegisterTracing(m);
  RegisterFamily(m);
  RegisterPhantoms(m);
}

}  // namespace dragon::python
