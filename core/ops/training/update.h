// What all optimizer updates share: lists of tensors become one kernel call per dtype.
#pragma once

#include <vector>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/training.h"

namespace dragon {

/// Tensor lists of an update, in schema order: parameters, gradients, states; last the steps, if the update counts
/// them. A list that may be empty is an unused state.
struct UpdateLists {
  int states = 0;         ///< lists after parameters and gradients that have the parameters' shapes
  int numbers = 0;        ///< lists of 0-d float tensors after those, one per parameter
  bool steps = false;     ///< a last list of 0-d counters: one per parameter, or one for all
  unsigned optional = 0;  ///< bit k: state k may be missing
};

/// Check lengths, shapes and dtypes of the lists.
void CheckUpdate(const CallReader& c, const UpdateLists& lists);

/// The lists of one call as a kernel wants them.
class Update {
 public:
  /// Counts every step tensor up by one.
  Update(Run& r, const UpdateLists& lists);
  /// Writes back what had to be copied.
  ~Update() noexcept(false);

  /// The number of parameter i's step.
  double step(int64_t i) const { return steps_.empty() ? 0 : steps_[steps_.size() == 1 ? 0 : i]; }
  int64_t count() const { return static_cast<int64_t>(params_.size()); }

  /// Call `body(set, dtype, places)` once per dtype; `places[i]` is the place of the set's parameter i in the lists.
  template <typename F>
  void EachDType(F body) {
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      std::vector<int64_t> places, sizes;
      std::vector<double> steps;
      std::vector<void*> addresses[6];
      for (int64_t i = 0; i < count(); ++i) {
        if (params_[i].dtype() != dtype) continue;
        places.push_back(i);
        sizes.push_back(params_[i].numel());
        steps.push_back(step(i));
        addresses[0].push_back(params_[i].mutable_data());
        addresses[1].push_back(grads_.empty() ? nullptr : const_cast<void*>(grads_[i].data()));
        for (size_t k = 0; k < states_.size(); ++k) {
          if (!states_[k].empty()) addresses[2 + k].push_back(states_[k][i].mutable_data());
        }
      }
      if (places.empty()) continue;
      kernels::UpdateSet set;
      set.count = static_cast<int64_t>(places.size());
      set.sizes = sizes.data();
      set.params = addresses[0].data();
      set.grads = grads_.empty() ? nullptr : addresses[1].data();
      for (int k = 0; k < 4; ++k) set.slots[k] = addresses[2 + k].empty() ? nullptr : addresses[2 + k].data();
      set.steps = steps.data();
      body(set, dtype, places);
    }
  }

 private:
  /// The tensor itself if it has the layout `like` has, without gaps; else a row-major copy that is written back.
  Tensor Arranged(const Tensor& x, bool row_major, bool written);

  std::vector<Tensor> params_, grads_;
  std::vector<std::vector<Tensor>> states_;
  std::vector<double> steps_;
  std::vector<std::pair<Tensor, Tensor>> copies_;  // where to, what
};

/// The number in a 0-d tensor on the host, and a way to replace it.
double ReadNumber(const Tensor& x);
void WriteNumber(const Tensor& x, double value);

}  // namespace dragon
