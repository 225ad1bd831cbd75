// Which kernels there are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/device/device.h"

namespace dragon {

/// The kernels that a kind of device has, by name, and the dtypes that it has them for; once its library is loaded.
DRAGON_API std::map<std::string, std::vector<DType>> KernelsOf(DeviceType device);

}  // namespace dragon
