// Calls for many slices at once: an interpreter in whose calls stand-ins are seen, and batches are computed with.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/framework/apply.h"

namespace dragon {

/// The call for one slice, and the batches that its stand-ins stand for; for the rules of operators. Slices lie along
/// the first axis of a batch; what is the same for all slices has no such axis.
class DRAGON_API Slices : public CallReader {
 public:
  Slices(const Call& call, std::span<const Tensor> batches, std::span<const char> varies,
         std::span<const OutputSpec> results, int64_t size)
      : CallReader(call), batches_(batches), varies_(varies), results_(results), size_(size) {}
  int64_t size() const { return size_; }
  /// Whether a tensor differs between slices.
  bool Varies(int i) const { return varies_[i]; }
  bool Varies(ArgumentName name) const { return Varies(Place(name)); }
  /// The batch of a tensor, or the tensor itself if it is the same for all.
  const Tensor& batch(int i) const { return batches_[i]; }
  const Tensor& batch(ArgumentName name) const { return batch(Place(name)); }
  /// The batch with `rank` axes behind the first, new ones in front of the slices' own; the same for all: as it is,
  /// since broadcasting aligns it.
  Tensor Raised(int i, int rank) const;
  Tensor Raised(ArgumentName name, int rank) const { return Raised(Place(name), rank); }
  /// A batch in any case; the same for all: repeated, as a view.
  Tensor Repeated(int i) const;
  Tensor Repeated(ArgumentName name) const { return Repeated(Place(name)); }
  int result_count() const { return static_cast<int>(results_.size()); }
  const OutputSpec& result(int k) const { return results_[k]; }
  /// What the batch of result k must be like.
  Dims ResultShape(int k = 0) const;

 private:
  std::span<const Tensor> batches_;
  std::span<const char> varies_;
  std::span<const OutputSpec> results_;
  int64_t size_;
};

/// A rule for what only shows the first tensor's elements in another shape.
DRAGON_API Tensors ReshapeSlices(const Slices& s);

/// Lets a function written for one slice work on batches of them. Stand-ins are meta tensors of a slice's form, so that
/// no number can go astray; operators compute on their batches as each says (`Operator::Batches`), or slice by slice if
/// it says nothing. What cannot be done so (random numbers, writing in place, shapes that depend on numbers, looking at
/// gradients) is a NotImplementedError and `refused()`: then the function has to be called for every slice.
class DRAGON_API Batch final : public Interpreter {
 public:
  /// With `apart`, operators without a rule go slice by slice; else they are refused, too.
  explicit Batch(int64_t size, bool apart = true) : size_(size), apart_(apart) {}
  ~Batch() override;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Stand at this thread's door until the end of this object's life.
  void Open();
  Tensor StandIn(const Tensor& batch);
  /// What a stand-in of this batch stands for; nullptr for all others.
  const Tensor* Find(const Tensor& tensor) const;
  bool refused() const { return refused_; }
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override;

  /// The batches of this thread, innermost first; nullptr if there are none.
  static Batch* Innermost();
  Batch* outer() const { return outer_; }
  [[noreturn]] void Refuse(const std::string& who, const std::string& what);

 private:
  bool Concerns(const Call& call, std::span<const Tensor> outs) const;
  Tensors Forward(const Call& call, std::span<const Tensor> outs);
  Tensors Compute(const Call& call);
  Tensors Adopt(const Slices& s, Tensors results);
  Tensors ByRule(const Slices& s);
  Tensors OnRows(const Slices& s);
  Tensors OnSamples(const Slices& s);
  Tensors Apart(const Slices& s);
  Tensors OnBatches(const Slices& s, std::span<const Tensor> inputs, std::span<const Value> attrs);
  void Sweep();

  int64_t size_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> known_;  ///< stand-ins and their batches
  size_t swept_ = 0;                                                        ///< how many there were after sweeping
  Device device_;
  Batch* outer_ = nullptr;
  int composing_ = 0;
  bool apart_, open_ = false, refused_ = false;
};

/// The batch that stands behind a stand-in of this thread, if it is one.
DRAGON_API const Tensor* FindBatch(const Tensor& tensor);
/// Where a tensor's numbers are: for a stand-in, those of its batch.
DRAGON_API Device DeviceOfNumbers(const Tensor& tensor);
/// A stand-in for the slices detached; undefined for what is no stand-in.
DRAGON_API Tensor DetachSlices(const Tensor& tensor);
/// Refuses what is asked of the history of slices, which a stand-in knows nothing of; other tensors pass.
DRAGON_API void RefuseHistory(const Tensor& tensor, const char* what);
/// `Tensor::requires_grad`; a stand-in knows that gradients are not wanted, and refuses to say more.
DRAGON_API bool RequiresGrad(const Tensor& tensor);

}  // namespace dragon
