// Random generators seen from Python.
#include "core/bindings/python.h"
#include "core/framework/generator.h"

namespace dragon::python {

namespace {

py::bytes StateOf(const Generator& generator) {
  const std::vector<uint8_t> state = generator.State();
  return {reinterpret_cast<const char*>(state.data()), state.size()};
}

void SetState(Generator& generator, const py::bytes& state) {
  const std::string_view bytes = state;
  generator.SetState({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

/// Seeds are 64 bits; negative ones count from the top, as in PyTorch.
uint64_t ParseSeed(const py::int_& seed) {
  const auto value = PyLong_AsUnsignedLongLong(seed.ptr());
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  const auto negative = PyLong_AsLongLong(seed.ptr());
  if (!PyErr_Occurred()) return static_cast<uint64_t>(negative);
  PyErr_Clear();
  throw ValueError("manual_seed").Got("a seed of more than 64 bits").Expected("-2**63 to 2**64 - 1");
}

/// A GeneratorGuard that Python holds; guards must go in the opposite order of their making.
struct HeldGuard {
  explicit HeldGuard(Ref<Generator> generator) : guard(std::move(generator)) {}
  GeneratorGuard guard;
};

}  // namespace

void RegisterRandom(py::module_& m) {
  py::class_<Object, Ref<Object>>(m, "Object", "Something an operator's attribute may refer to.");
  py::class_<Generator, Object, Ref<Generator>>(m, "Generator", "A stream of random numbers.")
      .def(py::init([](const py::object& seed) {
             return seed.is_none() ? MakeRef<Generator>() : MakeRef<Generator>(ParseSeed(seed));
           }),
           py::arg("seed") = py::none())
      .def(
          "manual_seed",
          [](py::object self, const py::int_& seed) {
            self.cast<Generator&>().Seed(ParseSeed(seed));
            return self;
          },
          "Start the stream anew; returns the generator.", py::arg("seed"))
      .def("seed", &Generator::SeedFromSystem, "Seed with a number nobody can foresee, and return it.")
      .def("initial_seed", &Generator::initial_seed, "Return the seed of the stream.")
      .def("get_state", &StateOf, "Return the state as bytes.")
      .def("set_state", &SetState, "Continue from a saved state.", py::arg("state"))
      .def(
          "share", [](Generator& self, const Generator& other) { self.SetStream(other.stream()); },
          "Draw from another generator's stream from now on.", py::arg("other"))
      .def("clone", &Generator::Clone, "Return a generator of its own that goes on as this one would.");
  py::class_<HeldGuard>(m, "GeneratorGuard", "Makes a generator this thread's current one while it lives.")
      .def(py::init<Ref<Generator>>(), py::arg("generator"));
  m.def("default_generator", [] { return DefaultGenerator(); }, "The process's own generator.");
  m.def(
      "current_generator", [] { return Ref<Generator>(&CurrentGenerator()); },
      "The generator that operators draw from when they are given none.");
}

}  // namespace dragon::python
