// Python's lock: leaving it for the engine's long work, and taking it where C++ comes back to Python. The interpreter
// may end meanwhile, and then unwinds a thread that asks for the lock: through C++, which ends the process by an abort
// where no exception may leave. Such a thread is stopped for good instead, as Python itself does from 3.14 on.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace dragon::python {

/// Threads that are in the engine without the lock now. Changed by holders of the lock only.
int ThreadsOutside();
/// Stop this thread for ever; what it has on its stack is never touched again.
[[noreturn]] void Park();
/// The interpreter is ending, and this thread left the lock to it: it will never get it back.
bool LockIsGone();

class WithoutGil {
 public:
  WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  PyThreadState* state_;  ///< null in the thread that ends the interpreter, which keeps the lock
};

class WithGil {
 public:
  WithGil() {
    if (LockIsGone()) Park();
    try {
      gil_.emplace();
    } catch (abi::__forced_unwind&) {  // the interpreter began to end while we waited
      Park();
    }
  }
  WithGil(const WithGil&) = delete;

 private:
  std::optional<pybind11::gil_scoped_acquire> gil_;
};

/// An object that may be let go of without the lock.
std::shared_ptr<PyObject> KeptWithoutGil(pybind11::object object);
/// What asks a function of Python's for a text, whoever holds the lock; it may be let go of without the lock.
std::function<std::string()> Asking(pybind11::function function);

/// Wait, once the interpreter is gone, until no thread is in the engine: its libraries are about to go as well.
void RegisterEnd();

}  // namespace dragon::python
