// Numbers in tensors as Python is told of them.
#pragma once

#include "core/bindings/python.h"

namespace dragon::python {

/// The number in a tensor of one. While calls are written down it knows where it comes from.
PyObject* WrapItemOf(const Tensor& tensor);

/// The same for somebody who only asks whether it is zero.
Value TruthOf(const Tensor& tensor);

}  // namespace dragon::python
