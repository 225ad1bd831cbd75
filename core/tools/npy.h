// NumPy's files of one array, so that inputs and references can come from anywhere.
#pragma once

#include <string>

#include "core/framework/tensor.h"

namespace dragon {

/// Read a `.npy` file. What is no row-major array of a dtype that tensors have is a ValueError that names the file.
Tensor ReadNpy(const std::string& path);

}  // namespace dragon
