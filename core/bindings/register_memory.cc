// What the allocators know, seen from Python.
#include "core/bindings/python.h"
#include "core/device/allocator.h"

namespace dragon::python {

namespace {

Device DeviceOrHost(const py::object& device) {
  return device.is_none() ? Device{} : ParseDevice(device.ptr(), {"memory", nullptr});
}

}  // namespace

void RegisterMemory(py::module_& m) {
  m.def(
      "memory_stats",
      [](py::object device) {
        const MemoryStats stats = MemoryStatsOf(DeviceOrHost(device));
        py::dict dict;
        dict["current"] = stats.current;
        dict["peak"] = stats.peak;
        dict["reserved"] = stats.reserved;
        dict["peak_reserved"] = stats.peak_reserved;
        dict["cached"] = stats.cached;
        dict["limit"] = stats.limit;
        dict["small"] = stats.small;
        dict["large"] = stats.large;
        dict["shared"] = stats.shared;
        dict["allocations"] = stats.allocations;
        dict["frees"] = stats.frees;
        dict["system_calls"] = stats.system_calls;
        return dict;
      },
      "Bytes in use, cached and reserved on a device.", py::arg("device") = py::none());
  m.def(
      "reset_peak_memory", [](py::object device) { ResetPeak(DeviceOrHost(device)); }, "Start measuring peaks anew.",
      py::arg("device") = py::none());
  m.def(
      "set_memory_limit", [](int64_t bytes, py::object device) { SetMemoryLimit(DeviceOrHost(device), bytes); },
      "Refuse to take more than so many bytes from the system.", py::arg("bytes"), py::arg("device") = py::none());
  m.def(
      "empty_cache", [](py::object device) { EmptyCache(DeviceOrHost(device)); },
      "Give cached memory back to the system.", py::arg("device") = py::none());
  m.def(
      "storage_owners",
      [](py::handle tensor) {
        const TensorImpl* impl = TensorIn(tensor, "storage_owners").impl();
        return (impl->storage ? impl->storage->refs() : 1) + impl->refs() - 1;
      },
      "How many hold a tensor's memory: 1 if nobody would see a write but through this very object.",
      py::arg("tensor"));
  m.def(
      "memory_key",
      [](py::handle object) {
        const TensorImpl& impl = *TensorIn(object, "memory_key").impl();
        const auto bytes = [](const Dims& dims) {
          return py::bytes(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(int64_t));
        };
        return py::make_tuple(reinterpret_cast<uintptr_t>(impl.storage.get()), impl.offset, bytes(impl.shape),
                              bytes(impl.strides), static_cast<int>(impl.dtype));
      },
      "What tensors have in common that show the same numbers.", py::arg("tensor"));
}

}  // namespace dragon::python
