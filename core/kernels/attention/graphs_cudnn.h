// Attention as graphs of cuDNN's operations. It runs a graph by one fused kernel where it knows the whole of it: the
// operations are those, in that order, by which its reference describes attention.
#pragma once

#include <string>

#include "core/device/cuda/cudnn_graph.h"

namespace dragon::cudnn {

/// The tensors and numbers that a run is given. Sums are log(sum(exp(scores))) of a query; meetings, as in
/// tensor_cores.h, are memory for the backward pass alone.
enum AttentionId : int64_t { kQ = 1, kK, kV, kY, kSums, kScale, kNever, kDy, kDq, kDk, kDv, kMeetings, kOne };

/// Attention without a mask: (batch, heads, rows, width), rows without gaps. All of it is the key of a plan: no gaps in
/// here.
struct AttentionProblem {
  int64_t device = 0, dtype = 0;
  int64_t backward = 0, causal = 0;
  Axes q = {}, k = {}, v = {}, y = {};                          ///< their sizes
  Axes q_steps = {}, k_steps = {}, v_steps = {}, y_steps = {};  ///< their strides
  Axes dy_steps = {}, dq_steps = {}, dk_steps = {}, dv_steps = {};

  DataType type() const { return static_cast<DataType>(dtype); }
  std::string key() const { return std::string(reinterpret_cast<const char*>(this), sizeof(*this)); }
};
static_assert(sizeof(AttentionProblem) == (4 + 12 * 4) * sizeof(int64_t));

/// The last two axes exchanged.
inline Axes Turned(const Axes& axes) { return {axes[0], axes[1], axes[3], axes[2]}; }

/// The graphs of one problem.
class AttentionGraph {
 public:
  explicit AttentionGraph(const AttentionProblem& problem)
      : p_(problem),
        scores_{p_.q[0], p_.q[1], p_.q[2], p_.k[2]},
        rows_{p_.q[0], p_.q[1], p_.q[2], 1},
        q_(graph_.Operand(kQ, p_.type(), p_.q, p_.q_steps)),
        turned_k_(graph_.Operand(kK, p_.type(), Turned(p_.k), Turned(p_.k_steps))),
        y_(graph_.Operand(kY, p_.type(), p_.y, p_.y_steps)),
        sums_(graph_.Operand(kSums, kFloat, rows_, RowMajor(rows_))),
        scale_(graph_.Number(kScale)) {}

  Plan Build(Handle handle, int64_t most_workspace) {
    p_.backward ? DescribeBackward() : DescribeForward();
    return graph_.Build(handle, most_workspace);
  }

 private:
  Tensor Scores(Pointwise mode, const Tensor& x, const Tensor& b = {}) {
    return graph_.Compute(mode, graph_.Between(scores_), x, b);
  }
  /// Minus infinity for keys that come after the query.
  Tensor Masked(const Tensor& scores) {
    if (!p_.causal) return scores;
    const Tensor row = graph_.Index(graph_.Between(scores_, kInt32), scores, 2);
    const Tensor column = graph_.Index(graph_.Between(scores_, kInt32), scores, 3);
    const Tensor seen = graph_.Compute(Pointwise::kAtLeast, graph_.Between(scores_, kBool), row, column);
    return graph_.Compute(Pointwise::kSelect, graph_.Between(scores_), scores, graph_.Number(kNever), seen);
  }
  Tensor Scaled() {
    return Scores(Pointwise::kMultiply, graph_.MatMul(graph_.Between(scores_), q_, turned_k_), scale_);
  }

  void DescribeForward() {
    const Tensor v = graph_.Operand(kV, p_.type(), p_.v, p_.v_steps), scores = Masked(Scaled());
    const Tensor most = graph_.Reduce(Reduction::kMax, graph_.Between(rows_), scores);
    const Tensor weights = Scores(Pointwise::kExp, Scores(Pointwise::kSubtract, scores, most));
    const Tensor total = graph_.Reduce(Reduction::kSum, graph_.Between(rows_), weights);
    const Tensor log_total = graph_.Compute(Pointwise::kLog, graph_.Between(rows_), total);
    graph_.Compute(Pointwise::kAdd, sums_, most, log_total);
    const Tensor parts = graph_.Compute(Pointwise::kDivide, graph_.Between(scores_, p_.type()), weights, total);
    graph_.MatMul(y_, parts, v);
  }

  /// Where heads share keys, their gradients are added up at last.
  void AddHeads(const Tensor& dx, const Tensor& weights, const Tensor& x) {
    const Tensor turned = graph_.Between(Turned(scores_), p_.type());
    graph_.Transpose(turned, weights);
    if (dx.sizes[1] == scores_[1]) {
      graph_.MatMul(dx, turned, x);
      return;
    }
    const Axes all_heads = {dx.sizes[0], scores_[1], dx.sizes[2], dx.sizes[3]};
    graph_.Reduce(Reduction::kSum, dx, graph_.MatMul(graph_.Between(all_heads, p_.type()), turned, x));
  }

  /// dq is written by one product over all keys, and not added up by whoever comes first: the same in every run.
  void DescribeBackward() {
    const Tensor dy = graph_.Operand(kDy, p_.type(), p_.y, p_.dy_steps);
    const Tensor turned_v = graph_.Operand(kV, p_.type(), Turned(p_.v), Turned(p_.v_steps));
    const Tensor products = graph_.Compute(Pointwise::kMultiply, graph_.Between(p_.y), dy, y_);
    const Tensor meetings =
        graph_.Compute(Pointwise::kMultiply, graph_.Operand(kMeetings, kFloat, rows_, RowMajor(rows_)),
                       graph_.Reduce(Reduction::kSum, graph_.Between(rows_), products), graph_.Number(kOne));
    const Tensor weights = Scores(Pointwise::kExp, Masked(Scores(Pointwise::kSubtract, Scaled(), sums_)));
    AddHeads(graph_.Operand(kDv, p_.type(), p_.v, p_.dv_steps), weights, dy);
    const Tensor dweights = graph_.MatMul(graph_.Between(scores_), dy, turned_v);
    const Tensor dscores =
        Scores(Pointwise::kMultiply,
               Scores(Pointwise::kMultiply, Scores(Pointwise::kSubtract, dweights, meetings), weights), scale_);
    AddHeads(graph_.Operand(kDk, p_.type(), p_.k, p_.dk_steps), dscores, q_);
    const Tensor k = graph_.Transpose(graph_.Between(p_.k, p_.type()), turned_k_);
    graph_.MatMul(graph_.Operand(kDq, p_.type(), p_.q, p_.dq_steps), dscores, k);
  }

  const AttentionProblem& p_;
  const Axes scores_, rows_;
  Graph graph_;
  const Tensor q_, turned_k_, y_, sums_, scale_;
};

}  // namespace dragon::cudnn
