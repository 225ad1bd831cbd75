// Who is within the engine while Python goes on, and what becomes of them when Python ends.
#include "core/bindings/gil.h"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "core/framework/thread_wait.h"

namespace dragon::python {

namespace {

std::atomic<int> g_outside{0};
thread_local int t_outside = 0;

constexpr int kPatienceSeconds = 10;

bool Ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/// Called by the interpreter when nothing of it is left. Threads still in the engine stop as soon as they come out.
void AwaitThreads() {
  const timespec pause{0, 1000000};
  for (int64_t i = 0; i < kPatienceSeconds * int64_t{1000} && g_outside.load() > 0; ++i) nanosleep(&pause, nullptr);
}

/// The thread that is waited for may have to take the lock to go on.
void LendLock() {
  const timespec pause{0, 20000};
  if (!PyGILState_Check()) {
    nanosleep(&pause, nullptr);
    return;
  }
  const WithoutGil lent;
  nanosleep(&pause, nullptr);
}

}  // namespace

int ThreadsOutside() { return g_outside.load(std::memory_order_relaxed); }

void Park() {
  g_outside.fetch_sub(t_outside);  // nobody need wait for this thread
  for (;;) pause();
}

bool LockIsGone() { return t_outside > 0 && Ending(); }

WithoutGil::WithoutGil() : state_(nullptr) {
  if (Ending()) return;
  g_outside.fetch_add(1, std::memory_order_relaxed);
  ++t_outside;
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  if (!state_) return;
  if (Ending()) Park();
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    Park();
  }
  --t_outside;
  g_outside.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<PyObject> KeptWithoutGil(pybind11::object object) {
  // A thread may end, and let go of what it holds, without the lock.
  return {object.release().ptr(), [](PyObject* kept) {
            if (!Py_IsInitialized() || LockIsGone()) return;
            WithGil gil;
            Py_DECREF(kept);
          }};
}

std::function<std::string()> Asking(pybind11::function function) {
  const std::shared_ptr<PyObject> kept = KeptWithoutGil(std::move(function));
  return [kept] {
    WithGil gil;
    return pybind11::cast<std::string>(pybind11::reinterpret_borrow<pybind11::function>(kept.get())());
  };
}

void RegisterEnd() {
  SetThreadWait(&LendLock);
  Py_AtExit(&AwaitThreads);
}

}  // namespace dragon::python
