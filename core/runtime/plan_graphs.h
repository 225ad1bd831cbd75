// Plans as graphs of the device: a run is noted down once, and later runs are one launch instead of one for each
// kernel.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/framework/device_graph.h"
#include "core/runtime/plan_instance.h"

namespace dragon {

/// The graphs of one plan, one for each set of numbers that its symbols had. The first run of each goes call by call,
/// so that libraries and compilers do what they do once; the second is noted down.
///
/// Inputs are read where they lie, as long as they lie there. Where one is found elsewhere the plan is noted down
/// again; from the second time on, it has a place of its own, to which it is copied before each run. Inputs that the
/// plan writes are never copied.
///
/// Results that nobody holds any more when the plan runs again, such as what is kept for a backward pass, are handed
/// out where the graph makes them. All others are copies, so that nobody sees a result change.
class PlanGraphs {
 public:
  /// Whether plans are to be graphs: where that was asked for or DRAGON_CUDA_GRAPHS=1, but not under =0.
  static bool Wanted(bool asked, const Plan::Instance& instance);

  PlanGraphs(const Graph& graph, const PlanOptions& options, const Plan::Instance& instance);
  ~PlanGraphs();

  /// Run as a graph. False if that cannot be, and nothing was done: the plan is to run call by call.
  bool Run(std::span<const Tensor> inputs, std::span<const double> symbols, std::vector<Tensor>* results);
  Plan::DeviceGraphFacts facts() const;

 private:
  struct Memory;
  struct Noted;
  enum class Handing : char { kTried, kLent, kCopied };
  /// What is known of one set of symbols.
  struct Entry {
    int runs = 0, captures = 0;
    std::vector<char> moves;       ///< by input: how often it was found elsewhere
    std::vector<Handing> handing;  ///< by output
    std::unique_ptr<Noted> noted;
  };

  static std::string WhyNot(const Graph& graph, const Plan::Instance& instance);
  bool IsCopied(const Entry& entry, size_t input) const { return entry.moves[input] > 1 && !written_[input]; }
  /// Whether inputs lie where the graph reads them; those that do not are counted.
  bool Holds(std::span<const Tensor> inputs, Entry* entry) const;
  void Note(std::span<const Tensor> inputs, std::span<const double> symbols, Entry* entry);
  /// See which results of the last run are still held. False if one of them is in the graph's memory: then the graph
  /// is to get another.
  bool Settle(Entry* entry) const;
  std::vector<Tensor> Launch(std::span<const Tensor> inputs, const Entry& entry);
  Tensor Handed(const Entry& entry, size_t output) const;
  /// Say once why, and run call by call from now on.
  void Refuse(std::string why);

  const Graph& graph_;
  PlanOptions options_;
  Device device_;
  std::vector<char> written_, read_;        // by input
  std::vector<Ref<Generator>> generators_;  // that calls name
  bool draws_ = false, has_symbols_ = false;
  mutable std::mutex mutex_;
  std::map<std::vector<double>, Entry> entries_;
  Plan::DeviceGraphFacts facts_;
};

}  // namespace dragon
