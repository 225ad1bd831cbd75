// Devices, threads, dtype defaults and libraries, seen from Python.
#include "core/bindings/placing.h"
#include "core/bindings/python.h"
#include "core/device/alone.h"
#include "core/device/library.h"
#include "core/device/parallel.h"
#include "core/device/precision.h"
#include "core/device/vendors.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/promotion.h"
#include "core/kernels/names.h"

namespace dragon::python {

namespace {

/// Libraries that pip installs lie among Python's packages.
void TellPackageFolders() {
  std::vector<std::string> folders;
  for (const py::handle entry : py::module_::import("sys").attr("path")) {
    if (py::isinstance<py::str>(entry) && py::len(entry) > 0) folders.push_back(entry.cast<std::string>());
  }
  SetPackageFolders(std::move(folders));
}

void RegisterLibraries(py::module_& m) {
  m.def(
      "load_library",
      [](const std::string& path) {
        LoadLibrary(path);
        ForgetUsualDevice();
      },
      "Load operators, kernels or a device from a shared library.", py::arg("path"));
  m.def("library_folder", &LibraryFolder, "Where libdragon lies.");
  TellPackageFolders();
  m.def("cpu_level", &CpuLevel, "The instruction-set level of the CPU kernels in use.");
  m.def("has_onednn", &HasOneDnn, "Whether CPU kernels have oneDNN to do large products and convolutions.");
}

void RegisterDevices(py::module_& m) {
  m.def("set_num_threads", &SetNumThreads, "Set how many threads kernels may use.", py::arg("count"));
  m.def("num_threads", &NumThreads, "How many threads kernels may use.");
  m.def("work_alone", &WorkAlone,
        "Set whether kernels that this thread runs wake no others; whether they woke none so far.", py::arg("alone"));
  m.def("set_allows_tf32", &SetAllowsTf32,
        "Set whether float32 products of a device may round their operands to TensorFloat32.", py::arg("allowed"));
  m.def("set_convolutions_allow_tf32", &SetConvolutionsAllowTf32, "The same for convolutions.", py::arg("allowed"));
  m.def("set_allows_vendor_attention", &SetAllowsVendorAttention,
        "Set whether attention on a device may be computed by a library of its vendor's.", py::arg("allowed"));
  m.def("set_allows_vendor_convolution", &SetAllowsVendorConvolution,
        "Set whether convolutions on a device may be computed by a library of its vendor's.", py::arg("allowed"));
  m.def("set_allows_vendor_recurrent", &SetAllowsVendorRecurrent,
        "Set whether recurrent networks on a device may be computed by a library of its vendor's.", py::arg("allowed"));
  m.def("set_measures_vendors", &SetMeasuresVendors,
        "Set whether ways of a vendor's library are measured the first time that a shape comes.", py::arg("measures"));
  m.def("vendor_attention_calls", &VendorAttentionCalls,
        "How many calls of attention, forward and backward, a vendor's library has computed.");
  m.def("vendor_recurrent_calls", &VendorRecurrentCalls,
        "How many calls of recurrent networks, forward and backward, a vendor's library has computed.");
  m.def(
      "device_count",
      [](const std::string& type) {
        const Device device = Device::Parse(type);
        return device.is_cpu() || device.is_meta() ? 1 : HasBackend(device.type) ? BackendOf(device.type).Count() : 0;
      },
      "How many devices of a type there are.", py::arg("type"));
  m.def(
      "kernels",
      [](const std::string& type) {
        py::dict names;
        for (const auto& [name, dtypes] : KernelsOf(Device::Parse(type).type)) {
          py::list known;
          for (const DType dtype : dtypes) known.append(Name(dtype));
          names[py::str(name)] = known;
        }
        return names;
      },
      "The kernels that a type of device has, by name, and the dtypes it has them for.", py::arg("type"));
  m.def(
      "parse_device",
      [](py::object device) {
        const Device parsed = ParseDevice(device.ptr(), {"device", nullptr});
        return py::make_tuple(Name(parsed.type), parsed.index);
      },
      "Read a device's name: a (type, index) pair.", py::arg("device"));
  m.def(
      "synchronize",
      [](py::object device) {
        const Device parsed = ParseDevice(device.ptr(), {"synchronize", nullptr});
        if (!parsed.is_cpu() && !parsed.is_meta()) BackendOf(parsed.type).Synchronize(parsed.index);
      },
      "Wait for a device's work to end.", py::arg("device"));
}

/// Which dtype results.
void RegisterPromotion(py::module_& m) {
  m.def("default_dtype", [] { return Name(DefaultDType()); }, "The name of the dtype of Python floats.");
  m.def(
      "set_default_dtype",
      [](py::object dtype) { SetDefaultDType(ParseDType(dtype.ptr(), {"set_default_dtype", nullptr})); },
      "Set the dtype of Python floats.", py::arg("dtype"));
  m.def(
      "promote_types",
      [](py::object a, py::object b) {
        const Place place{"promote_types", nullptr};
        return Name(PromoteTypes(ParseDType(a.ptr(), place), ParseDType(b.ptr(), place)));
      },
      "The name of the dtype that holds both.", py::arg("a"), py::arg("b"));
  m.def(
      "can_cast",
      [](py::object a, py::object b) {
        const Place place{"can_cast", nullptr};
        return CanCast(ParseDType(a.ptr(), place), ParseDType(b.ptr(), place));
      },
      "Whether results of one dtype may be written into the other.", py::arg("source"), py::arg("destination"));
  m.def(
      "result_type",
      [](py::args inputs) {
        std::vector<Tensor> tensors;
        for (py::handle input : inputs) tensors.push_back(ParseTensor(input.ptr(), {"result_type", nullptr}, nullptr));
        return Name(ResultType("result_type", tensors));
      },
      "The name of the dtype that operands meet in.");
}

/// Tensors made of Python's data.
void RegisterMaking(py::module_& m) {
  m.def("is_tensor", [](py::object object) { return IsTensor(object.ptr()); }, py::arg("object"));
  m.def(
      "as_class",
      [](py::object tensor, py::object type) {
        const Tensor& x = TensorIn(tensor, "as_class");
        const Frontend* frontend = FrontendIn(type, "as_class");
        const Frontend* before = FaceIf(tensor.ptr())->frontend;
        const bool waits = frontend && frontend->waits_to_be_asked;
        if (waits && before && !before->waits_to_be_asked) AutogradMeta::Of(x).of_recorder = true;
        return py::reinterpret_steal<py::object>(Wrap(x, frontend));
      },
      "The same tensor in another frontend's class.", py::arg("tensor"), py::arg("type"));
  m.def(
      "tensor",
      [](py::object data, py::object dtype, py::object device, py::object frontend_class) {
        const Place place{"tensor", nullptr};
        DType parsed = DType::kFloat32;
        if (!dtype.is_none()) parsed = ParseDType(dtype.ptr(), place);
        const Device where = device.is_none() ? Device{} : ParseDevice(device.ptr(), place);
        const Frontend* frontend = FrontendIn(frontend_class, "tensor");
        const Tensor tensor = FromData(data.ptr(), dtype.is_none() ? nullptr : &parsed, where, "tensor");
        return py::reinterpret_steal<py::object>(Wrap(tensor, frontend));
      },
      "Copy data into a new tensor.", py::arg("data"), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("tensor_class"));
  m.def(
      "from_buffer",
      [](py::object object, py::object frontend_class) {
        const Frontend* frontend = FrontendIn(frontend_class, "from_numpy");
        return py::reinterpret_steal<py::object>(Wrap(FromBuffer(object.ptr(), "from_numpy"), frontend));
      },
      "A tensor over an object's memory (a NumPy array, a bytearray, ...).", py::arg("object"),
      py::arg("tensor_class"));
}

}  // namespace

void RegisterDevice(py::module_& m) {
  RegisterLibraries(m);
  RegisterDevices(m);
  RegisterPromotion(m);
  RegisterMaking(m);
}

}  // namespace dragon::python
