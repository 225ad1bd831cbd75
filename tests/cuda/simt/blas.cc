// cuBLASLt in plain loops, for tests of what stands around its calls: DRAGON_SIMT_BLAS=1 has products go there. What
// the library would refuse is refused here too.
#include <cstring>
#include <memory>

#include "core/device/cuda/capability.h"
#include "core/device/cuda/cublas.h"
#include "core/kernels/matmul/epilogue.h"
#include "tests/cuda/simt/machine.h"

namespace dragon::cuda {

struct LtDescOpaque {
  BlasCompute compute;
  cudaDataType_t scale;
  int32_t a_op = 0, b_op = 0;
  uint32_t epilogue = kLtEpilogueDefault;
  const void *bias = nullptr, *a_scale = nullptr, *b_scale = nullptr;
  int32_t a_mode = kLtScaleNumber, b_mode = kLtScaleNumber;
  int8_t fast = 0;
};
struct LtLayoutOpaque {
  int type;
  int64_t rows, columns, leading, batch_stride = 0;
  int32_t batch = 1;
};
struct LtPreferenceOpaque {
  uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace {

constexpr BlasStatus kWrong = static_cast<BlasStatus>(7);

BlasStatus CreateDesc(LtDesc* desc, BlasCompute compute, cudaDataType_t scale) {
  *desc = new LtDescOpaque{compute, scale};
  return BlasStatus::kSuccess;
}
template <typename V>
BlasStatus Take(V* to, const void* value, size_t bytes) {
  if (bytes != sizeof(V)) return kWrong;
  std::memcpy(to, value, bytes);
  return BlasStatus::kSuccess;
}
BlasStatus SetDesc(LtDesc desc, LtDescAttribute attribute, const void* value, size_t bytes) {
  switch (attribute) {
    case LtDescAttribute::kTransA:
      return Take(&desc->a_op, value, bytes);
    case LtDescAttribute::kTransB:
      return Take(&desc->b_op, value, bytes);
    case LtDescAttribute::kEpilogue:
      return Take(&desc->epilogue, value, bytes);
    case LtDescAttribute::kBiasPointer:
      return Take(&desc->bias, value, bytes);
    case LtDescAttribute::kScalePointerA:
      return Take(&desc->a_scale, value, bytes);
    case LtDescAttribute::kScalePointerB:
      return Take(&desc->b_scale, value, bytes);
    case LtDescAttribute::kFastSums:
      return Take(&desc->fast, value, bytes);
    case LtDescAttribute::kScaleModeA:
      return Take(&desc->a_mode, value, bytes);
    case LtDescAttribute::kScaleModeB:
      return Take(&desc->b_mode, value, bytes);
  }
  return kWrong;
}
BlasStatus CreateLayout(LtLayout* layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  *layout = new LtLayoutOpaque{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading};
  return leading >= static_cast<int64_t>(rows) && rows > 0 && columns > 0 ? BlasStatus::kSuccess : kWrong;
}
BlasStatus SetLayout(LtLayout layout, LtLayoutAttribute attribute, const void* value, size_t bytes) {
  const bool stride = attribute == LtLayoutAttribute::kBatchStride;
  if (bytes != (stride ? 8u : 4u)) return kWrong;
  std::memcpy(stride ? static_cast<void*>(&layout->batch_stride) : static_cast<void*>(&layout->batch), value, bytes);
  return BlasStatus::kSuccess;
}
BlasStatus CreatePreference(LtPreference* preference) {
  *preference = new LtPreferenceOpaque;
  return BlasStatus::kSuccess;
}
BlasStatus SetPreference(LtPreference preference, LtPreferenceAttribute attribute, const void* value, size_t bytes) {
  if (bytes != (attribute == LtPreferenceAttribute::kWorkspaceBytes ? 8u : 4u)) return kWrong;
  const int place = static_cast<int>(attribute) - static_cast<int>(LtPreferenceAttribute::kAlignmentA);
  if (place >= 0) std::memcpy(&preference->alignments[place], value, bytes);
  return BlasStatus::kSuccess;
}

template <typename P>
BlasStatus Destroy(P* object) {
  delete object;
  return BlasStatus::kSuccess;
}

bool IsNarrow(LtLayout x) { return x->type == kLtFloat8E4M3 || x->type == kLtFloat8E5M2; }

/// Of 8-bit floats only one form is multiplied, and not every pair; by vectors they are scaled on Hopper alone.
bool TakesNarrow(LtDesc desc, LtLayout a, LtLayout b, LtLayout d) {
  const bool pair = IsNarrow(a) && IsNarrow(b) && (a->type == kLtFloat8E4M3 || b->type == kLtFloat8E4M3);
  const bool form = desc->a_op && !desc->b_op && a->batch == 1;
  const bool units = a->rows % 16 == 0 && d->rows % 16 == 0 && a->leading % 16 == 0 && b->leading % 16 == 0;
  const bool result = d->type == CUDA_R_16F || d->type == CUDA_R_16BF ||
                      (d->type == CUDA_R_32F && desc->epilogue == kLtEpilogueDefault);
  const int device = CapabilityOf(0);
  const bool mode = desc->a_mode == desc->b_mode && (desc->a_mode == kLtScaleNumber || device == 90);
  return pair && form && units && result && mode && device >= kWithFloat8 && desc->compute == BlasCompute::k32F;
}

/// The alignments are kept where an algorithm would be, and held against the pointers of each call.
BlasStatus FindAlgorithm(LtHandle, LtDesc desc, LtLayout a, LtLayout b, LtLayout, LtLayout d, LtPreference preference,
                         int, LtHeuristic* best, int* found) {
  if (a->batch != d->batch || b->batch != d->batch) return kWrong;
  if ((IsNarrow(a) || IsNarrow(b)) && !TakesNarrow(desc, a, b, d)) return BlasStatus::kNotSupported;
  *best = {};
  std::memcpy(best->algorithm.data, preference->alignments, sizeof(preference->alignments));
  *found = 1;
  return BlasStatus::kSuccess;
}

/// op(x)[row, column] of matrix i, of the result's dtype or of 8 bits.
template <typename T>
Wide<T> At(const void* data, LtLayout layout, int32_t op, int64_t i, int64_t row, int64_t column) {
  if (op) std::swap(row, column);
  const int64_t place = i * layout->batch_stride + row + column * layout->leading;
  if constexpr (kIsHalf<T> || std::is_same_v<T, float>) {
    if (layout->type == kLtFloat8E4M3) return static_cast<const float8_e4m3fn*>(data)[place];
    if (layout->type == kLtFloat8E5M2) return static_cast<const float8_e5m2*>(data)[place];
  }
  return Wide<T>(static_cast<const T*>(data)[place]);
}

/// The factor of a row or a column of the result.
float ScaleAt(const void* scale, int32_t mode, int64_t place) {
  return scale ? static_cast<const float*>(scale)[mode == kLtScaleVector ? place : 0] : 1;
}

template <typename T>
void Multiply(LtDesc desc, Wide<T> scale, const void* a, LtLayout a_layout, const void* b, LtLayout b_layout,
              Wide<T> keep, T* y, LtLayout d) {
  using Sum = Wide<T>;
  const int64_t k = desc->a_op ? a_layout->rows : a_layout->columns;
  for (int64_t i = 0; i < d->batch; ++i) {
    for (int64_t column = 0; column < d->columns; ++column) {
      for (int64_t row = 0; row < d->rows; ++row) {
        Sum sum = Sum(0);
        for (int64_t p = 0; p < k; ++p) {
          sum += At<T>(a, a_layout, desc->a_op, i, row, p) * At<T>(b, b_layout, desc->b_op, i, p, column);
        }
        T& out = y[i * d->batch_stride + row + column * d->leading];
        sum = scale * sum;
        if constexpr (std::is_same_v<Sum, float>) {
          sum *= ScaleAt(desc->a_scale, desc->a_mode, row) * ScaleAt(desc->b_scale, desc->b_mode, column);
        }
        if (keep != Sum(0)) sum += keep * Sum(out);
        if (desc->epilogue == kLtEpilogueBias) sum += Sum(static_cast<const T*>(desc->bias)[row]);
        out = static_cast<T>(sum);
      }
    }
  }
}

BlasStatus Matmul(LtHandle, LtDesc desc, const void* alpha, const void* a, LtLayout a_layout, const void* b,
                  LtLayout b_layout, const void* beta, const void* c, LtLayout, void* y, LtLayout d,
                  const LtAlgorithm* algorithm, void*, size_t, cudaStream_t) {
  uint32_t alignments[4];
  std::memcpy(alignments, algorithm->data, sizeof(alignments));
  const void* const pointers[4] = {a, b, c, y};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<uintptr_t>(pointers[i]) % alignments[i] != 0) return kWrong;
  }
  for (DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128}) {
    if (CudaTypeOf(dtype) != d->type || (d->type == CUDA_R_32F && dtype != DType::kFloat32)) continue;
    Visit(dtype, Inexact{}, [&]<typename Tag>(Tag) {
      using T = typename Tag::type;
      Wide<T> scale, keep;  // what is of the host may be gone when a graph runs
      std::memcpy(&scale, alpha, sizeof(scale)), std::memcpy(&keep, beta, sizeof(keep));
      simt::Queue([=, desc = *desc, a_layout = *a_layout, b_layout = *b_layout, d = *d]() mutable {
        Multiply<T>(&desc, scale, a, &a_layout, b, &b_layout, keep, static_cast<T*>(y), &d);
      });
    });
  }
  return BlasStatus::kSuccess;
}

}  // namespace

const LtFunctions& Lt() {
  static const LtFunctions functions = {nullptr,        &CreateDesc,       &Destroy<LtDescOpaque>,
                                        &SetDesc,       &CreateLayout,     &Destroy<LtLayoutOpaque>,
                                        &SetLayout,     &CreatePreference, &Destroy<LtPreferenceOpaque>,
                                        &SetPreference, &FindAlgorithm,    &Matmul};
  return functions;
}
void CheckBlas(BlasStatus status, const char* who) {
  if (status != BlasStatus::kSuccess) throw RuntimeError(who).Got("status ", static_cast<int>(status)).Expected("0");
}
LtHandle LtHandleOf(const Context&) { return nullptr; }
void* WorkspaceOf(const Context&) { return nullptr; }

}  // namespace dragon::cuda
