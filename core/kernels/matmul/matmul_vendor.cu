// Matrix products by cuBLASLt. It counts columns where we count rows: y = a b, read by columns, is y^T = b^T a^T, so
// our b is its first operand. Operands whose strides it cannot take are copied; a result whose strides it cannot take
// is made elsewhere and copied.
#include <algorithm>
#include <deque>
#include <vector>

#include "core/kernels/array.h"
#include "core/kernels/each.h"
#include "core/kernels/matmul/batch_cuda.h"
#include "core/kernels/matmul/lt_plan.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// More calls than this for one product, and operands are copied so that their matrices follow each other.
constexpr int64_t kMostCalls = 16;
/// The most matrices of one call.
constexpr int64_t kMostMatrices = 65535;
constexpr int64_t kMostAlignment = 256;

/// Memory and views that live until a product has been given to the stream.
struct Kept {
  std::deque<Scratch> memory;
};

/// A matrix by columns: where neighbours of a column lie side by side, and the next column `leading` further on.
struct Lead {
  int64_t leading = 0;
  bool transposed = false, readable = false;
};

/// How the transpose of a (rows, columns) matrix looks by columns.
Lead LeadOf(const Steps& steps, int64_t rows, int64_t columns) {
  if (steps.col == 1 && (steps.row >= columns || rows == 1)) return {std::max(steps.row, columns), false, true};
  if (steps.row == 1 && (steps.col >= rows || columns == 1)) return {std::max(steps.col, rows), true, true};
  return {};
}

/// An operand's or the result's strides over the batch.
int64_t* StridesOf(BatchAxes& batch, char which) { return which == 'y' ? batch.y : which == 'a' ? batch.a : batch.b; }

OwnedView ViewOf(const Product& p, char which, void* data, const Steps& steps, const int64_t* strides) {
  Dims shape(p.batch.size, p.batch.count), all(strides, p.batch.count);
  shape.push_back(which == 'b' ? p.k : p.m), shape.push_back(which == 'a' ? p.k : p.n);
  all.push_back(steps.row), all.push_back(steps.col);
  return OwnedView(data, p.dtype, std::move(shape), std::move(all));
}

/// Let an operand be a copy of itself, matrix after matrix; axes along which it is repeated stay so unless `expand`.
void CopyOperand(const Context& ctx, Product* p, char which, bool expand, Kept* kept) {
  void*& data = which == 'a' ? p->a : p->b;
  Steps& steps = which == 'a' ? p->a_steps : p->b_steps;
  const int64_t rows = which == 'a' ? p->m : p->k, columns = which == 'a' ? p->k : p->n;
  int64_t* strides = StridesOf(p->batch, which);
  int64_t made[kBatchDims], size = rows * columns;
  Product from = *p;
  for (int axis = p->batch.count - 1; axis >= 0; --axis) {
    const bool repeated = strides[axis] == 0 && !expand;
    made[axis] = repeated ? 0 : size;
    if (repeated) {
      from.batch.size[axis] = 1;
    } else {
      size *= p->batch.size[axis];
    }
  }
  kept->memory.push_back(Scratch(ctx.device, static_cast<size_t>(size * ItemSize(p->dtype))));
  void* const to = kept->memory.back().data();
  const Steps dense{columns, 1};
  Context mine = ctx;
  kernels::Copy(mine, p->dtype, ViewOf(from, which, to, dense, made).view,
                ViewOf(from, which, data, steps, strides).view);
  data = to, steps = dense;
  std::copy(made, made + p->batch.count, strides);
}

/// Whether an operand's matrices follow each other at one stride, or are all the same.
bool MergesAlone(const BatchAxes& batch, const int64_t* strides) {
  for (int axis = 0; axis + 1 < batch.count; ++axis) {
    if (strides[axis] != batch.size[axis + 1] * strides[axis + 1]) return false;
  }
  return true;
}

BatchAxes Merged(const BatchAxes& batch) {
  BatchAxes merged;
  for (int i = 0; i < batch.count; ++i) merged.Add(batch.size[i], batch.y[i], batch.a[i], batch.b[i]);
  return merged;
}

/// The axis that one call walks: the longest.
int LongestAxis(const BatchAxes& batch) {
  return static_cast<int>(std::max_element(batch.size, batch.size + batch.count) - batch.size);
}

/// Make both operands ones that the library reads, in few calls.
void Prepare(const Context& ctx, Product* p, Kept* kept) {
  if (!LeadOf(p->a_steps, p->m, p->k).readable) CopyOperand(ctx, p, 'a', false, kept);
  if (!LeadOf(p->b_steps, p->k, p->n).readable) CopyOperand(ctx, p, 'b', false, kept);
  p->batch = Merged(p->batch);
  if (p->batch.count < 2 || p->batch.numel() / p->batch.size[LongestAxis(p->batch)] <= kMostCalls) return;
  if (!MergesAlone(p->batch, p->batch.a)) CopyOperand(ctx, p, 'a', true, kept);
  if (!MergesAlone(p->batch, p->batch.b)) CopyOperand(ctx, p, 'b', true, kept);
  p->batch = Merged(p->batch);
}

/// The largest power of two that divides all of these.
class Alignment {
 public:
  Alignment& Add(const void* pointer) { return Add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer))); }
  Alignment& Add(int64_t bytes) { return bits_ |= static_cast<uint64_t>(bytes), *this; }
  int64_t bytes() const { return static_cast<int64_t>(bits_ & (~bits_ + 1)); }

 private:
  uint64_t bits_ = kMostAlignment;
};

/// One call: matrices of the walked axis from `first` on, at the places of the others.
struct Call {
  LtPlan* plan;
  int64_t y, a, b;  // offsets in elements
};

/// Factors in the type in which the library scales.
struct Factor {
  alignas(16) char bytes[16] = {};

  Factor(DType dtype, double re, double im) {
    if (RealDType(dtype) == DType::kFloat64) {
      Put<double>(re, im);
    } else {
      Put<float>(static_cast<float>(re), static_cast<float>(im));
    }
  }
  template <typename T>
  void Put(T re, T im) {
    std::memcpy(bytes, &re, sizeof(T));
    std::memcpy(bytes + sizeof(T), &im, sizeof(T));
  }
};

/// All of the calls that a product takes; none if the library has no way.
std::vector<Call> Plan(const Context& ctx, const Product& p, const void* bias) {
  const int64_t item = ItemSize(p.dtype);
  const Lead a = LeadOf(p.a_steps, p.m, p.k), b = LeadOf(p.b_steps, p.k, p.n), y = LeadOf(p.y_steps, p.m, p.n);
  const BatchAxes& batch = p.batch;
  const int walked = batch.count ? LongestAxis(batch) : -1;
  const int64_t matrices = walked >= 0 ? batch.size[walked] : 1;
  Alignment of_a, of_b, of_y;
  of_a.Add(p.a), of_b.Add(p.b), of_y.Add(p.y);
  BatchAxes others;
  for (int i = 0; i < batch.count; ++i) {
    if (i == walked && matrices <= kMostMatrices) continue;
    of_a.Add(batch.a[i] * item), of_b.Add(batch.b[i] * item), of_y.Add(batch.y[i] * item);
    if (i != walked) others.Add(batch.size[i], batch.y[i], batch.a[i], batch.b[i]);
  }
  LtProblem problem{};
  problem.dtype = problem.a_dtype = problem.b_dtype = static_cast<int64_t>(p.dtype);
  problem.device = ctx.device.index, problem.tf32 = AllowsTf32();
  problem.m = p.n, problem.n = p.m, problem.k = p.k;
  problem.a_leading = b.leading, problem.b_leading = a.leading, problem.d_leading = y.leading;
  problem.a_transposed = b.transposed, problem.b_transposed = a.transposed;
  problem.a_alignment = of_b.bytes(), problem.b_alignment = of_a.bytes(), problem.d_alignment = of_y.bytes();
  problem.bias = bias != nullptr, problem.bias_alignment = bias ? Alignment().Add(bias).bytes() : 0;
  std::vector<Call> calls;
  for (int64_t first = 0; first < matrices; first += kMostMatrices) {
    problem.batch = std::min(kMostMatrices, matrices - first);
    if (walked >= 0) {
      problem.a_stride = batch.b[walked], problem.b_stride = batch.a[walked], problem.d_stride = batch.y[walked];
    }
    LtPlan& plan = LtPlanOf(ctx, problem, {bias});
    if (!plan.usable) return {};
    for (int64_t i = 0; i < others.numel(); ++i) {
      Call call{&plan, 0, 0, 0};
      others.Offsets(i, &call.y, &call.a, &call.b);
      if (walked >= 0) {
        call.y += first * batch.y[walked], call.a += first * batch.a[walked], call.b += first * batch.b[walked];
      }
      calls.push_back(call);
    }
  }
  return calls;
}

void Run(const Context& ctx, const Product& p, const std::vector<Call>& calls, const void* bias,
         const MatmulPost& post) {
  const Factor alpha(p.dtype, post.alpha, post.alpha_imag), beta(p.dtype, post.beta, post.beta_imag);
  const int64_t item = ItemSize(p.dtype);
  void* const workspace = cuda::WorkspaceOf(ctx);
  for (const Call& call : calls) {
    LtPlan& plan = *call.plan;
    plan.Set(LtBeside{bias});
    const char *a = static_cast<const char*>(p.a) + call.a * item, *b = static_cast<const char*>(p.b) + call.b * item;
    char* const y = static_cast<char*>(p.y) + call.y * item;
    cuda::CheckBlas(cuda::Lt().matmul(cuda::LtHandleOf(ctx), plan.desc, alpha.bytes, b, plan.a, a, plan.b, beta.bytes,
                                      y, plan.d, y, plan.d, &plan.algorithm, workspace, plan.workspace_bytes,
                                      static_cast<cudaStream_t>(ctx.stream)),
                    "matmul");
  }
}

struct ActivateInPlace {
  Activation activation;
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return Activate(activation, x);
  }
};

/// The bias as a vector of n without gaps.
const void* DenseBias(const Context& ctx, const Product& p, const View& bias, Kept* kept) {
  const int64_t step = bias.numel > 1 ? bias.strides[bias.ndim - 1] : 0;
  if (step == 1 || p.n == 1) return bias.data;
  kept->memory.push_back(Scratch(ctx.device, static_cast<size_t>(p.n * ItemSize(p.dtype))));
  const OwnedView to(kept->memory.back().data(), p.dtype, {p.n}, {1}), from(bias.data, p.dtype, {p.n}, {step});
  Context mine = ctx;
  kernels::Copy(mine, p.dtype, to.view, from.view);
  return to.view.data;
}

/// A product whose result the library writes where it is to be.
bool RunReady(const Context& ctx, const Product& p, const View& bias, const MatmulPost& post, Kept* kept) {
  // Sums of doubles and of complex numbers have no bias of the library's: the result begins as the bias.
  const bool begins = bias && (p.dtype == DType::kFloat64 || IsComplex(p.dtype));
  if (begins && (post.beta != 0 || post.beta_imag != 0)) return false;
  const void* const vector = bias && !begins ? DenseBias(ctx, p, bias, kept) : nullptr;
  const std::vector<Call> calls = Plan(ctx, p, vector);
  if (calls.empty()) return false;
  MatmulPost rest = post;
  Context mine = ctx;
  const OwnedView y = ViewOf(p, 'y', p.y, p.y_steps, p.batch.y);
  if (begins) {
    int64_t none[kBatchDims] = {};
    const Steps along{0, bias.numel > 1 ? bias.strides[bias.ndim - 1] : 0};
    kernels::Copy(mine, p.dtype, y.view, ViewOf(p, 'y', bias.data, along, none).view);
    rest.beta = 1;
  }
  Run(ctx, p, calls, vector, rest);
  if (post.activation != Activation::kNone && !IsComplex(p.dtype)) {
    const ActivateInPlace f{post.activation};
    if (p.dtype == DType::kFloat64) {
      Each<double(double)>(ctx, f, y.view, y.view);
    } else {
      Each<float(float)>(ctx, f, y.view, y.view);
    }
  }
  return true;
}

/// The same product of the transposes.
Product Turned(const Product& p) {
  const auto turn = [](Steps steps) { return Steps{steps.col, steps.row}; };
  Product turned = p;
  turned.m = p.n, turned.n = p.m;
  turned.a = p.b, turned.b = p.a;
  turned.y_steps = turn(p.y_steps), turned.a_steps = turn(p.b_steps), turned.b_steps = turn(p.a_steps);
  std::copy(p.batch.b, p.batch.b + p.batch.count, turned.batch.a);
  std::copy(p.batch.a, p.batch.a + p.batch.count, turned.batch.b);
  return turned;
}

}  // namespace

bool MatmulVendor(const Context& ctx, const Product& product, const View& bias, const MatmulPost& post) {
  Kept kept;
  Product p = product;
  Lead y = LeadOf(p.y_steps, p.m, p.n);
  if (y.readable && y.transposed && !bias) {
    p = Turned(p);
    y = LeadOf(p.y_steps, p.m, p.n);
  }
  if (y.readable && !y.transposed) {
    Prepare(ctx, &p, &kept);
    return RunReady(ctx, p, bias, post, &kept);
  }
  Product elsewhere = p;
  int64_t size = p.m * p.n;
  for (int axis = p.batch.count - 1; axis >= 0; --axis) {
    elsewhere.batch.y[axis] = size;
    size *= p.batch.size[axis];
  }
  const Scratch memory(ctx.device, static_cast<size_t>(size * ItemSize(p.dtype)));
  elsewhere.y = memory.data(), elsewhere.y_steps = {p.n, 1};
  Context mine = ctx;
  const OwnedView to = ViewOf(p, 'y', p.y, p.y_steps, p.batch.y);
  const OwnedView from = ViewOf(elsewhere, 'y', elsewhere.y, elsewhere.y_steps, elsewhere.batch.y);
  if (post.beta != 0 || post.beta_imag != 0) kernels::Copy(mine, p.dtype, from.view, to.view);
  Prepare(ctx, &elsewhere, &kept);
  if (!RunReady(ctx, elsewhere, bias, post, &kept)) return false;
  kernels::Copy(mine, p.dtype, to.view, from.view);
  return true;
}

}  // namespace dragon::DRAGON_DEVICE
