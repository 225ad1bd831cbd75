// What a captured graph takes for granted, as a flat list that is checked before each run: which objects a function's
// dictionaries, lists, cells and attributes hold, what its arguments look like, and the switches of the process.
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/bindings/guard.h"
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
    places_.push_back(std::move(place));
    return static_cast<int>(places_.size()) - 1;
  }

  void SetArguments(py::tuple positional, py::tuple named) {
    RequireQuiet("set_arguments");
    std::vector<Watched> parsed = ParseAll(positional);
    std::vector<std::pair<PyObject*, Watched>> parsed_named;
    for (py::handle item : named) {
      const py::tuple pair = TupleIn(item, "Guards", 2);
      parsed_named.push_back({Keep(pair[0]), Parse(pair[1])});
    }
    positional_ = std::move(parsed);
    named_ = std::move(parsed_named);
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
    Given given;
    Collect(args.ptr(), kwargs.ptr(), &given);
    aliases_ = Aliases(given);
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
  void OpenSizes(const std::vector<std::pair<int, int>>& axes) {
    for (const auto& [number, axis] : axes) {
      if (axis < 0 || axis >= kMaxDims) throw IndexError("Guards").Got("axis ", axis).Expected("0 to ", kMaxDims - 1);
    }
    EachForm([&](TensorForm& form, int position) {
      form.open_axes = 0;
      for (const auto& [number, axis] : axes) {
        if (number == position && axis < form.shape.size()) form.open_axes |= uint64_t{1} << axis;
      }
    });
  }

  /// The tensors among the arguments, or None where something differs.
  py::object Run(py::handle args, py::handle kwargs) {
    const Busy busy(&running_);
    Given given;
    sizes_.clear();
    failure_ = {kSwitches, 0};
    if (!(switches_ == Now())) return py::none();
    failure_ = {kArguments, 0};
    if (!Collect(args.ptr(), kwargs.ptr(), &given)) return py::none();
    for (size_t i = 0; i < places_.size(); ++i) {
      GuardPlace& place = places_[i];
      const uint64_t version = VersionOf(place);
      if (version && version == place.version) continue;
      const int failed = FirstFailure(place);
      if (failed != kFits) {
        failure_ = {static_cast<int>(i), failed};
        return py::none();
      }
      place.version = version;
    }
    failure_ = {kAliases, 0};
    if (Aliases(given) != aliases_) return py::none();
    failure_ = {kNothing, 0};
    return Collected(&given);
  }

  /// Where the last call of Run failed: ("place", place, check) or (area, text).
  py::object Failure(py::handle args, py::handle kwargs) {
    const auto [place, check] = failure_;
    if (place >= 0) return py::make_tuple("place", place, check);
    if (place == kSwitches) return py::make_tuple("switch", switches_.Difference(Switches()));
    if (place == kAliases) return py::make_tuple("alias", "other arguments share memory");
    if (place == kArguments) {
      difference_.clear();
      const Busy busy(&running_), explaining(&explaining_);
      Given given;
      Collect(args.ptr(), kwargs.ptr(), &given);
      return py::make_tuple("argument", difference_);
    }
    return py::none();
  }

  /// The tensors among the arguments, or how these differ from what they were.
  py::object CheckArguments(py::handle args, py::handle kwargs) {
    const Busy busy(&running_);
    Given given;
    sizes_.clear();
    if (Collect(args.ptr(), kwargs.ptr(), &given)) return Collected(&given);
    failure_ = {kArguments, 0};
    return py::tuple(Failure(args, kwargs))[1];
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
  /// The sizes that the open axes had in the last check.
  py::tuple sizes() const { return py::tuple(py::cast(sizes_)); }

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
  /// The tensors among the arguments of a call, held: what others are compared by may let go of them.
  using Given = std::vector<py::object>;
  /// Somebody is in what would move: comparisons run code of Python's, which may know these guards.
  struct Busy {
    explicit Busy(int* count) : count_(count) { ++*count_; }
    Busy(const Busy&) = delete;
    ~Busy() { --*count_; }
    int* count_;
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

  static py::object Collected(Given* given) {
    py::list tensors(given->size());
    for (size_t i = 0; i < given->size(); ++i) tensors[i] = std::move((*given)[i]);
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

  bool Say(const Watched& argument, const std::string& difference) {
    if (explaining_ && difference_.empty()) difference_ = argument.path + ": " + difference;
    return false;
  }
  static std::string Text(PyObject* object) {
    py::object text = py::reinterpret_steal<py::object>(PyObject_Repr(object));
    if (!text) return PyErr_Clear(), Py_TYPE(object)->tp_name;
    return text.cast<std::string>().substr(0, 200);
  }

  bool Collect(PyObject* args, PyObject* kwargs, Given* given_tensors) {
    if (!PyTuple_Check(args)) {
      throw TypeError("Guards").Got("'", Py_TYPE(args)->tp_name, "' for the arguments").Expected("a tuple");
    }
    if (kwargs != Py_None && !PyDict_Check(kwargs)) {
      throw TypeError("Guards").Got("'", Py_TYPE(kwargs)->tp_name, "' for those by name").Expected("a dict or None");
    }
    const size_t count = positional_.size();
    const size_t given = kwargs != Py_None ? static_cast<size_t>(PyDict_GET_SIZE(kwargs)) : 0;
    if (static_cast<size_t>(PyTuple_GET_SIZE(args)) != count || given != named_.size()) {
      if (explaining_) {
        difference_ = "arguments: were " + std::to_string(count) + " and " + std::to_string(named_.size()) +
                      " by name, now " + std::to_string(PyTuple_GET_SIZE(args)) + " and " + std::to_string(given);
      }
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!CollectOne(positional_[i], ItemAt(args, i), given_tensors)) return false;
    }
    for (auto& [name, argument] : named_) {
      PyObject* now = PyDict_GetItemWithError(kwargs, name);
      if (!now) return PyErr_Clear(), Say(argument, "was given, now missing");
      if (!CollectOne(argument, now, given_tensors)) return false;
    }
    return true;
  }

  bool CollectOne(const Watched& argument, PyObject* now, Given* given) {
    switch (argument.kind) {
      case Watched::kTensor:
        if (!IsTensor(now) || !argument.form->Fits(now)) {
          return Say(argument, explaining_ ? argument.form->Difference(now) : "");
        }
        for (uint64_t open = argument.form->open_axes; open; open &= open - 1) {
          sizes_.push_back(SelfTensor(now).shape()[std::countr_zero(open)]);
        }
        given->push_back(py::reinterpret_borrow<py::object>(now));
        return true;
      case Watched::kConstant:
        if (Matches(argument.check, now)) return true;
        return Say(argument, explaining_ ? "was " + Text(argument.check.expected) + ", now " + Text(now) : "");
      case Watched::kFields:
        break;
      default:
        if (Py_TYPE(now) != argument.type) {
          return Say(argument, explaining_
                                   ? std::string("was ") + argument.type->tp_name + ", now " + Py_TYPE(now)->tp_name
                                   : "");
        }
    }
    const auto held = py::reinterpret_borrow<py::object>(now);
    return CollectChildren(argument, now, given);
  }

  bool CollectChildren(const Watched& argument, PyObject* now, Given* given) {
    const Py_ssize_t count = static_cast<Py_ssize_t>(argument.children.size());
    py::object fields;
    if (argument.kind == Watched::kFields) {
      if (Py_TYPE(now) != argument.type) return Say(argument, "is of another class");
      fields = py::reinterpret_steal<py::object>(PyObject_GetAttrString(now, "__dict__"));
      if (!fields || !PyDict_Check(fields.ptr())) return PyErr_Clear(), Say(argument, "has no fields");
      now = fields.ptr();
    }
    const bool keyed = argument.kind == Watched::kDict || argument.kind == Watched::kFields;
    const Py_ssize_t size = keyed ? PyDict_GET_SIZE(now) : Py_SIZE(now);
    if (size != count) return Say(argument, "had " + std::to_string(count) + " entries, now " + std::to_string(size));
    if (!keyed) {
      for (Py_ssize_t i = 0; i < count; ++i) {
        if (Py_SIZE(now) != count) return Say(argument, "changed while it was compared");
        if (!CollectOne(argument.children[i], ItemAt(now, i), given)) return false;
      }
      return true;
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    for (Py_ssize_t i = 0; PyDict_Next(now, &position, &key, &value); ++i) {
      if (i >= count) return Say(argument, "changed while it was compared");
      const auto held = py::reinterpret_borrow<py::object>(key == argument.keys[i] ? nullptr : value);
      const auto held_key = py::reinterpret_borrow<py::object>(held ? key : nullptr);
      if (held && !Equal(key, argument.keys[i])) {
        return Say(argument, explaining_ ? "had key " + Text(argument.keys[i]) + ", now " + Text(key) : "");
      }
      if (!CollectOne(argument.children[i], value, given)) return false;
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
  std::vector<int> Aliases(const Given& given) const {
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
  static thread_local std::vector<int64_t> sizes_;  ///< of the open axes, in this thread's last check
  std::pair<int, int> failure_{kNothing, 0};
  int explaining_ = 0, running_ = 0;  ///< how many are at it: threads take turns within a comparison
  std::string difference_;
};

thread_local std::vector<int64_t> Guards::sizes_;

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
      .def("check", &Guards::Run, "Return the tensors among the arguments, or None where something differs.",
           py::arg("args"), py::arg("kwargs") = py::none())
      .def("check_arguments", &Guards::CheckArguments, "The tensors among the arguments, or how these have changed.",
           py::arg("args"), py::arg("kwargs") = py::none())
      .def("failure", &Guards::Failure, "Where the last check failed.", py::arg("args"), py::arg("kwargs") = py::none())
      .def("changes", &Guards::Changes, "Every (place, check) that is not as it was.")
      .def("tensor_difference", &Guards::TensorDifference, "How a tensor differs from what it was.", py::arg("place"))
      .def_property_readonly("switches_changed", &Guards::SwitchesChanged)
      .def_property_readonly("sizes", &Guards::sizes, "Those that the open axes had in the last check.")
      .def("__len__", &Guards::size);
}

}  // namespace dragon::python
