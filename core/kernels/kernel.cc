// The kernel tables, and the rule by which a device's kernel library is found and loaded.
#include "core/kernels/kernel.h"

#include <map>
#include <mutex>

#include "core/device/library.h"
#include "core/kernels/names.h"

namespace dragon {

namespace {

struct Tables {
  std::mutex mutex;
  std::map<std::string, KernelTable, std::less<>> by_name;
};

Tables& AllTables() {
  static auto* tables = new Tables;  // never destroyed: kernel libraries may outlive static destructors
  return *tables;
}

}  // namespace

KernelTable& KernelTable::Named(const std::string& name) {
  Tables& tables = AllTables();
  std::lock_guard<std::mutex> lock(tables.mutex);
  return tables.by_name.try_emplace(name, name).first->second;
}

KernelTable& KernelTable::Named(const std::string& name, const std::type_info& signature) {
  KernelTable& table = Named(name);
  std::lock_guard<std::mutex> lock(AllTables().mutex);
  if (table.signature_.empty()) table.signature_ = signature.name();
  if (table.signature_ != signature.name()) {
    throw RuntimeError("kernel '", name, "'").Got("signature ", signature.name()).Expected(table.signature_);
  }
  return table;
}

std::map<std::string, std::vector<DType>> KernelsOf(DeviceType device) {
  if (device == DeviceType::kCPU) LoadCpuKernels();
  Tables& tables = AllTables();
  std::lock_guard<std::mutex> lock(tables.mutex);
  std::map<std::string, std::vector<DType>> found;
  for (const auto& [name, table] : tables.by_name) {
    for (int i = 0; i < kDTypeCount; ++i) {
      if (table.Has(device, static_cast<DType>(i))) found[name].push_back(static_cast<DType>(i));
    }
  }
  return found;
}

KernelTable::Function KernelTable::Missing(DeviceType device, DType dtype) const {
  if (device == DeviceType::kCPU) LoadCpuKernels();
  if (Function function = slots_[static_cast<int>(device)][static_cast<int>(dtype)]) return function;
  std::string known;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (!slots_[static_cast<int>(device)][i]) continue;
    known += (known.empty() ? "" : ", ") + std::string(kDTypeNames[i]);
  }
  if (known.empty()) {
    throw NotImplementedError(name_).Got("a tensor on ", Name(device)).Expected("a device that has a kernel for it");
  }
  throw NotImplementedError(name_, " on ", Name(device)).Got(dtype).Expected("one of {", known, "}");
}

}  // namespace dragon
