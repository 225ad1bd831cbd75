// Switches of the process, as PyTorch's are.
#include "core/device/precision.h"

#include <atomic>

namespace dragon {

namespace {
std::atomic<bool> g_allows_tf32{false}, g_convolutions_allow_tf32{true};
}  // namespace

bool AllowsTf32() { return g_allows_tf32.load(std::memory_order_relaxed); }
void SetAllowsTf32(bool allowed) { g_allows_tf32.store(allowed, std::memory_order_relaxed); }
bool ConvolutionsAllowTf32() { return g_convolutions_allow_tf32.load(std::memory_order_relaxed); }
void SetConvolutionsAllowTf32(bool allowed) { g_convolutions_allow_tf32.store(allowed, std::memory_order_relaxed); }

}  // namespace dragon
