// A kernel is the computation of an operator on one device and dtype, found in a table by name.
//
// A family header declares it, once:            inline const Kernel<void(View y, View x)> Gelu{"gelu"};
// A source file, compiled per device, enters it:
//     namespace dragon::DRAGON_DEVICE {
//     template <typename T> void Gelu(Context& ctx, View y, View x) { ... }
//     DRAGON_KERNEL(Gelu, Floating);
//     }
// An operator calls it:                          kernels::Gelu(ctx, dtype, y, x);
#pragma once

#include <string>
#include <type_traits>
#include <typeinfo>

#include "core/base/error.h"
#include "core/device/context.h"
#include "core/kernels/view.h"

// Set by the build for each backend library, so that one source compiled twice makes two sets of symbols
// (else the linker keeps one copy, and the CPU would silently run code made for another device).
#ifndef DRAGON_DEVICE
#define DRAGON_DEVICE cpu
#endif
#ifndef DRAGON_DEVICE_TYPE
#define DRAGON_DEVICE_TYPE ::dragon::DeviceType::kCPU
#endif

namespace dragon {

/// The functions of one kernel, by device type and dtype. An empty slot means: no such kernel.
class DRAGON_API KernelTable {
 public:
  using Function = void (*)();

  /// The table of that name; the same one for everybody who asks.
  static KernelTable& Named(const std::string& name);
  /// The same for kernels of one C++ signature; a RuntimeError if the name is taken by another signature.
  static KernelTable& Named(const std::string& name, const std::type_info& signature);
  explicit KernelTable(std::string name) : name_(std::move(name)) {}
  Function Find(DeviceType device, DType dtype) const {
    const Function function = slots_[static_cast<int>(device)][static_cast<int>(dtype)];
    if (DRAGON_LIKELY(function != nullptr)) return function;
    return Missing(device, dtype);
  }
  bool Has(DeviceType device, DType dtype) const {
    return slots_[static_cast<int>(device)][static_cast<int>(dtype)] != nullptr;
  }
  void Set(DeviceType device, DType dtype, Function function) {
    slots_[static_cast<int>(device)][static_cast<int>(dtype)] = function;
  }
  const std::string& name() const { return name_; }

 private:
  /// Load the device's kernel library if that has not happened yet; then the function, or the error that names it.
  Function Missing(DeviceType device, DType dtype) const;

  std::string name_, signature_;
  Function slots_[kDeviceTypeCount][kDTypeCount] = {};
};

template <typename Signature>
class Kernel;

/// A typed handle to a KernelTable. Copies of a handle in several libraries find the same table.
template <typename... Args>
class Kernel<void(Args...)> {
 public:
  using Pointer = void (*)(Context&, Args...);

  explicit Kernel(const char* name) : table_(&KernelTable::Named(name, typeid(void(Args...)))) {}
  void operator()(Context& ctx, DType dtype, Args... args) const {
    reinterpret_cast<Pointer>(table_->Find(ctx.device.type, dtype))(ctx, args...);
  }
  bool Has(DeviceType device, DType dtype) const { return table_->Has(device, dtype); }
  void Set(DeviceType device, DType dtype, Pointer pointer) const {
    table_->Set(device, dtype, reinterpret_cast<KernelTable::Function>(pointer));
  }

 private:
  KernelTable* table_;
};

namespace kernels {

/// Enter `make(TypeTag<T>{})` into the kernel's table for every T of the list, on the device being compiled for.
template <typename... Args, typename Make, typename... Ts>
bool Enter(const Kernel<void(Args...)>& kernel, TypeList<Ts...>, Make make) {
  (kernel.Set(DRAGON_DEVICE_TYPE, kDTypeOf<Ts>, make(TypeTag<Ts>{})), ...);
  return true;
}

}  // namespace kernels
}  // namespace dragon

/// Enter the function template `name<T>` for every T of the type list `types`.
#define DRAGON_KERNEL(name, types)                                              \
  [[maybe_unused]] static const bool name##_entered = ::dragon::kernels::Enter( \
      ::dragon::kernels::name, ::dragon::types{}, []<typename Tag>(Tag) { return &name<typename Tag::type>; })
