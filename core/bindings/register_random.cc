// Random generators seen from Python.
#include <cstring>
#include <span>

#include "core/bindings/python.h"
#include "core/framework/generator.h"

namespace dragon::python {

namespace {

py::bytes AsBytes(const std::vector<uint8_t>& state) {
  return {reinterpret_cast<const char*>(state.data()), state.size()};
}
std::span<const uint8_t> AsSpan(const std::string_view& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

py::bytes DeviceStateOf(const Generator& generator, int index) {
  const DeviceCounter counter = generator.DeviceCounterOf(index);
  static_assert(sizeof(counter) == Generator::kDeviceStateBytes);
  return {reinterpret_cast<const char*>(&counter), sizeof(counter)};
}

/// PyTorch's states of old were seeds only.
void SetDeviceState(Generator& generator, int index, const py::bytes& state) {
  const std::string_view bytes = state;
  DeviceCounter counter;
  if (bytes.size() != sizeof(counter) && bytes.size() != sizeof(counter.seed)) {
    throw RuntimeError("set_rng_state")
        .Says("RNG state is wrong size")
        .Got(bytes.size(), " bytes")
        .Expected("16, a seed and an offset");
  }
  std::memcpy(&counter, bytes.data(), bytes.size());
  generator.SetDeviceCounter(index, counter);
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

/// A GeneratorGuard that Python holds, and may let go of in any order and on any thread.
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
      .def(
          "get_state", [](const Generator& self) { return AsBytes(self.State()); }, "Return the state as bytes.")
      .def(
          "set_state", [](Generator& self, const py::bytes& state) { self.SetState(AsSpan(state)); },
          "Continue from a saved state.", py::arg("state"))
      .def(
          "get_whole_state", [](const Generator& self) { return AsBytes(self.WholeState()); },
          "Return the state with those of the devices as bytes.")
      .def(
          "set_whole_state", [](Generator& self, const py::bytes& state) { self.SetWholeState(AsSpan(state)); },
          "Continue from a saved state with those of the devices.", py::arg("state"))
      .def("get_device_state", &DeviceStateOf, "Return a device's seed and offset as bytes.", py::arg("index"))
      .def("set_device_state", &SetDeviceState, "Continue a device's stream from a saved state.", py::arg("index"),
           py::arg("state"))
      .def(
          "seed_device",
          [](Generator& self, int index, const py::int_& seed) { self.SeedDevice(index, ParseSeed(seed)); },
          "Start a device's stream anew.", py::arg("index"), py::arg("seed"))
      .def(
          "seed_devices", [](Generator& self, const py::int_& seed) { self.SeedDevices(ParseSeed(seed)); },
          "Start the streams of all devices anew.", py::arg("seed"))
      .def(
          "share", [](Generator& self, const Generator& other) { self.SetStream(other.stream()); },
          "Draw from another generator's stream from now on.", py::arg("other"))
      .def("clone", &Generator::Clone, "Return a generator of its own that goes on as this one would.");
  py::class_<HeldGuard>(m, "GeneratorGuard", "Makes a generator this thread's current one while it lives.")
      .def(py::init([](const Ref<Generator>& generator) {
             return std::make_unique<HeldGuard>(Present(generator, "GeneratorGuard", "a generator"));
           }),
           py::arg("generator"));
  m.def("default_generator", [] { return DefaultGenerator(); }, "The process's own generator.");
  m.def(
      "current_generator", [] { return Ref<Generator>(&CurrentGenerator()); },
      "The generator that operators draw from when they are given none.");
}

}  // namespace dragon::python
