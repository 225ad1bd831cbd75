// TensorFlow's placement, without its graph: what each call needs is known when it is made.
#include "core/bindings/placing.h"

#include <pthread.h>

namespace dragon::python {

std::atomic<int> g_reasons_to_place{1};

namespace {

constexpr int kNobodyLooked = -2, kHost = -1;

/// The index of the accelerator on which calls run that nobody has placed, or one of the two above.
std::atomic<int> g_usual{kNobodyLooked};
/// Whether the program said which one it is, so that another one that comes changes nothing.
std::atomic<bool> g_usual_is_chosen{false};

/// Counts as a reason to place calls while it holds a device.
class Named {
 public:
  ~Named() { Set(std::nullopt); }
  void Set(std::optional<Device> device) {
    g_reasons_to_place += static_cast<int>(device.has_value()) - static_cast<int>(device_.has_value());
    device_ = device;
  }
  const std::optional<Device>& device() const { return device_; }

 private:
  std::optional<Device> device_;
};
thread_local Named t_named;

void SetUsual(int index) {
  const int before = g_usual.exchange(index);
  g_reasons_to_place += static_cast<int>(index != kHost) - static_cast<int>(before != kHost);
}

Device UsualDevice() {
  if (g_usual.load(std::memory_order_acquire) == kNobodyLooked) {
    const bool there = HasBackend(DeviceType::kCUDA) && BackendOf(DeviceType::kCUDA).Count() > 0;
    SetUsual(there ? 0 : kHost);
  }
  const int index = g_usual.load(std::memory_order_acquire);
  return index < 0 ? Device{} : Device{DeviceType::kCUDA, static_cast<int16_t>(index)};
}

/// Where results of a dtype go: int32 numbers are shapes, sizes and places, which the host wants to read.
Device HomeOf(Device device, DType dtype) {
  return device.type == DeviceType::kCUDA && dtype == DType::kInt32 ? Device{} : device;
}

/// The dtype that a call is asked for, if it is.
std::optional<DType> AskedDType(const PlacedCall& call) {
  for (const Argument& argument : call.op.schema.arguments()) {
    if (argument.type != ArgumentType::kDType) continue;
    const Value& value = call.attrs[argument.slot];
    if (!value.is_none()) return value.dtype();
  }
  return std::nullopt;
}

const Argument* DeviceArgument(const Operator& op) {
  for (const Argument& argument : op.schema.arguments()) {
    if (argument.type == ArgumentType::kDevice) return &argument;
  }
  return nullptr;
}

/// The tensor that the call writes into, or null.
const Tensor* Written(const PlacedCall& call) {
  for (const Tensor& out : call.outs) {
    if (out.defined()) return &out;
  }
  if (!call.op.schema.mutates()) return nullptr;
  size_t place = 0;
  for (const Argument& argument : call.op.schema.arguments()) {
    if (!argument.is_tensor()) continue;
    if (argument.mutated && place < call.inputs.size()) return &call.inputs[place];
    if (argument.type == ArgumentType::kTensorList) break;  // how many there are is of no use: all lie together
    ++place;
  }
  return nullptr;
}

/// A number that Python had, or that lies on the host: kernels of any device read it where it is.
bool GoesAnywhere(const Tensor& x) { return x.device().is_cpu() && x.ndim() == 0; }

/// Where the call runs; none where its operands stay where they are.
std::optional<Device> TargetOf(const PlacedCall& call) {
  const Tensor* written = Written(call);
  if (written && written->defined()) return written->device();
  const Device target = t_named.device() ? *t_named.device() : UsualDevice();
  bool on_host = true, all_shapes = true;
  for (const Tensor& x : call.inputs) {
    if (!x.defined()) continue;
    if (x.device().is_meta()) return std::nullopt;
    on_host &= x.device().is_cpu();
    all_shapes &= x.dtype() == DType::kInt32 || x.impl()->weak;
  }
  if (target.is_meta()) return std::nullopt;
  if (!on_host || target.type != DeviceType::kCUDA) return target;
  const std::optional<DType> asked = AskedDType(call);
  const bool makes_shapes = asked ? *asked == DType::kInt32 : all_shapes;
  return makes_shapes ? std::nullopt : std::optional(target);
}

Tensor Bring(const Tensor& x, Device target, const Frontend* recorder) {
  const Value attr(target);
  return ApplyFromPython(Call{&OpNamed<"to_device">(), {&x, 1}, {&attr, 1}, {}}, recorder)[0];
}

}  // namespace

const std::optional<Device>& NamedDevice() { return t_named.device(); }

void ForgetUsualDevice() {
  if (!g_usual_is_chosen) SetUsual(kNobodyLooked);
}

void PlaceCall(const PlacedCall& call, const Frontend* recorder) {
  if (const Argument* argument = DeviceArgument(call.op)) {  // it makes numbers: by sizes, or by a seed
    if (call.device_given) return;
    for (const Tensor& x : call.inputs) {
      if (x.defined() && x.device().is_meta()) return;
    }
    const bool like = !call.inputs.empty() && call.inputs[0].defined();
    if (like && !t_named.device() && !call.inputs[0].device().is_cpu()) return;  // it is where that tensor is
    const Device device = t_named.device() ? *t_named.device() : UsualDevice();
    const DType natural = like ? call.inputs[0].dtype() : DType::kFloat32;
    call.attrs[argument->slot] = Value(HomeOf(device, AskedDType(call).value_or(natural)));
    return;
  }
  if (call.op.view && call.outs.empty()) return;  // parts of a tensor are where it is
  const std::optional<Device> target = TargetOf(call);
  if (!target) return;
  bool there = false;
  for (const Tensor& x : call.inputs) there |= x.defined() && x.device() == *target;
  for (Tensor& x : call.inputs) {
    if (!x.defined() || x.device() == *target || x.impl()->weak || (there && GoesAnywhere(x))) continue;
    x = Bring(x, *target, recorder);
    there = true;
  }
}

void RegisterPlacing(py::module_& m) {
  // A forked process cannot use the device that its parent has begun to use.
  pthread_atfork(nullptr, nullptr, [] {
    if (g_usual >= 0) SetUsual(kHost);
  });
  m.def(
      "set_default_device",
      [](py::object device) {
        t_named.Set(device.is_none() ? std::nullopt
                                     : std::optional(ParseDevice(device.ptr(), {"set_default_device", nullptr})));
      },
      "Set the device of this thread's new tensors for which none is named; None for the CPU, or where frontends place "
      "calls themselves, for the usual device.",
      py::arg("device"));
  m.def(
      "usual_device", [] { return UsualDevice().str(); },
      "The device of calls that nobody has placed, of frontends that place them: the first accelerator, or the CPU.");
  m.def(
      "set_usual_device",
      [](py::object device) {
        g_usual_is_chosen = !device.is_none();
        if (device.is_none()) return SetUsual(kNobodyLooked);
        const Device parsed = ParseDevice(device.ptr(), {"set_usual_device", nullptr});
        SetUsual(parsed.type == DeviceType::kCUDA ? parsed.index : kHost);
      },
      "Set that device; None has it looked for again.", py::arg("device"));
}

}  // namespace dragon::python
