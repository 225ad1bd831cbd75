// DLPack: tensors lent to and borrowed from other libraries without copying. Struct layouts follow DLPack 1.0.
#include <algorithm>
#include <climits>

#include "core/bindings/python.h"

namespace dragon::python {

namespace {

struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLVersion version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

constexpr int32_t kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3;
constexpr uint64_t kReadOnly = 1;
enum Code : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplexCode = 5,
  kBoolCode = 6,
  kFloat8E4M3FN = 10,
  kFloat8E4M3FNUZ = 11,
  kFloat8E5M2 = 12,
  kFloat8E5M2FNUZ = 13
};
constexpr uint8_t kCodes[kDTypeCount] = {
    kBoolCode,       kUInt,        kInt,         kInt,  kInt,  kInt,  kFloat,        kBfloat,     kFloat,
    kFloat,          kComplexCode, kComplexCode, kUInt, kUInt, kUInt, kFloat8E4M3FN, kFloat8E5M2, kFloat8E4M3FNUZ,
    kFloat8E5M2FNUZ, kComplexCode};

DLDevice ToDL(Device device) {
  if (device.is_cpu()) return {kDLCPU, 0};
  if (device.type == DeviceType::kCUDA) return {kDLCUDA, device.index};
  throw ValueError("__dlpack__").Got("a tensor on ", device).Expected("one on a CPU or a CUDA device");
}

/// What a lent tensor keeps alive, and where its shape lies.
struct Lent {
  Tensor tensor;
  Dims shape, strides;
};

DLTensor Describe(Lent* lent) {
  const Tensor& x = lent->tensor;
  const int i = static_cast<int>(x.dtype());
  DLTensor described{};
  x.data();  // raises where there are no numbers to lend
  described.data = x.mutable_data();
  described.device = ToDL(x.device());
  described.ndim = x.ndim();
  described.dtype = {kCodes[i], static_cast<uint8_t>(8 * kItemSizes[i]), 1};
  described.shape = lent->shape.data();
  described.strides = lent->strides.data();
  return described;
}

template <typename Managed>
void DeleteManaged(Managed* managed) {
  delete static_cast<Lent*>(managed->context);
  delete managed;
}

template <typename Managed>
void DropCapsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // it was consumed: its taker deletes it
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter) managed->deleter(managed);
}

/// The major number of the version that a taker can read; 0 where it says nothing.
int MajorIn(const py::object& max_version) {
  if (max_version.is_none()) return 0;
  const py::object major = TupleIn(max_version, "__dlpack__", 1)[0];
  return static_cast<int>(std::clamp<int64_t>(ParseInt(major.ptr(), {"__dlpack__", nullptr}), 0, INT_MAX));
}

bool Wanted(const py::object& copy) {
  const int wanted = copy.is_none() ? 0 : PyObject_IsTrue(copy.ptr());
  if (wanted < 0) throw py::error_already_set();
  return wanted == 1;
}

PyObject* Export(const py::object& object, const py::object& max_version, const py::object& copy) {
  const Tensor given = TensorIn(object, "__dlpack__");
  const int major = MajorIn(max_version);
  const bool copies = Wanted(copy);
  const Tensor* source = &given;
  if (source->requires_grad()) {
    throw RuntimeError("__dlpack__").Got("a tensor that requires grad").Expected("detach() first");
  }
  source->Observe("its memory through DLPack");
  source->Settle();
  if (source->impl()->storage) source->impl()->storage->lent = true;
  Tensor tensor = source->Detach();
  if (copies) tensor = Op<"clone">(tensor);
  auto lent = std::make_unique<Lent>(Lent{tensor, tensor.shape(), tensor.strides()});
  const DLTensor described = Describe(lent.get());
  if (major >= 1) {
    auto* managed =
        new DLManagedTensorVersioned{{1, 0}, lent.release(), &DeleteManaged<DLManagedTensorVersioned>, 0, described};
    return PyCapsule_New(managed, "dltensor_versioned", [](PyObject* capsule) {
      DropCapsule<DLManagedTensorVersioned>(capsule, "dltensor_versioned");
    });
  }
  auto* managed = new DLManagedTensor{described, lent.release(), &DeleteManaged<DLManagedTensor>};
  return PyCapsule_New(managed, "dltensor",
                       [](PyObject* capsule) { DropCapsule<DLManagedTensor>(capsule, "dltensor"); });
}

DType FromDL(DLDataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (type.lanes == 1 && kCodes[i] == type.code && 8 * kItemSizes[i] == type.bits) return static_cast<DType>(i);
  }
  throw TypeError("from_dlpack")
      .Got("type code ", int{type.code}, " with ", int{type.bits}, " bits and ", type.lanes, " lanes")
      .Expected("a dtype that tensors have");
}

Tensor Import(const DLTensor& from, bool read_only, std::function<void()> release) {
  struct Releaser {
    std::function<void()> call;
    ~Releaser() {
      if (call) call();
    }
  } guard{std::move(release)};
  const DType dtype = FromDL(from.dtype);
  Device device;
  if (from.device.device_type == kDLCUDA) {
    device = {DeviceType::kCUDA, static_cast<int16_t>(from.device.device_id)};
  } else if (from.device.device_type != kDLCPU && from.device.device_type != kDLCUDAHost) {
    throw ValueError("from_dlpack").Got("device type ", from.device.device_type).Expected("1 (CPU) or 2 (CUDA)");
  }
  if (from.ndim < 0 || from.ndim > kMaxDims)
    throw ValueError("from_dlpack").Got(from.ndim, " axes").Expected("0 to ", kMaxDims);
  if (from.ndim > 0 && !from.shape) throw ValueError("from_dlpack").Got("no shape").Expected(from.ndim, " sizes");
  const Dims shape(from.shape, from.ndim);
  const Dims strides = from.strides ? Dims(from.strides, from.ndim) : ContiguousStrides(shape);
  for (int i = 0; i < strides.size(); ++i) {
    if (strides[i] < 0 && shape[i] > 1)
      throw ValueError("from_dlpack").Got("strides ", strides).Expected("none below 0; copy it first");
  }
  void* data = from.data ? static_cast<char*>(from.data) + from.byte_offset : nullptr;
  if (read_only) {
    const Tensor borrowed = Tensor::Borrow(data, shape, strides, dtype, device, [] {});
    return Op<"to_row_major">(borrowed);
  }
  return Tensor::Borrow(data, shape, strides, dtype, device, std::exchange(guard.call, nullptr));
}

template <typename Managed>
Tensor Take(py::object capsule, const char* name, const char* used_name, bool read_only) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed) throw py::error_already_set();
  const DLTensor described = managed->tensor;
  PyCapsule_SetName(capsule.ptr(), used_name);
  return Import(described, read_only, [managed] {
    if (!managed->deleter) return;
    if (!Py_IsInitialized() || LockIsGone()) return;
    WithGil gil;
    managed->deleter(managed);
  });
}

Tensor FromDLPack(py::object object) {
  py::object capsule = object;
  if (!PyCapsule_CheckExact(object.ptr())) {
    if (!py::hasattr(object, "__dlpack__")) {
      throw TypeError("from_dlpack")
          .Got("'", Py_TYPE(object.ptr())->tp_name, "'")
          .Expected("an object with __dlpack__");
    }
    try {
      capsule = object.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;  // an exporter from before DLPack 1.0
      capsule = object.attr("__dlpack__")();
    }
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1) {
      throw RuntimeError("from_dlpack").Got("DLPack version ", managed->version.major).Expected("version 1");
    }
    return Take<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned",
                                          managed->flags & kReadOnly);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    throw ValueError("from_dlpack")
        .Got("a capsule that was taken already, or is none of DLPack's")
        .Expected("a fresh one");
  }
  return Take<DLManagedTensor>(capsule, "dltensor", "used_dltensor", false);
}

}  // namespace

void RegisterDLPack(py::module_& m) {
  m.def(
      "to_dlpack",
      [](py::object tensor, py::object max_version, py::object copy) {
        return py::reinterpret_steal<py::object>(Export(tensor, max_version, copy));
      },
      "Lend a tensor as a DLPack capsule.", py::arg("tensor"), py::arg("max_version") = py::none(),
      py::arg("copy") = py::none());
  m.def(
      "dlpack_device",
      [](py::object tensor) {
        const DLDevice device = ToDL(TensorIn(tensor, "__dlpack_device__").device());
        return py::make_tuple(device.device_type, device.device_id);
      },
      "The device of a tensor in DLPack's numbers.", py::arg("tensor"));
  m.def(
      "from_dlpack",
      [](py::object object, py::object tensor_class) {
        const Frontend* frontend = FrontendIn(tensor_class, "from_dlpack");
        return py::reinterpret_steal<py::object>(Wrap(FromDLPack(object), frontend));
      },
      "Borrow another library's tensor.", py::arg("object"), py::arg("tensor_class"));
}

}  // namespace dragon::python
