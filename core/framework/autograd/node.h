// The backward graph: nodes made by recorded operators, edges to the nodes that made their inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/framework/operator.h"

namespace dragon {

class Node;

/// "The gradient of result `index` of `node`." An empty edge: no gradient wanted.
struct Edge {
  Ref<Node> node;
  int32_t index = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
};

/// Sees (and may replace) the gradient of one tensor. An undefined result means: unchanged.
class DRAGON_API TensorHook : public RefCounted<TensorHook> {
 public:
  virtual ~TensorHook() = default;
  virtual Tensor Call(const Tensor& grad) = 0;
};

/// Sees a node's incoming gradients before, or its results after, its Backward; may replace them.
class DRAGON_API NodeHook : public RefCounted<NodeHook> {
 public:
  virtual ~NodeHook() = default;
  virtual Tensors Call(const Tensors& grads, const Tensors& incoming) = 0;
};

class DRAGON_API Node : public RefCounted<Node> {
 public:
  Node();
  virtual ~Node();

  /// Gradients of the results in, one gradient per edge out (undefined where none flows). Bit i of `unwanted`: nobody
  /// asks for that of edge i, which may be left out.
  virtual Tensors Backward(const Tensors& grads, uint64_t unwanted) = 0;
  /// The same for the last time, with gradients that are the node's: what is read once may go before the end.
  virtual Tensors BackwardOnce(Tensors& grads, uint64_t unwanted) { return Backward(grads, unwanted); }
  /// Forget what was saved; a later Backward is an error.
  virtual void ReleaseSaved() {}
  virtual std::string name() const = 0;
  virtual bool is_accumulator() const { return false; }

  InlineVector<Edge, 2> edges;
  InlineVector<TensorMeta, 1> y_metas;  ///< the results this node stands behind
  uint64_t sequence;                    ///< later calls run backward earlier
  bool when_asked = false;              ///< recorded by a tape alone: what is computed of the results is not, unasked

  /// Rare things, allocated when first used.
  struct Extras {
    std::vector<std::pair<int, Ref<TensorHook>>> tensor_hooks;  ///< by result
    std::vector<Ref<NodeHook>> pre_hooks, post_hooks;
    std::vector<std::pair<int, TensorImpl*>> retained;  ///< non-leaf tensors that keep their gradient
    std::string trace;                                  ///< where the forward call stood (anomaly mode)
  };
  Extras& extras() {
    if (!extras_) extras_ = std::make_unique<Extras>();
    return *extras_;
  }
  const Extras* extras_if_any() const { return extras_.get(); }
  /// Be `when_asked` if all that lies behind is.
  void AskAsBehind();

 private:
  std::unique_ptr<Extras> extras_;
};

/// Decides how tensors are kept for the backward pass: elsewhere, smaller, or not at all.
class DRAGON_API SavedTensorHooks : public RefCounted<SavedTensorHooks> {
 public:
  virtual ~SavedTensorHooks() = default;
  virtual Ref<Object> Pack(const Tensor& tensor) = 0;
  virtual Tensor Unpack(const Ref<Object>& packed) = 0;
};

/// The innermost hooks of this thread are asked for every tensor it saves from now on.
DRAGON_API void PushSavedTensorHooks(Ref<SavedTensorHooks> hooks);
DRAGON_API void PopSavedTensorHooks();

/// A tensor kept for the backward pass, with the version it had.
class DRAGON_API SavedTensor {
 public:
  SavedTensor() = default;
  /// `is_output`: the tensor is a result of the saving node, which must not own itself.
  SavedTensor(const Tensor& tensor, bool is_output);
  /// The tensor with its history; a RuntimeError naming `who` if it was written since.
  Tensor Unpack(const char* who, const Ref<Node>& owner) const;
  bool defined() const { return tensor_.defined() || packed_; }

 private:
  struct Packed : RefCounted<Packed> {
    Ref<SavedTensorHooks> hooks;
    Ref<Object> what;
  };
  void Pack();

  Tensor tensor_;
  Ref<Packed> packed_;  ///< instead of the tensor, where hooks keep it
  Edge history_;        ///< for detached copies of non-leaf inputs
  int32_t output_ = -1;
  uint32_t version_ = 0;
  bool requires_grad_ = false, attached_ = false;
  friend class OpNode;
};

/// The node of a recorded operator call.
class DRAGON_API OpNode : public Node {
 public:
  /// Remember the inputs. Saved inputs that share memory with one of `written` are copied: they are about to change.
  OpNode(const Call& call, std::span<const Tensor> written);
  void SaveOutputs(const Tensors& outputs);

  Tensors Backward(const Tensors& grads, uint64_t unwanted) override;
  void ReleaseSaved() override;
  std::string name() const override { return op_->name(); }
  const Operator& op() const { return *op_; }

  static void* operator new(size_t) { return FreeList<OpNode>::New(); }
  static void operator delete(void* pointer) { FreeList<OpNode>::Delete(pointer); }

 private:
  bool IsSaved(uint64_t saved, const std::array<uint64_t, 8>& saved_for, size_t slot) const;

  const Operator* op_;
  uint64_t wanting_ = 0;  ///< bit i: tensor argument i wants a gradient
  InlineVector<Value, 3> attrs_;
  InlineVector<int32_t, 1> list_sizes_;
  InlineVector<SavedTensor, 2> inputs_;
  InlineVector<SavedTensor, 1> outputs_;
  InlineVector<TensorMeta, 2> x_metas_;
  bool released_ = false;
};

/// Adds what arrives into a leaf's `grad`.
class DRAGON_API AccumulateNode : public Node {
 public:
  explicit AccumulateNode(const Tensor& leaf);
  ~AccumulateNode() override;
  Tensors Backward(const Tensors& grads, uint64_t unwanted) override;
  std::string name() const override { return "accumulate_grad"; }
  bool is_accumulator() const override { return true; }
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

/// The history of a base after one of its views was written: gradients of the written part go to the writer's inputs,
/// the rest goes where the base came from.
class DRAGON_API WriteThroughView : public Node {
 public:
  WriteThroughView(const Tensor& base, const Tensor& view, Ref<OpNode> writer, std::vector<int> own_inputs);
  Tensors Backward(const Tensors& grads, uint64_t unwanted) override;
  void ReleaseSaved() override { writer_->ReleaseSaved(); }
  std::string name() const override { return "write_through_view(" + writer_->name() + ")"; }

 private:
  Dims base_shape_, base_strides_, view_shape_, view_strides_;
  int64_t offset_;
  Ref<OpNode> writer_;
  std::vector<int> own_inputs_;  ///< inputs of the writer that are the view itself
};

/// The edge along which a tensor's gradient leaves; empty if it needs none.
DRAGON_API Edge GradEdge(const Tensor& tensor);
/// Whether what is computed of a tensor is recorded where nobody asks for it, as its maker's users expect.
DRAGON_API bool RecordsUnasked(const Tensor& tensor);
/// The number that the next node will have.
DRAGON_API uint64_t NextSequence();
/// The sequence of the node whose backward pass this thread is in; 0 if it is in none.
DRAGON_API uint64_t RunningSequence();

/// Says so for a scope.
class RunningNode {
 public:
  explicit RunningNode(const Node& node);
  ~RunningNode();
  RunningNode(const RunningNode&) = delete;
  RunningNode& operator=(const RunningNode&) = delete;

 private:
  uint64_t before_;
};
/// Numbers of nodes; 0 for none. What older ones made is constant to a thread.
struct HistoryFloor {
  uint64_t unasked = 0;
  uint64_t asked = 0;  ///< for nodes that are `when_asked`; while there is one, a tape records
};
/// Where history begins from now on, on this thread; returns where it did. For tapes that see nothing of what was
/// recorded before they began.
DRAGON_API HistoryFloor ExchangeHistoryFloor(HistoryFloor floor);
/// The node that made a tensor; null for leaves. Refreshed if the tensor is a view whose base was written since.
DRAGON_API Ref<Node> GradNode(const Tensor& tensor);
DRAGON_API void SetHistory(const Tensor& tensor, Ref<Node> node, int index);
/// A computed tensor no longer keeps its gradient; a tensor's node must not point at it once the tensor has another one
/// or goes.
DRAGON_API void ReleaseGrad(TensorImpl& impl);

/// Anomaly mode: nodes remember where their forward call stood, and a NaN gradient is an error that says so.
DRAGON_API void SetAnomalyMode(bool enabled, bool check_nan = true);
DRAGON_API bool AnomalyMode();
DRAGON_API bool ChecksNan();
/// Gives the caller's place as text; set by the language binding.
DRAGON_API void SetTraceProvider(std::string (*provider)());

/// Sum a gradient over what broadcasting repeated, and give it the dtype of what it belongs to.
DRAGON_API Tensor FitGrad(Tensor grad, const TensorMeta& like);

}  // namespace dragon
