// A product as cuBLASLt knows it, with the algorithm that it found for it: kept, because looking for one takes longer
// than many products do.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/device/cuda/cublas.h"
#include "core/device/precision.h"

namespace dragon::DRAGON_DEVICE {

/// How operands of 8 bits are scaled.
enum class LtScales : int64_t { kNone, kNumbers, kVectors };

/// By columns: d (m, n) = op(a) (m, k) op(b) (k, n), `batch` times at the strides, a vector of m added if `bias`.
/// Alignments are of all pointers that the plan will be given, in bytes.
struct LtProblem {
  int64_t device, dtype, a_dtype, b_dtype, tf32, m, n, k, a_leading, b_leading, d_leading, a_transposed, b_transposed,
      bias, batch, a_stride, b_stride, d_stride, a_alignment, b_alignment, d_alignment, bias_alignment, scales, fast;
};
using LtKey = std::array<int64_t, sizeof(LtProblem) / sizeof(int64_t)>;
static_assert(sizeof(LtKey) == sizeof(LtProblem));

struct LtKeyHash {
  size_t operator()(const LtKey& key) const {
    uint64_t hash = 0xCBF29CE484222325u;
    for (const int64_t word : key) hash = (hash ^ static_cast<uint64_t>(word)) * 0x100000001B3u, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};

/// What a problem reads beside its matrices; what is null is not there.
struct LtBeside {
  const void *bias = nullptr, *a_scale = nullptr, *b_scale = nullptr;
};

/// The descriptors of a problem; not usable if the library has no algorithm for it.
class LtPlan {
 public:
  LtPlan(const Context& ctx, const LtProblem& p, const LtBeside& beside) {
    const cuda::LtFunctions& lt = cuda::Lt();
    const auto dtype = static_cast<DType>(p.dtype);
    const bool wide = RealDType(dtype) == DType::kFloat64, complex = IsComplex(dtype);
    const auto compute = wide ? cuda::BlasCompute::k64F
                         : p.tf32 && dtype != DType::kFloat16 && dtype != DType::kBFloat16
                             ? cuda::BlasCompute::k32FFastTF32
                             : cuda::BlasCompute::k32F;
    const cudaDataType_t scale = wide ? (complex ? CUDA_C_64F : CUDA_R_64F) : (complex ? CUDA_C_32F : CUDA_R_32F);
    cuda::CheckBlas(lt.desc_create(&desc, compute, scale), "matmul");
    Set(cuda::LtDescAttribute::kTransA, OpOf(p.a_transposed));
    Set(cuda::LtDescAttribute::kTransB, OpOf(p.b_transposed));
    if (p.bias) {
      Set(cuda::LtDescAttribute::kEpilogue, cuda::kLtEpilogueBias);
    }
    if (p.fast) Set(cuda::LtDescAttribute::kFastSums, int8_t{1});
    if (p.scales == static_cast<int64_t>(LtScales::kVectors) &&
        !(Takes(cuda::LtDescAttribute::kScaleModeA, cuda::kLtScaleVector) &&
          Takes(cuda::LtDescAttribute::kScaleModeB, cuda::kLtScaleVector))) {
      return;  // an older library
    }
    Set(beside);  // alignments are looked at
    const auto type_of = [](int64_t x) { return cuda::LtTypeOf(static_cast<DType>(x)); };
    a = MakeLayout(type_of(p.a_dtype), p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.a_leading, p.batch,
                   p.a_stride);
    b = MakeLayout(type_of(p.b_dtype), p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, p.b_leading, p.batch,
                   p.b_stride);
    d = MakeLayout(type_of(p.dtype), p.m, p.n, p.d_leading, p.batch, p.d_stride);
    FindAlgorithm(ctx, p);
  }
  ~LtPlan() {
    const cuda::LtFunctions& lt = cuda::Lt();
    for (cuda::LtLayout layout : {a, b, d}) {
      if (layout) lt.layout_destroy(layout);
    }
    if (desc) lt.desc_destroy(desc);
  }
  LtPlan(const LtPlan&) = delete;
  LtPlan& operator=(const LtPlan&) = delete;

  template <typename V>
  void Set(cuda::LtDescAttribute attribute, const V& value) {
    cuda::CheckBlas(cuda::Lt().desc_set(desc, attribute, &value, sizeof(V)), "matmul");
  }
  void Set(const LtBeside& beside) {
    if (beside.bias) Set(cuda::LtDescAttribute::kBiasPointer, beside.bias);
    if (beside.a_scale) Set(cuda::LtDescAttribute::kScalePointerA, beside.a_scale);
    if (beside.b_scale) Set(cuda::LtDescAttribute::kScalePointerB, beside.b_scale);
  }

  cuda::LtDesc desc = nullptr;
  cuda::LtLayout a = nullptr, b = nullptr, d = nullptr;
  cuda::LtAlgorithm algorithm{};
  size_t workspace_bytes = 0;
  bool usable = false;

 private:
  /// Whether the library knows the attribute and the value.
  bool Takes(cuda::LtDescAttribute attribute, int32_t value) {
    return cuda::Lt().desc_set(desc, attribute, &value, sizeof(value)) == cuda::BlasStatus::kSuccess;
  }
  static int32_t OpOf(int64_t transposed) {
    return static_cast<int32_t>(transposed ? cuda::BlasOp::kTranspose : cuda::BlasOp::kNone);
  }
  static cuda::LtLayout MakeLayout(int type, int64_t rows, int64_t columns, int64_t leading, int64_t batch,
                                   int64_t stride) {
    const cuda::LtFunctions& lt = cuda::Lt();
    cuda::LtLayout layout = nullptr;
    cuda::CheckBlas(
        lt.layout_create(&layout, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), leading),
        "matmul");
    if (batch == 1) return layout;
    const auto count = static_cast<int32_t>(batch);
    cuda::CheckBlas(lt.layout_set(layout, cuda::LtLayoutAttribute::kBatchCount, &count, sizeof(count)), "matmul");
    cuda::CheckBlas(lt.layout_set(layout, cuda::LtLayoutAttribute::kBatchStride, &stride, sizeof(stride)), "matmul");
    return layout;
  }
  void FindAlgorithm(const Context& ctx, const LtProblem& p) {
    const cuda::LtFunctions& lt = cuda::Lt();
    cuda::LtPreference preference = nullptr;
    cuda::CheckBlas(lt.preference_create(&preference), "matmul");
    const auto prefer = [&](cuda::LtPreferenceAttribute attribute, auto value) {
      cuda::CheckBlas(lt.preference_set(preference, attribute, &value, sizeof(value)), "matmul");
    };
    prefer(cuda::LtPreferenceAttribute::kWorkspaceBytes, uint64_t{cuda::kWorkspaceBytes});
    prefer(cuda::LtPreferenceAttribute::kReductions, cuda::kLtReduceInComputeType);
    prefer(cuda::LtPreferenceAttribute::kAlignmentA, static_cast<uint32_t>(p.a_alignment));
    prefer(cuda::LtPreferenceAttribute::kAlignmentB, static_cast<uint32_t>(p.b_alignment));
    prefer(cuda::LtPreferenceAttribute::kAlignmentC, static_cast<uint32_t>(p.d_alignment));
    prefer(cuda::LtPreferenceAttribute::kAlignmentD, static_cast<uint32_t>(p.d_alignment));
    cuda::LtHeuristic best{};
    int found = 0;
    const cuda::BlasStatus status = lt.heuristic(cuda::LtHandleOf(ctx), desc, a, b, d, d, preference, 1, &best, &found);
    lt.preference_destroy(preference);
    usable = status == cuda::BlasStatus::kSuccess && found > 0 && best.state == cuda::BlasStatus::kSuccess;
    algorithm = best.algorithm;
    workspace_bytes = best.workspace_bytes;
  }
};

/// This thread's plan for a problem.
inline LtPlan& LtPlanOf(const Context& ctx, const LtProblem& problem, const LtBeside& beside) {
  constexpr size_t kMostPlans = 4096;
  static thread_local std::unordered_map<LtKey, std::unique_ptr<LtPlan>, LtKeyHash> plans;
  LtKey key;
  std::memcpy(key.data(), &problem, sizeof(problem));
  if (const auto known = plans.find(key); known != plans.end()) return *known->second;
  if (plans.size() >= kMostPlans) plans.clear();
  auto made = std::make_unique<LtPlan>(ctx, problem, beside);
  return *plans.emplace(key, std::move(made)).first->second;
}

}  // namespace dragon::DRAGON_DEVICE
