// Errors of compositions carry the name that the user called, not that of a part.
#pragma once

#include <string>

#include "core/framework/operator.h"

namespace dragon {

/// Call `f`; an error it throws speaks in the name of `c`'s operator.
template <typename F>
Tensors InTheNameOf(const CallReader& c, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    const std::string message = error.what();
    const size_t colon = message.find(": ");
    throw Error(error.kind(), colon == std::string::npos ? message : c.name() + message.substr(colon));
  }
}

}  // namespace dragon
