// A switch and a count of the process.
#include "core/device/vendors.h"

#include <atomic>

namespace dragon {

namespace {
std::atomic<bool> g_allows_attention{true};
std::atomic<int64_t> g_attention_calls{0};
}  // namespace

bool AllowsVendorAttention() { return g_allows_attention.load(std::memory_order_relaxed); }
void SetAllowsVendorAttention(bool allowed) { g_allows_attention.store(allowed, std::memory_order_relaxed); }
int64_t VendorAttentionCalls() { return g_attention_calls.load(std::memory_order_relaxed); }
void CountVendorAttention() { g_attention_calls.fetch_add(1, std::memory_order_relaxed); }

}  // namespace dragon
