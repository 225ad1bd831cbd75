// Calls for other sizes than they were captured for, seen from Python.
#include <pybind11/stl.h>

#include "core/bindings/captures.h"
#include "core/framework/procedure_parts.h"
#include "core/framework/scribe.h"
#include "core/runtime/family.h"

namespace dragon::python {

namespace {

/// A call for other sizes than it was captured for.
struct ProcedureFace {
  std::shared_ptr<Procedure> procedure;
  std::vector<const Frontend*> frontends;

  py::list Run(const py::object& arguments, const std::vector<double>& symbols) const {
    const std::vector<Tensor> inputs = TensorsIn(arguments, "procedure");
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
  CaptureFace Traced(const py::object& arguments, const CaptureFace& like, const TraceFace* foretold,
                     bool apart) const {
    CaptureFace captured;
    captured.trace = std::make_shared<Trace>();
    if (apart) captured.trace->TellViewsApart();
    if (foretold) captured.trace->Foretell(foretold->trace->findings());
    captured.frontends = frontends;
    captured.capture =
        procedure->Traced(TensorsIn(arguments, "procedure"), like.capture, captured.trace.get(), &captured.outputs);
    return captured;
  }
};

ProcedureFace FinishProcedure(Scribe& scribe, const py::object& given) {
  const py::tuple outputs = TupleOf(given, "scribe");
  ProcedureFace face;
  for (py::handle object : outputs) face.frontends.push_back(FrontendOf(Py_TYPE(object.ptr())));
  face.procedure = std::make_shared<Procedure>(scribe.Finish(TensorsIn(outputs, "scribe")));
  return face;
}

/// A function of Python's, called with the arguments, that returns the procedure or a text that says why there is none.
Asker AskingFor(py::function function) {
  const std::shared_ptr<PyObject> kept = KeptWithoutGil(std::move(function));
  return [kept](std::span<const Tensor> arguments) {
    WithGil gil;
    py::list given;
    for (const Tensor& argument : arguments) given.append(Shown(argument));
    const py::object found = py::reinterpret_borrow<py::object>(kept.get())(given);
    if (py::isinstance<py::str>(found)) return Asked{nullptr, {}, found.cast<std::string>()};
    return Asked{EngineObject<const ProcedureFace>(found, "set_asker", "a procedure or a text").procedure, {}, {}};
  };
}

/// Where two captures differ; empty if they are the same to the last number.
std::string DifferenceOf(CaptureFace& one, CaptureFace& other, bool differentiate) {
  return Difference(one.With(differentiate), other.With(differentiate));
}

py::list DecisionsOf(const ProcedureFace& face) {
  py::list list;
  for (const Decision& decision : face.procedure->sizes.decisions()) {
    list.append(py::make_tuple(kRelations[static_cast<int>(decision.relation)], decision.held, decision.a, decision.b));
  }
  return list;
}

/// A call in parts, between which its program looks at numbers.
struct PartsFace {
  ProcedureFace whole;
  std::shared_ptr<std::vector<ProcedurePart>> parts;
  Undoing undoing;

  const ProcedurePart& at(size_t i) const {
    if (i < parts->size()) return (*parts)[i];
    throw ValueError("parts").Got(i).Expected("one of ", parts->size());
  }
};

PartsFace Cut(const ProcedureFace& whole) {
  const Procedure& procedure = *whole.procedure;
  return {whole, std::make_shared<std::vector<ProcedurePart>>(PartsOf(procedure)), UndoingOf(procedure)};
}

/// One run of it.
class PartsRun {
 public:
  PartsRun(PartsFace parts, const py::object& arguments, const std::vector<double>& symbols)
      : parts_(std::move(parts)),
        run_(*parts_.whole.procedure, TensorsIn(arguments, "procedure"), symbols),
        before_(*parts_.whole.procedure, parts_.undoing, run_) {}

  /// Begin a part: returns what a plan of it is made for; None where it is done operator by operator.
  py::object Enter(size_t i) {
    const ProcedurePart& part = parts_.at(i);
    if (part.begin != run_.position()) {
      throw ValueError("parts").Got("part ", i, " after step ", run_.position()).Expected("one after another");
    }
    if (!Goes([&] { run_.Reach(); }) || !part.planned) return py::none();
    taken_ = TakenBy(part, &run_);
    return py::bytes(KeyOf(part, run_, taken_));
  }
  CaptureFace Traced(size_t i, const CaptureFace& like) const {
    const ProcedurePart& part = parts_.at(i);
    CaptureFace captured;
    captured.trace = std::make_shared<Trace>();
    captured.frontends.assign(part.gives.size(), FrontendOf(&TensorType));
    captured.capture = TracedPart(part, run_, taken_, like.capture, captured.trace.get(), &captured.outputs);
    return captured;
  }
  /// Have a plan do the part.
  bool Play(size_t i, const ProgramFace& program, const std::vector<double>& symbols) {
    const ProcedurePart& part = parts_.at(i);
    return Goes([&] {
      try {
        run_.Skip(part.end, part.gives, program.program->Run(std::exchange(taken_, {}), symbols));
      } catch (const InputMoved&) {
        run_.Advance(part.end);
      }
    });
  }
  /// Have the part be done again, where gradients of a plan's gradients are wanted.
  void Serve(size_t i, const ProgramFace& program) const {
    auto procedure = std::make_shared<Procedure>(parts_.at(i).procedure);
    for (const Tensor& tensor : taken_) procedure->ranks.push_back(tensor.ndim());
    const std::span<const Value> found = run_.numbers().found();
    const Asked asked{std::move(procedure), {found.begin(), found.end()}, {}};
    program.program->SetAsker([asked](std::span<const Tensor>) { return asked; });
  }
  /// Do it operator by operator.
  bool Advance(size_t i) {
    taken_.clear();
    return Goes([&] { run_.Advance(parts_.at(i).end); });
  }
  /// The tensors of the result, and numbers in it; None where the program would have gone another way.
  py::object Finish(const std::vector<NumberId>& numbers) {
    std::vector<Tensor> results;
    if (other_way_.empty()) RequireEnd(numbers);
    if (!Goes([&] { results = run_.Finish(); })) return py::none();
    py::list list;
    for (size_t i = 0; i < results.size(); ++i) list.append(Wrapped(results[i], parts_.whole.frontends[i]));
    for (NumberId number : numbers) {
      list.append(py::reinterpret_steal<py::object>(WrapValue(run_.numbers().Early(number))));
    }
    return list;
  }
  const std::string& other_way() const { return other_way_; }

 private:
  /// All parts have been done, and the numbers are the procedure's.
  void RequireEnd(const std::vector<NumberId>& numbers) const {
    const Procedure& procedure = *parts_.whole.procedure;
    const auto end = static_cast<int32_t>(procedure.steps.size());
    if (run_.position() != end) {
      throw ValueError("finish").Got("a run after step ", run_.position()).Expected("one after the last, ", end);
    }
    for (const NumberId number : numbers) {
      if (number >= 0 && number < procedure.sizes.count()) continue;
      throw ValueError("finish").Got("number ", number).Expected("one of ", procedure.sizes.count());
    }
  }
  /// False where the program would have gone another way, which nothing tells yet.
  template <typename F>
  bool Goes(F&& body) {
    if (!other_way_.empty()) return false;
    try {
      WithoutGil outside;
      body();
      return true;
    } catch (const ProcedureParts& parts) {
      other_way_ = parts.what();
    }
    if (run_.position() > parts_.undoing.lasting) {
      throw RuntimeError(parts_.whole.procedure->name)
          .Says("it goes another way than it did when it was captured, after it has changed something: " + other_way_);
    }
    before_.Restore();
    return false;
  }

  PartsFace parts_;
  ProcedureRun run_;
  std::vector<Tensor> taken_;
  Before before_;
  std::string other_way_;
};

void RegisterParts(py::module_& m) {
  py::class_<PartsRun>(m, "PartsRun", "One run of a call in parts.")
      .def("enter", &PartsRun::Enter, "Begin a part; what a plan of it is made for, or None.", py::arg("part"))
      .def("traced", &PartsRun::Traced, "What the part comes to for what it takes now.", py::arg("part"),
           py::arg("like"))
      .def("play", &PartsRun::Play, "Have a plan do the part.", py::arg("part"), py::arg("program"), py::arg("symbols"))
      .def("serve", &PartsRun::Serve, "Have the part be done again where gradients of a plan's gradients are wanted.",
           py::arg("part"), py::arg("program"))
      .def("advance", &PartsRun::Advance, "Do the part operator by operator.", py::arg("part"))
      .def("finish", &PartsRun::Finish, "The result; None where the program would have gone another way.",
           py::arg("numbers"))
      .def_property_readonly("other_way", &PartsRun::other_way, "Why the program would have gone another way.");
  py::class_<PartsFace>(m, "ProcedureParts", "A call in parts, between which its program looks at numbers.")
      .def("__len__", [](const PartsFace& self) { return self.parts->size(); })
      .def(
          "begin",
          [](const PartsFace& self, const py::object& arguments, const std::vector<double>& symbols) {
            return std::make_unique<PartsRun>(self, arguments, symbols);
          },
          py::arg("arguments"), py::arg("symbols"))
      .def_property_readonly(
          "looks",
          [](const PartsFace& self) {
            std::vector<std::string> places;
            for (const Procedure::Look& look : self.whole.procedure->looks) places.push_back(look.place);
            return places;
          },
          "Where the program looks at numbers.")
      .def(
          "is_varying",
          [](const PartsFace& self, size_t i) {
            const ProcedurePart& part = self.at(i);
            const std::vector<char>& loose = self.whole.procedure->loose;
            return !part.keys.empty() ||
                   std::any_of(part.takes.begin(), part.takes.end(), [&](TensorId id) { return loose[id] != 0; });
          },
          "Whether what a part is planned for depends on numbers.", py::arg("part"));
}

void RegisterDifferences(py::module_& m) {
  m.def("difference", &DifferenceOf, "Where two captures differ; empty where they do not.", py::arg("one"),
        py::arg("other"), py::arg("differentiate") = true);
  m.def(
      "unlike",
      [](const CaptureFace& one, const CaptureFace& other) { return Unlikeness(one.capture, other.capture, false); },
      "Where two captures differ in more than numbers; empty where they do not.", py::arg("one"), py::arg("other"));
}

}  // namespace

/// Why a procedure does not hold; what Python code of an operator's raises is a reason, and an interrupt is none.
static std::string RefusalOf(const Procedure& procedure, const py::object& arguments,
                             const std::vector<double>& symbols) {
  try {
    return procedure.Refusal(TensorsIn(arguments, "procedure"), symbols);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    return error.what();
  }
}

void RegisterProcedure(py::module_& m) {
  py::class_<ProcedureFace>(m, "Procedure", "A call as the program asked for it, for sizes that vary.")
      .def("run", &ProcedureFace::Run, "Do the call again, operator by operator.", py::arg("arguments"),
           py::arg("symbols"))
      .def(
          "refusal",
          [](const ProcedureFace& self, const py::object& arguments) {
            const std::vector<double> symbols(self.procedure->symbols.size(), 1.0);
            return RefusalOf(*self.procedure, arguments, symbols);
          },
          "Why it does not hold for arguments like these; empty if it does.", py::arg("arguments"))
      .def(
          "numbers_at",
          [](const ProcedureFace& self, const py::object& arguments, const std::vector<NumberId>& numbers) {
            for (NumberId number : numbers) {
              if (number >= 0 && number < self.procedure->sizes.count()) continue;
              throw ValueError("procedure").Got("number ", number).Expected("one of its own");
            }
            const std::vector<double> symbols(self.procedure->symbols.size(), 1.0);
            py::list list;
            for (const Value& number : self.procedure->NumbersAt(TensorsIn(arguments, "procedure"), symbols, numbers)) {
              list.append(py::reinterpret_steal<py::object>(WrapValue(number)));
            }
            return list;
          },
          "What numbers are for arguments like these, which are not looked at.", py::arg("arguments"),
          py::arg("numbers"))
      .def("traced", &ProcedureFace::Traced,
           "What the call comes to for arguments like these, which are not looked at. A call that looks at numbers is "
           "told what it found before another trace. `apart`: views that lie alike are told apart.",
           py::arg("arguments"), py::arg("like"), py::arg("foretold") = nullptr, py::arg("apart") = false)
      .def(
          "serve",
          [](const ProcedureFace& self, const ProgramFace& program) {
            program.program->SetAsker(
                [asked = Asked{self.procedure, {}, {}}](std::span<const Tensor>) { return asked; });
          },
          "Be done again where gradients of a program's gradients are wanted.", py::arg("program"))
      .def("parts", &Cut, "The call in parts, between which its program looks at numbers.")
      .def_property_readonly(
          "fixed_sizes", [](const ProcedureFace& self) { return self.procedure->FixedSizes(); },
          "The sizes (argument, axis) that the program took for plain numbers.")
      .def_property_readonly("decisions", &DecisionsOf,
                             "(relation, whether it held, number, number) of what the program decided by sizes.")
      .def_property_readonly(
          "conditions", [](const ProcedureFace& self) { return self.procedure->Conditions(); },
          "What the program decided by sizes.");
  m.def("finish_procedure", &FinishProcedure, "The procedure that leads to these tensors.", py::arg("scribe"),
        py::arg("outputs"));
  m.def(
      "set_asker",
      [](const ProgramFace& program, py::function function) {
        program.program->SetAsker(AskingFor(std::move(function)));
      },
      "Have a function find the procedure of a program's call, given its arguments, where gradients of gradients are "
      "wanted; it returns a text where there is none.",
      py::arg("program"), py::arg("function"));
  RegisterDifferences(m);
  RegisterParts(m);
}

}  // namespace dragon::python
