// Connectionist temporal classification.
#include "core/kernels/loss.h"
#include "core/ops/loss/loss.h"

namespace dragon {
namespace {

Tensor Lengths(const CallReader& c, const Tensor& lengths, int64_t batch) {
  if (!IsIntegral(lengths.dtype())) throw TypeError(c.name()).Got("lengths of ", lengths.dtype()).Expected("integers");
  if (lengths.numel() != batch) {
    throw ValueError(c.name()).Got(lengths.numel(), " lengths").Expected("one for each of ", batch, " samples");
  }
  return Op<"cast">(Op<"reshape">(lengths, Dims{batch}), DType::kInt64);
}

[[maybe_unused]] const auto& ctc_loss =
    DefineOp(
        "ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, str "
        "reduction=\"mean\", bool zero_infinity=False) -> Tensor")
        .Doc(
            "The negative log-likelihood of label sequences under (time, batch, classes) log-probabilities. Targets "
            "are "
            "(batch, longest) or all samples' labels in a row.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const bool single = c.x("log_probs").ndim() == 2;
          const Tensor log_probs = single ? Op<"unsqueeze">(c.x("log_probs"), 1) : c.x("log_probs");
          if (log_probs.ndim() != 3) {
            throw ValueError(c.name())
                .Got("log_probs of shape ", c.x("log_probs").shape())
                .Expected("(time, batch, classes)");
          }
          CheckReduction(c.name(), c.String("reduction"));
          const int64_t batch = log_probs.size(1);
          if (c.Int("blank") < 0 || c.Int("blank") >= log_probs.size(2)) {
            throw ValueError(c.name()).Got("blank ", c.Int("blank")).Expected("0 to ", log_probs.size(2) - 1);
          }
          const Tensor& given = c.x("targets");
          if (!IsIntegral(given.dtype())) {
            throw TypeError(c.name()).Got("targets of ", given.dtype()).Expected("an integer dtype");
          }
          if (given.ndim() != 1 && (given.ndim() != 2 || given.size(0) != batch)) {
            throw ValueError(c.name())
                .Got("targets of shape ", given.shape())
                .Expected("(", batch, ", longest), or all labels in a row");
          }
          const Tensor targets = Op<"cast">(given, DType::kInt64);
          const Tensor input_lengths = Lengths(c, c.x("input_lengths"), batch),
                       target_lengths = Lengths(c, c.x("target_lengths"), batch);
          const Tensor terms = Op<"ctc_loss_terms">(log_probs, targets, input_lengths, target_lengths, c.Int("blank"),
                                                    c.Bool("zero_infinity"));
          if (c.String("reduction") == "sum") return {Op<"sum">(terms)};
          if (c.String("reduction") == "none") return {single ? Op<"squeeze">(terms, Dims{0}) : terms};
          const Tensor counts = Op<"clamp">(Op<"cast">(target_lengths, terms.dtype()), Number(1.0));
          return {Op<"mean">(terms / counts)};
        });

/// ctc_loss prepares probabilities, targets and lengths.
void CheckAlignment(const CallReader& c) {
  const int64_t blank = c.Int("blank");
  RequireRank(c, "log_probs", 3);
  const Tensor &log_probs = c.x("log_probs"), &targets = c.x("targets");
  if (log_probs.dtype() != DType::kFloat32 && log_probs.dtype() != DType::kFloat64) {
    throw TypeError("ctc_loss").Got("log_probs of ", log_probs.dtype()).Expected("float32 or float64");
  }
  const int64_t batch = log_probs.size(1);
  if (targets.ndim() == 0 || targets.ndim() > 2) {
    throw ValueError(c.name()).Got("targets of shape ", targets.shape()).Expected("one or two axes");
  }
  RequireTensor(c, "targets", targets.ndim() == 2 ? Dims{batch, targets.size(1)} : targets.shape(), DType::kInt64);
  RequireTensor(c, "input_lengths", Dims{batch}, DType::kInt64);
  RequireTensor(c, "target_lengths", Dims{batch}, DType::kInt64);
  if (blank < 0 || blank >= log_probs.size(2)) {
    throw ValueError(c.name()).Got("blank ", blank).Expected("0 to ", log_probs.size(2) - 1);
  }
}

/// Where each sample's labels begin.
Tensor Starts(const Tensor& targets, const Tensor& target_lengths) {
  if (targets.ndim() == 1) return Op<"cumsum">(target_lengths, 0) - target_lengths;
  return Op<"arange">(target_lengths.numel(), None, 1, DType::kInt64, targets.device()) * Number(targets.size(1));
}

[[maybe_unused]] const auto& ctc_loss_terms =
    DefineOp(
        "ctc_loss_terms(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank, bool "
        "zero_infinity) -> (Tensor out, Tensor likelihood, Tensor log_alpha)")
        .Doc("ctc_loss of each sample; with zero_infinity, 0 for samples that their input is too short for.")
        .Infers([](Infer& i) {
          const Dims& shape = i.x("log_probs").shape();
          const DType dtype = i.x("log_probs").dtype();
          CheckAlignment(i);
          const int64_t longest = i.x("targets").size(-1);
          i.y(0, Dims{shape[1]}, dtype);
          i.y(1, Dims{shape[1]}, dtype);
          i.y(2, Dims{shape[1], shape[0], 2 * longest + 1}, dtype);
        })
        .Runs([](Run& r) {
          const Tensor targets = r.Contiguous("targets");
          const Tensor lengths = r.Contiguous("target_lengths"), starts = Starts(targets, lengths);
          kernels::CtcLoss(r.ctx(), r.x("log_probs").dtype(), r.out(1), r.out(2), r.rows("log_probs"), targets.view(),
                           starts.view(), r.rows("input_lengths"), lengths.view(), r.Int("blank"));
          const Tensor& loss = r.y(1);
          OpInto<"copy">(r.y(0), r.Bool("zero_infinity") ? Op<"where">(Op<"isposinf">(loss), Number(0.0), loss) : loss);
        })
        .Gradient("log_probs, targets, input_lengths, target_lengths, likelihood, log_alpha", [](Grad& g) {
          if (g.dy(1).defined() || g.dy(2).defined()) {
            throw NotImplementedError("ctc_loss").Got("a gradient for its variables").Expected("one for the loss");
          }
          if (!g.dy().defined()) return;
          g.dx("log_probs",
               Op<"ctc_loss_backward">(g.dy(), g.y(1), g.y(2), g.x("log_probs"), g.x("targets"), g.x("input_lengths"),
                                       g.x("target_lengths"), g.Int("blank"), g.Bool("zero_infinity")));
        });

[[maybe_unused]] const auto& ctc_loss_backward =
    DefineOp(
        "ctc_loss_backward(Tensor dy, Tensor likelihood, Tensor log_alpha, Tensor log_probs, Tensor targets, Tensor "
        "input_lengths, Tensor target_lengths, int blank, bool zero_infinity) -> Tensor")
        .Doc("The gradient of connectionist temporal classification by the log probabilities.")
        .Infers([](Infer& i) {
          CheckAlignment(i);
          const Tensor& x = i.x("log_probs");
          RequireTensor(i, "dy", Dims{x.size(1)}, x.dtype());
          RequireTensor(i, "likelihood", Dims{x.size(1)}, x.dtype());
          RequireTensor(i, "log_alpha", Dims{x.size(1), x.size(0), 2 * i.x("targets").size(-1) + 1}, x.dtype());
          i.y(0, x.shape(), x.dtype());
        })
        .Runs([](Run& r) {
          const Tensor targets = r.Contiguous("targets"), lengths = r.Contiguous("target_lengths");
          const Tensor starts = Starts(targets, lengths);
          kernels::CtcLossBackward(r.ctx(), r.x("log_probs").dtype(), r.out(), r.rows("dy"), r.rows("likelihood"),
                                   r.rows("log_alpha"), r.rows("log_probs"), targets.view(), starts.view(),
                                   r.rows("input_lengths"), lengths.view(), r.Int("blank"), r.Bool("zero_infinity"));
        });

}  // namespace
}  // namespace dragon
