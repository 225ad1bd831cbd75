// One switch for the process, as PyTorch's is.
#include "core/device/precision.h"

#include <atomic>

namespace dragon {

namespace {
std::atomic<bool> g_allows_tf32{false};
}  // namespace

bool AllowsTf32() { return g_allows_tf32.load(std::memory_order_relaxed); }
void SetAllowsTf32(bool allowed) { g_allows_tf32.store(allowed, std::memory_order_relaxed); }

}  // namespace dragon
