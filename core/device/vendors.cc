// Switches and counts of the process.
#include "core/device/vendors.h"

#include <atomic>

namespace dragon {

namespace {
std::atomic<bool> g_allows_attention{true}, g_allows_convolution{true}, g_allows_recurrent{true}, g_measures{false};
std::atomic<int64_t> g_attention_calls{0}, g_recurrent_calls{0};
}  // namespace

bool AllowsVendorConvolution() { return g_allows_convolution.load(std::memory_order_relaxed); }
void SetAllowsVendorConvolution(bool allowed) { g_allows_convolution.store(allowed, std::memory_order_relaxed); }
bool MeasuresVendors() { return g_measures.load(std::memory_order_relaxed); }
void SetMeasuresVendors(bool measures) { g_measures.store(measures, std::memory_order_relaxed); }
bool AllowsVendorRecurrent() { return g_allows_recurrent.load(std::memory_order_relaxed); }
void SetAllowsVendorRecurrent(bool allowed) { g_allows_recurrent.store(allowed, std::memory_order_relaxed); }
bool AllowsVendorAttention() { return g_allows_attention.load(std::memory_order_relaxed); }
void SetAllowsVendorAttention(bool allowed) { g_allows_attention.store(allowed, std::memory_order_relaxed); }
int64_t VendorAttentionCalls() { return g_attention_calls.load(std::memory_order_relaxed); }
void CountVendorAttention() { g_attention_calls.fetch_add(1, std::memory_order_relaxed); }
int64_t VendorRecurrentCalls() { return g_recurrent_calls.load(std::memory_order_relaxed); }
void CountVendorRecurrent() { g_recurrent_calls.fetch_add(1, std::memory_order_relaxed); }

}  // namespace dragon
