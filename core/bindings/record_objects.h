// Values of records as Python's objects.
#pragma once

#include <memory>
#include <span>

#include "core/bindings/python.h"

namespace dragon::python {

/// The object that a body holds; throws RecordTrouble, whose offset counts from the start of the body. Arrays of some
/// size look into `memory`, if that is given; all others are copies.
py::object ObjectOfRecord(std::span<const uint8_t> body, const std::shared_ptr<uint8_t[]>& memory);

}  // namespace dragon::python
