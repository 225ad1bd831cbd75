// Who may stand at the door, seen from Python: mixed precision and the profiler.
#include "core/bindings/python.h"
#include "core/framework/autocast.h"
#include "core/framework/autograd/node.h"
#include "core/framework/batching.h"
#include "core/framework/generator.h"
#include "core/framework/known.h"
#include "core/framework/profile.h"
#include "core/framework/scribe.h"

namespace dragon::python {

namespace {

py::object NameOrNone(std::optional<DType> dtype) { return dtype ? py::object(py::str(Name(*dtype))) : py::none(); }

std::optional<DType> DTypeOrNone(const py::object& dtype) {
  if (dtype.is_none()) return std::nullopt;
  return ParseDType(dtype.ptr(), {"autocast", nullptr});
}

py::tuple EventTuple(const ProfileEvent& event) {
  py::list shapes;
  for (const Dims& shape : event.shapes) {
    shapes.append(py::reinterpret_steal<py::object>(WrapShape(shape, nullptr)));
  }
  return py::make_tuple(event.name, event.start, event.end, event.is_node, event.bytes, shapes, event.where);
}

/// All that a block of a program may change for this thread, and has to put back.
py::dict ThreadState() {
  const DoorState& door = Door();
  const HistoryFloor floor = ExchangeHistoryFloor({});
  ExchangeHistoryFloor(floor);
  py::dict state;
  state["recording"] = static_cast<int>(door.grad_enabled);
  state["phantom"] = door.phantom;
  state["interpreter"] = reinterpret_cast<uintptr_t>(door.top);
  state["trace"] = reinterpret_cast<uintptr_t>(door.tracer);
  state["autocast"] = NameOrNone(AutocastDType());
  state["history_floor"] = py::make_tuple(floor.unasked, floor.asked);
  state["anomaly"] = AnomalyMode();
  state["batch"] = Batch::Innermost() != nullptr;
  state["recorder"] = Scribe::Current() != nullptr;
  state["knows_numbers"] = KnowsNumbers();
  state["generator"] = &CurrentGenerator() != DefaultGenerator().get();
  state["profiling"] = IsProfiling();
  return state;
}

}  // namespace

void RegisterDoor(py::module_& m) {
  m.def(
      "set_autocast", [](const py::object& dtype) { return NameOrNone(SetAutocast(DTypeOrNone(dtype))); },
      "Have this thread's products and convolutions run in a 16-bit dtype (None: as they come); returns the previous "
      "dtype's name or None.",
      py::arg("dtype"));
  m.def("autocast_dtype", [] { return NameOrNone(AutocastDType()); }, "The name of this thread's autocast dtype.");
  m.def("set_autocast_cache", &SetAutocastCache, "Keep the casts of leaves; returns whether they were kept.",
        py::arg("enabled"));
  m.def("clear_autocast_cache", &ClearAutocastCache, "Forget the casts that are kept.");
  m.def("thread_state", &ThreadState, "All that is switched for this thread, by name.");
  m.def(
      "start_profile",
      [](bool with_shapes, const py::object& where) {
        StartProfile(with_shapes, where.is_none() ? nullptr : Asking(py::function(where)));
      },
      "Note the calls of this thread from now on, and what `where()` says of the place in the program.",
      py::arg("with_shapes") = false, py::arg("where") = py::none());
  m.def(
      "stop_profile",
      [] {
        py::list events;
        for (const ProfileEvent& event : StopProfile()) events.append(EventTuple(event));
        return events;
      },
      "Return what was noted: (name, start in ns, end in ns, is a backward node, bytes of results, input shapes, "
      "where).");
  m.def("is_profiling", &IsProfiling, "Whether this thread's calls are noted.");
}

}  // namespace dragon::python
