// Single numbers of the host, seen from a device.
#pragma once

#include <cstddef>

#include "core/base/macros.h"
#include "core/device/device.h"

namespace dragon {

/// The address on `device` of a number that the host has, of at most 16 bytes. Programs use the same few numbers over
/// and over: each is brought there once, and not waited for again. What is there must not be written to; it stays as
/// long as work that was queued before the next call of this function may read it.
DRAGON_API const void* NumberOn(Device device, const void* number, size_t bytes);

}  // namespace dragon
