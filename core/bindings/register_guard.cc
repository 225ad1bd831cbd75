// What a captured graph takes for granted, as a flat list that is checked before each run: which objects a function's
// dictionaries, lists, cells and attributes hold, what its arguments look like, and the switches of the process.
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <set>

#include "core/bindings/forget_error.h"
#include "core/bindings/guard_arguments.h"
#include "core/bindings/recording.h"
#include "core/runtime/switches.h"

namespace dragon::python {

namespace {

class Guards {
 public:
  Guards() = default;
  Guards(const Guards&) = delete;
  ~Guards() { Forget(); }

  int Add(int kind, py::handle container, py::handle keys, py::handle checks) {
    RequireQuiet("add");
    Keeping keeping(this);
    places_.push_back(PlaceOf(kind, container, keys, checks));
    keeping.Succeed();
    return static_cast<int>(places_.size()) - 1;
  }

  GuardPlace PlaceOf(int kind, py::handle container, py::handle keys, py::handle checks) {
    if (kind < 0 || kind >= GuardPlace::kReleased) {
      throw ValueError("Guards.add").Got("kind ", kind).Expected("0 to ", GuardPlace::kReleased - 1);
    }
    GuardPlace place;
    place.kind = static_cast<GuardPlace::Kind>(kind);
    place.container = Keep(container);
    RequireKind(place);
    if (place.kind == GuardPlace::kTensor) {
      place.form = std::make_unique<ObjectForm>(container.ptr());
    } else {
      for (py::handle key : py::iter(keys)) place.keys.push_back(Keep(key));
      for (py::handle check : py::iter(checks)) {
        const py::tuple pair = TupleIn(check, "Guards.add", 2);
        place.checks.push_back(CheckOf(pair[0], pair[1]));
      }
      const bool keyed = place.kind == GuardPlace::kDict || place.kind == GuardPlace::kKeys ||
                         place.kind == GuardPlace::kType || place.kind == GuardPlace::kAttribute;
      if (keyed && place.keys.size() != place.checks.size()) {
        throw ValueError("Guards.add").Got(place.keys.size(), " keys").Expected(place.checks.size(), ", one per check");
      }
      if (!keyed && place.kind != GuardPlace::kList && place.checks.size() != 1) {
        throw ValueError("Guards.add").Got(place.checks.size(), " checks").Expected("one");
      }
      if (place.kind == GuardPlace::kArray && !PyBytes_Check(place.checks[0].expected)) {
        RefuseObject(place.checks[0].expected, "Guards.add", "the bytes of an array");
      }
    }
    return place;
  }

  void SetArguments(py::tuple positional, py::tuple named) {
    RequireQuiet("set_arguments");
    Keeping keeping(this);
    std::vector<Watched> parsed = ParseAll(positional);
    std::vector<std::pair<PyObject*, Watched>> parsed_named;
    for (py::handle item : named) {
      const py::tuple pair = TupleIn(item, "Guards", 2);
      parsed_named.push_back({Keep(pair[0]), Parse(pair[1])});
    }
    positional_ = std::move(parsed);
    named_ = std::move(parsed_named);
    keeping.Succeed();
  }

  /// Let an entry be whatever it is from now on (check -1: the whole place).
  void Release(int place, int check) {
    RequireQuiet("release");
    GuardPlace& released = places_.at(place);
    if (check >= 0) {
      released.checks.at(check).mode = Mode::kAny;
    } else {
      released.kind = GuardPlace::kReleased;
      released.keys.clear();
      released.checks.clear();
    }
  }

  /// Remember which arguments share memory, with each other and with tensors that the function reaches by itself.
  void SetAliases(py::handle args, py::handle kwargs, py::handle implicit) {
    RequireQuiet("set_aliases");
    std::vector<Tensor> others;
    for (py::handle tensor : py::iter(implicit)) others.push_back(TensorIn(tensor, "Guards.set_aliases"));
    implicit_ = std::move(others);
    Arguments found;
    Collect(args.ptr(), kwargs.ptr(), &found);
    aliases_ = Aliases(found.tensors);
    heeds_scopes_ = TimesAsked() != times_asked_;
  }

  void WatchArgumentGrads(const std::vector<int>& positions) {
    EachForm([&](TensorForm& form, int position) {
      for (int watched : positions) form.watches_grad |= watched == position;
    });
  }

  void WatchGrads(py::handle tensors) {
    std::set<PyObject*> watched;
    for (py::handle tensor : py::iter(tensors)) watched.insert(tensor.ptr());
    for (GuardPlace& place : places_) {
      if (place.form && watched.count(place.container)) place.form->watches_grad = true;
    }
  }

  /// These tensors, arguments by number and others by themselves, begin where they began in their memory.
  void FixPlaces(const std::vector<int>& positions, py::handle tensors) {
    EachForm([&](TensorForm& form, int position) {
      form.fixed_place |= std::find(positions.begin(), positions.end(), position) != positions.end();
    });
    for (py::handle tensor : py::iter(tensors)) {
      for (GuardPlace& place : places_) {
        if (place.form && place.container == tensor.ptr()) place.form->fixed_place = true;
      }
    }
  }

  /// These axes of tensor arguments (number, axis), and no others, may have any size.
  void OpenSizes(const Axes& axes) {
    EachForm([&](TensorForm& form, int position) { form.open_axes = OpenAxesOf(axes, position, form.shape.size()); });
  }

  /// The tensors among the arguments, or None where something differs. `axes`: open instead of those that are.
  ///
  /// Any number of threads may ask at the same time, and what is looked at may run Python and ask again: nothing is
  /// kept from one check to the next but the versions of dictionaries that were right.
  py::object Run(py::handle args, py::handle kwargs, const std::optional<Axes>& axes) {
    Arguments found;
    found.axes = axes ? &*axes : nullptr;
    if (FailureOf(args, kwargs, &found).place != kNothing) return py::none();
    return Listed(found);
  }

  /// Where a check fails now: ("place", place, check) or (area, text); None where it does not.
  py::object Failure(py::handle args, py::handle kwargs) {
    Arguments found;
    found.explains = true;
    const Where failed = FailureOf(args, kwargs, &found);
    if (failed.place >= 0) return py::make_tuple("place", failed.place, failed.check);
    if (failed.place == kSwitches) return py::make_tuple("switch", switches_.Difference(Switches()));
    if (failed.place == kAliases) return py::make_tuple("alias", "other arguments share memory");
    if (failed.place == kArguments) return py::make_tuple("argument", found.difference);
    return py::none();
  }

  /// The tensors among the arguments, or how these differ from what they were.
  py::object CheckArguments(py::handle args, py::handle kwargs) const {
    Arguments found;
    if (Collect(args.ptr(), kwargs.ptr(), &found)) return Listed(found);
    Arguments again;
    again.explains = true;
    Collect(args.ptr(), kwargs.ptr(), &again);
    return py::str(again.difference);
  }

  /// The sizes that the open axes have of tensors that a check has returned.
  py::tuple SizesOf(const py::list& tensors) {
    py::list sizes;
    const size_t count = tensors.size();
    EachForm([&](const TensorForm& form, int position) {
      if (!form.open_axes) return;
      if (static_cast<size_t>(position) >= count) {
        throw ValueError("Guards.sizes_of").Got(count, " tensors").Expected("those that a check has returned");
      }
      const py::object object = tensors[position];
      const Tensor& tensor = TensorIn(object, "Guards.sizes_of");
      if (tensor.ndim() != form.shape.size()) {
        throw ValueError("Guards.sizes_of").Got(tensor.ndim(), " axes").Expected(form.shape.size());
      }
      for (uint64_t open = form.open_axes; open; open &= open - 1) {
        sizes.append(tensor.shape()[std::countr_zero(open)]);
      }
    });
    return py::tuple(sizes);
  }

  /// Every entry of every place that is not as it was: (place, check).
  py::list Changes() {
    const Busy busy(&running_);
    py::list changes;
    for (size_t i = 0; i < places_.size(); ++i) {
      int failed = -1;
      while ((failed = FirstFailure(places_[i], failed + 1)) != kFits) {
        changes.append(py::make_tuple(i, failed));
        if (failed == kSizeChanged || places_[i].form) break;
      }
    }
    return changes;
  }

  std::string TensorDifference(int place) const {
    const GuardPlace& found = places_.at(place);
    if (!found.form) throw ValueError("Guards").Got("place ", place).Expected("that of a tensor");
    return found.form->Difference(found.container);
  }
  py::object SwitchesChanged() const {
    const Switches now = Now();
    return switches_ == now ? py::object(py::none()) : py::str(switches_.Difference(now));
  }
  size_t size() const { return places_.size(); }

  int Visit(visitproc visit, void* arg) const {
    for (PyObject* object : kept_) Py_VISIT(object);
    return 0;
  }
  void Forget() {
    places_.clear();
    positional_.clear();
    named_.clear();
    // What they hold may run code on its way out.
    for (PyObject* object : std::exchange(kept_, {})) Py_DECREF(object);
  }

 private:
  /// Somebody is in what would move: comparisons run code of Python's, which may know these guards.
  struct Busy {
    explicit Busy(int* count) : count_(count) { ++*count_; }
    Busy(const Busy&) = delete;
    ~Busy() { --*count_; }
    int* count_;
  };
  /// Lets go of what was kept for something that is refused.
  class Keeping {
   public:
    explicit Keeping(Guards* guards) : guards_(guards), count_(guards->kept_.size()) {}
    Keeping(const Keeping&) = delete;
    ~Keeping() {
      while (guards_ && guards_->kept_.size() > count_) {
        PyObject* const object = guards_->kept_.back();
        guards_->kept_.pop_back();
        Py_DECREF(object);
      }
    }
    void Succeed() { guards_ = nullptr; }

   private:
    Guards* guards_;
    size_t count_;
  };
  void RequireQuiet(const char* what) const {
    if (running_) throw RuntimeError("Guards").Got(what, " while a check runs").Expected("it between checks");
  }

  PyObject* Keep(py::handle object) {
    kept_.push_back(Py_NewRef(object.ptr()));
    return object.ptr();
  }
  Check CheckOf(py::handle mode, py::handle expected) {
    const int number = mode.cast<int>();
    if (number < 0 || number > static_cast<int>(Mode::kType)) {
      throw ValueError("Guards").Got("mode ", number).Expected("0 to ", static_cast<int>(Mode::kType));
    }
    return {static_cast<Mode>(number), Keep(expected)};
  }

  struct Where {
    int place, check = 0;
  };

  Where FailureOf(py::handle args, py::handle kwargs, Arguments* found) {
    const Busy busy(&running_);
    if (!(switches_ == Now())) return {kSwitches};
    if (!Collect(args.ptr(), kwargs.ptr(), found)) return {kArguments};
    for (size_t i = 0; i < places_.size(); ++i) {
      GuardPlace& place = places_[i];
      const std::atomic_ref<uint64_t> known(place.version);
      const uint64_t version = VersionOf(place);
      if (version && version == known.load(std::memory_order_relaxed)) continue;
      const int failed = FirstFailure(place);
      if (failed != kFits) return {static_cast<int>(i), failed};
      known.store(version, std::memory_order_relaxed);
    }
    return {Aliases(found->tensors) != aliases_ ? kAliases : kNothing};
  }

  /// The switches, apart from a difference that none of the captured calls has noticed.
  Switches Now() const {
    Switches now;
    if (!heeds_scopes_ && switches_.grad_enabled && now.grad_enabled) now.grad_enabled = switches_.grad_enabled;
    return now;
  }

  static constexpr int kNothing = -1, kSwitches = -2, kArguments = -3, kAliases = -4;

  static void RequireKind(const GuardPlace& place) {
    PyObject* object = place.container;
    const bool fits = place.kind == GuardPlace::kDict || place.kind == GuardPlace::kKeys ? PyDict_Check(object)
                      : place.kind == GuardPlace::kType                                  ? PyType_Check(object)
                      : place.kind == GuardPlace::kList                                  ? PyList_Check(object)
                      : place.kind == GuardPlace::kCell                                  ? PyCell_Check(object)
                      : place.kind == GuardPlace::kTensor                                ? IsTensor(object)
                                                                                         : true;
    if (!fits)
      throw TypeError("Guards.add").Got("'", Py_TYPE(object)->tp_name, "'").Expected("a container of that kind");
  }

  static py::list Listed(Arguments& found) {
    py::list tensors(found.tensors.size());
    for (size_t i = 0; i < found.tensors.size(); ++i) tensors[i] = std::move(found.tensors[i]);
    return tensors;
  }

  std::vector<Watched> ParseAll(py::handle specs) {
    const Deeper deeper(" while guards read what arguments look like");
    std::vector<Watched> parsed;
    for (py::handle spec : TupleIn(specs, "Guards", 0)) parsed.push_back(Parse(spec));
    return parsed;
  }

  /// (kind, path, tensor) | (kind, path, mode, value) | (kind, path, type, children) | (kind, path, type, children,
  /// keys)
  Watched Parse(py::handle object) {
    const py::tuple spec = TupleIn(object, "Guards", 3);
    Watched argument;
    const int kind = spec[0].cast<int>();
    if (kind < 0 || kind > Watched::kFields) {
      throw ValueError("Guards").Got("kind ", kind).Expected("0 to ", static_cast<int>(Watched::kFields));
    }
    argument.kind = static_cast<Watched::Kind>(kind);
    argument.path = spec[1].cast<std::string>();
    const py::object third = spec[2];
    if (argument.kind == Watched::kTensor) {
      argument.form = std::make_unique<ObjectForm>(third.ptr());
      Keep(py::type::of(third));
    } else if (argument.kind == Watched::kConstant) {
      argument.check = CheckOf(third, TupleIn(spec, "Guards", 4)[3]);
    } else {
      ParseStructure(TupleIn(spec, "Guards", 4), &argument);
    }
    return argument;
  }
  void ParseStructure(const py::tuple& spec, Watched* argument) {
    static PyTypeObject* const kClasses[] = {&PyTuple_Type, &PyList_Type, &PyDict_Type, &PyBaseObject_Type};
    argument->type =
        SubclassIn(spec[2], kClasses[argument->kind - Watched::kTuple], "Guards", "the class of such a structure");
    Keep(spec[2]);
    argument->children = ParseAll(spec[3]);
    if (spec.size() > 4) {
      for (py::handle key : py::iter(spec[4])) argument->keys.push_back(Keep(key));
    }
    const bool keyed = argument->kind == Watched::kDict || argument->kind == Watched::kFields;
    if (keyed && argument->keys.size() != argument->children.size()) {
      throw ValueError("Guards").Got(argument->keys.size(), " keys").Expected(argument->children.size());
    }
  }

  bool Collect(PyObject* args, PyObject* kwargs, Arguments* found) const {
    if (!PyTuple_Check(args)) {
      throw TypeError("Guards").Got("'", Py_TYPE(args)->tp_name, "' for the arguments").Expected("a tuple");
    }
    if (kwargs != Py_None && !PyDict_Check(kwargs)) {
      throw TypeError("Guards").Got("'", Py_TYPE(kwargs)->tp_name, "' for those by name").Expected("a dict or None");
    }
    const size_t count = positional_.size();
    const size_t given = kwargs != Py_None ? static_cast<size_t>(PyDict_GET_SIZE(kwargs)) : 0;
    if (static_cast<size_t>(PyTuple_GET_SIZE(args)) != count || given != named_.size()) {
      if (found->explains) {
        found->difference = "arguments: were " + std::to_string(count) + " and " + std::to_string(named_.size()) +
                            " by name, now " + std::to_string(PyTuple_GET_SIZE(args)) + " and " + std::to_string(given);
      }
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!found->Take(positional_[i], ItemAt(args, i))) return false;
    }
    for (auto& [name, argument] : named_) {
      const py::object now = py::reinterpret_borrow<py::object>(PyDict_GetItemWithError(kwargs, name));
      if (!now) return ForgetError(), found->Say(argument, "was given, now missing");
      if (!found->Take(argument, now.ptr())) return false;
    }
    return true;
  }

  /// Call `visit` with the form of each tensor among the arguments, and its number.
  template <typename Visit>
  void EachForm(Visit visit) {
    int position = 0;
    for (Watched& argument : positional_) EachFormIn(argument, visit, &position);
    for (auto& [name, argument] : named_) EachFormIn(argument, visit, &position);
  }
  template <typename Visit>
  static void EachFormIn(Watched& argument, Visit& visit, int* position) {
    if (argument.form) visit(*argument.form, (*position)++);
    for (Watched& child : argument.children) EachFormIn(child, visit, position);
  }

  /// How the arguments share memory, with each other and with tensors from outside.
  std::vector<int> Aliases(const std::vector<py::object>& given) const {
    std::vector<const Tensor*> tensors;
    tensors.reserve(given.size());
    for (const py::object& object : given) tensors.push_back(TensorIf(object));
    return FindAliases(tensors, implicit_);
  }

  std::vector<PyObject*> kept_;  ///< what all the others point at
  std::vector<GuardPlace> places_;
  std::vector<Watched> positional_;
  std::vector<std::pair<PyObject*, Watched>> named_;
  Switches switches_;
  int64_t times_asked_ = TimesAsked();
  bool heeds_scopes_ = false;  ///< whether a call depended on a scope having said that it is to be recorded
  std::vector<Tensor> implicit_;
  std::vector<int> aliases_;
  int running_ = 0;  ///< checks under way: threads take turns within a comparison
};

/// The garbage collector sees what guards keep.
void CollectGuards(PyHeapTypeObject* heap_type) {
  PyTypeObject* type = &heap_type->ht_type;
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    const Guards* guards = Behind<Guards>(self);
    return guards ? guards->Visit(visit, arg) : 0;
  };
  type->tp_clear = [](PyObject* self) {
    if (Guards* guards = Behind<Guards>(self)) guards->Forget();
    return 0;
  };
}

}  // namespace

void RegisterGuard(py::module_& m) {
  py::class_<Guards>(m, "Guards", "What a captured graph takes for granted.", py::custom_type_setup(&CollectGuards))
      .def(py::init<>())
      .def("add", &Guards::Add, "Watch a container's entries; returns the number of the place.", py::arg("kind"),
           py::arg("container"), py::arg("keys") = py::tuple(), py::arg("checks") = py::tuple())
      .def("set_arguments", &Guards::SetArguments, "Say what the arguments look like.", py::arg("positional"),
           py::arg("named"))
      .def("set_aliases", &Guards::SetAliases, "Remember which arguments share memory.", py::arg("args"),
           py::arg("kwargs"), py::arg("implicit"))
      .def("watch_grads", &Guards::WatchGrads, "Have tensors' `grad` be there or not, as now.", py::arg("tensors"))
      .def("watch_argument_grads", &Guards::WatchArgumentGrads, "The same for tensors among the arguments, by number.",
           py::arg("positions"))
      .def("fix_places", &Guards::FixPlaces, "Have tensors begin where they do now in their memory.",
           py::arg("positions"), py::arg("tensors"))
      .def("open_sizes", &Guards::OpenSizes, "Let these axes (number, axis) of tensor arguments have any size.",
           py::arg("axes"))
      .def("release", &Guards::Release, "Let an entry be whatever it is.", py::arg("place"), py::arg("check") = -1)
      .def("check", &Guards::Run,
           "Return the tensors among the arguments, or None where something differs; `axes` (number, axis) are open "
           "instead of those that are.",
           py::arg("args"), py::arg("kwargs") = py::none(), py::arg("axes") = py::none())
      .def("check_arguments", &Guards::CheckArguments, "The tensors among the arguments, or how these have changed.",
           py::arg("args"), py::arg("kwargs") = py::none())
      .def("failure", &Guards::Failure, "Where a check fails now.", py::arg("args"), py::arg("kwargs") = py::none())
      .def("changes", &Guards::Changes, "Every (place, check) that is not as it was.")
      .def("tensor_difference", &Guards::TensorDifference, "How a tensor differs from what it was.", py::arg("place"))
      .def_property_readonly("switches_changed", &Guards::SwitchesChanged)
      .def("sizes_of", &Guards::SizesOf, "The sizes that the open axes have of tensors that a check has returned.",
           py::arg("tensors"))
      .def("__len__", &Guards::size);
}

}  // namespace dragon::python
