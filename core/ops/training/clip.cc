// Norms and scaling of many tensors at once, and what is made of them: clipping gradients by their common norm.
#include <cmath>

#include "core/ops/training/update.h"

namespace dragon {
namespace {

/// Tensors as kernels take them: without gaps, one dtype, one device. Copies of others are written back by WriteBack.
struct Together {
  explicit Together(const CallReader& c) {
    for (const Tensor& x : c.list(0)) {
      const bool dense = IsDense(x.shape(), x.strides());
      tensors.push_back(dense ? x : Op<"to_row_major">(x));
      if (!dense) copies.emplace_back(x.Detach(), tensors.back());
      sizes.push_back(x.numel());
      addresses.push_back(tensors.back().mutable_data());
    }
    set.count = static_cast<int64_t>(sizes.size());
    set.sizes = sizes.data();
    set.params = addresses.data();
  }
  void WriteBack() const {
    for (const auto& [to, from] : copies) OpInto<"copy">(to, from);
  }

  std::vector<Tensor> tensors;
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::vector<int64_t> sizes;
  std::vector<void*> addresses;
  kernels::UpdateSet set;
};

DType CommonDType(const CallReader& c) {
  const auto tensors = c.list(0);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DType dtype = tensors[i].dtype();
    if (!IsFloating(dtype)) throw TypeError(c.name()).Got("tensors[", i, "] of ", dtype).Expected("a floating dtype");
    if (dtype != tensors[0].dtype()) {
      throw TypeError(c.name()).Got("tensors of ", tensors[0].dtype(), " and ", dtype).Expected("one dtype");
    }
  }
  return tensors.empty() ? DefaultDType() : tensors[0].dtype();
}

void CheckOrder(const CallReader& c, double p) {
  if (!(p >= 0)) throw ValueError(c.name()).Got("p = ", p).Expected("at least 0; inf for the largest magnitude");
}

[[maybe_unused]] const auto& foreach_norm =
    DefineOp("foreach_norm(Tensor[] tensors, float p=2.0) -> Tensor")
        .Doc("The p-norm of every tensor, in one vector.")
        .Infers([](Infer& i) {
          CheckOrder(i, i.Real("p"));
          i.y(0, {static_cast<int64_t>(i.list("tensors").size())}, CommonDType(i));
        })
        .Runs([](Run& r) {
          if (r.list("tensors").empty()) return;
          const Together all(r);
          kernels::NormEach(r.ctx(), r.y().dtype(), r.out(), all.set, r.Real("p"));
        })
        .NotDifferentiable();

[[maybe_unused]] const auto& foreach_scale =
    DefineOp("foreach_scale(Tensor![] tensors, float factor) -> ()")
        .Doc("Multiply every tensor by a number, in place.")
        .Infers([](Infer& i) { CommonDType(i); })
        .Runs([](Run& r) {
          if (r.list("tensors").empty()) return;
          const Together all(r);
          kernels::ScaleEach(r.ctx(), r.list("tensors")[0].dtype(), all.set, r.Real("factor"));
          all.WriteBack();
        })
        .NotDifferentiable();

/// The norm of norms, in the wide type of the gradients.
double NormOf(const Tensor& norms, double p) {
  double total = 0;
  for (int64_t i = 0; i < norms.numel(); ++i) {
    const double norm = norms.dtype() == DType::kFloat64 ? static_cast<const double*>(norms.data())[i]
                                                         : static_cast<const float*>(norms.data())[i];
    if (std::isinf(p)) {
      total = norm > total || norm != norm ? norm : total;
      if (total != total) break;
    } else {
      total += p == 0 ? norm != 0 : std::pow(norm, p);
    }
  }
  return std::isinf(p) || p == 0 ? total : std::pow(total, 1 / p);
}

[[maybe_unused]] const auto& clip_grad_norm =
    DefineOp("clip_grad_norm(Tensor![] grads, float max_norm, float p=2.0, bool error_if_nonfinite=False) -> Tensor")
        .Doc("Scale gradients in place so that their common p-norm is at most max_norm; returns the norm they had.")
        .Infers([](Infer& i) {
          CheckOrder(i, i.Real("p"));
          i.y(0, {}, CommonDType(i));
        })
        .Runs([](Run& r) {
          const double max_norm = r.Real("max_norm"), p = r.Real("p");
          double total = 0;
          if (!r.list("grads").empty()) {
            const DType dtype = r.y().dtype();
            const Together all(r);
            const Tensor made = Tensor::Empty({all.set.count}, dtype, all.tensors[0].device());
            kernels::NormEach(r.ctx(), dtype, made.mutable_view(), all.set, p);
            const Tensor norms = Op<"to_device">(made, Device{});
            const DType wide = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
            total = NormOf(dtype == wide ? norms : Op<"cast">(norms, wide), p);
            if (r.Bool("error_if_nonfinite") && !std::isfinite(total)) {
              throw RuntimeError(r.name()).Got("gradients whose norm is ", total).Expected("a finite norm");
            }
            const double scale = max_norm / (total + 1e-6);
            // A NaN must reach the gradients; a scale of 1 and more changes nothing.
            if (!(scale >= 1)) kernels::ScaleEach(r.ctx(), dtype, all.set, scale);
            all.WriteBack();
          }
          OpInto<"copy">(r.y(), Op<"to_device">(Tensor::Scalar(total, DType::kFloat64), r.y().device()));
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
