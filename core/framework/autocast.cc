// Which operators gain from 16 bits and which need 32, and the casts between, recorded like any other call.
#include "core/framework/autocast.h"

#include <unordered_map>

#include "core/framework/op.h"

namespace dragon {

namespace {

/// kPlain: its parts are not cast either, though they would be by themselves.
enum class Policy : uint8_t { kLower, kFloat32, kPlain };

/// PyTorch's choices on the CPU.
constexpr const char* kLower[] = {"conv",
                                  "conv1d",
                                  "conv2d",
                                  "conv3d",
                                  "conv_transpose",
                                  "conv_transpose1d",
                                  "conv_transpose2d",
                                  "conv_transpose3d",
                                  "matmul",
                                  "mm",
                                  "bmm",
                                  "addmm",
                                  "addbmm",
                                  "baddbmm",
                                  "linear",
                                  "prelu",
                                  "linalg_vecdot",
                                  "scaled_dot_product_attention",
                                  "lstm",
                                  "lstm_packed",
                                  "rnn_tanh",
                                  "rnn_tanh_packed",
                                  "rnn_relu",
                                  "rnn_relu_packed"};

constexpr const char* kFloat32[] = {"avg_pool3d",
                                    "max_pool3d",
                                    "max_pool3d_with_indices",
                                    "adaptive_avg_pool3d",
                                    "adaptive_max_pool3d",
                                    "adaptive_max_pool3d_with_indices",
                                    "max_unpool2d",
                                    "max_unpool3d",
                                    "fractional_max_pool2d",
                                    "fractional_max_pool2d_with_indices",
                                    "fractional_max_pool3d",
                                    "fractional_max_pool3d_with_indices",
                                    "binary_cross_entropy",
                                    "binary_cross_entropy_with_logits",
                                    "cosine_embedding_loss",
                                    "cross_entropy",
                                    "ctc_loss",
                                    "hinge_embedding_loss",
                                    "huber_loss",
                                    "kl_div",
                                    "l1_loss",
                                    "margin_ranking_loss",
                                    "mse_loss",
                                    "multi_margin_loss",
                                    "multilabel_margin_loss",
                                    "nll_loss",
                                    "poisson_nll_loss",
                                    "smooth_l1_loss",
                                    "soft_margin_loss",
                                    "triplet_margin_loss",
                                    "grid_sample",
                                    "polar",
                                    "prod",
                                    "quantile",
                                    "nanquantile",
                                    "stft",
                                    "cdist",
                                    "trace",
                                    "view_as_complex",
                                    "cholesky",
                                    "cholesky_inverse",
                                    "cholesky_solve",
                                    "inverse",
                                    "lu_solve",
                                    "orgqr",
                                    "ormqr",
                                    "pinverse",
                                    "linalg_cholesky",
                                    "linalg_cholesky_ex",
                                    "linalg_cond",
                                    "linalg_eig",
                                    "linalg_eigh",
                                    "linalg_eigvals",
                                    "linalg_eigvalsh",
                                    "linalg_householder_product",
                                    "linalg_inv",
                                    "linalg_inv_ex",
                                    "linalg_lstsq",
                                    "linalg_matrix_rank",
                                    "linalg_qr",
                                    "linalg_solve",
                                    "linalg_svd",
                                    "linalg_svdvals",
                                    "linalg_tensorinv",
                                    "linalg_tensorsolve",
                                    "fft_fft",
                                    "fft_ifft",
                                    "fft_fft2",
                                    "fft_ifft2",
                                    "fft_fftn",
                                    "fft_ifftn",
                                    "fft_rfft",
                                    "fft_irfft",
                                    "fft_rfft2",
                                    "fft_irfft2",
                                    "fft_rfftn",
                                    "fft_irfftn",
                                    "fft_hfft",
                                    "fft_ihfft"};

constexpr const char* kPlain[] = {"dot",         "vdot",          "mv",       "addmv",
                                  "addr",        "outer",         "bilinear", "kron",
                                  "matrix_exp",  "gru",           "gru_cell", "gru_packed",
                                  "lstm_cell",   "rnn_tanh_cell", "det",      "linalg_matrix_exp",
                                  "linalg_pinv", "rnn_relu_cell", "logdet",   "linalg_det",
                                  "slogdet",     "linalg_slogdet"};

const Policy* PolicyOf(const Operator* op) {
  static const auto* policies = [] {
    auto* table = new std::unordered_map<const Operator*, Policy>;
    const auto enter = [&](std::span<const char* const> names, Policy policy) {
      for (const char* name : names) {
        if (const Operator* found = FindOp(name)) table->emplace(found, policy);
      }
    };
    enter(kLower, Policy::kLower);
    enter(kFloat32, Policy::kFloat32);
    enter(kPlain, Policy::kPlain);
    return table;
  }();
  const auto found = policies->find(op);
  return found == policies->end() ? nullptr : &found->second;
}

class Autocast final : public Interpreter {
 public:
  ~Autocast() override {
    if (dtype_) Leave();
  }
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override;
  std::optional<DType> dtype() const { return dtype_; }
  void Set(std::optional<DType> dtype);
  void Clear() { kept_.clear(); }
  bool keeping = true;

 private:
  struct Kept {
    Tensor weight, cast;
    uint32_t version;
  };
  Tensor Cast(const Tensor& x, DType dtype);

  std::optional<DType> dtype_;
  bool inside_ = false;  ///< an operator whose inputs were cast is being computed
  std::unordered_map<TensorImpl*, Kept> kept_;
};

void Autocast::Set(std::optional<DType> dtype) {
  if (dtype && *dtype != DType::kBFloat16 && *dtype != DType::kFloat16) {
    throw ValueError("autocast").Got(*dtype).Expected("bfloat16 or float16");
  }
  if (dtype == dtype_) return;
  Clear();
  if (dtype && !dtype_) Enter();
  if (!dtype && dtype_) Leave();
  dtype_ = dtype;
}

Tensor Autocast::Cast(const Tensor& x, DType dtype) {
  if (!x.defined() || !x.is_floating() || x.dtype() == dtype || x.dtype() == DType::kFloat64) return x;
  const bool keep =
      keeping && dtype == *dtype_ && Door().grad_enabled && !x.impl()->base && x.requires_grad() && x.is_leaf();
  if (!keep) return Op<"cast">(x, dtype);
  const uint32_t version = x.impl()->version_value();
  const auto [place, fresh] = kept_.try_emplace(x.impl());
  if (fresh || place->second.version != version) place->second = {x, Op<"cast">(x, dtype), version};
  return place->second.cast;
}

Tensors Autocast::Handle(const Call& call, std::span<const Tensor> outs) {
  const Policy* policy = inside_ || !outs.empty() ? nullptr : PolicyOf(call.op);
  if (!policy) return Through(call, outs);
  struct Inside {
    explicit Inside(bool* flag) : flag(flag) { *flag = true; }
    ~Inside() { *flag = false; }
    bool* flag;
  } inside(&inside_);
  if (*policy == Policy::kPlain) return Through(call, outs);
  InlineVector<Tensor, 4> inputs(call.inputs);
  for (Tensor& x : inputs) x = Cast(x, *policy == Policy::kLower ? *dtype_ : DType::kFloat32);
  return Through(Call{call.op, inputs, call.attrs, call.list_sizes}, outs);
}

Autocast& Mine() {
  thread_local Autocast autocast;
  return autocast;
}

}  // namespace

std::optional<DType> AutocastDType() { return Mine().dtype(); }

std::optional<DType> SetAutocast(std::optional<DType> dtype) {
  const auto previous = Mine().dtype();
  Mine().Set(dtype);
  return previous;
}

bool SetAutocastCache(bool enabled) { return std::exchange(Mine().keeping, enabled); }

void ClearAutocastCache() { Mine().Clear(); }

}  // namespace dragon
