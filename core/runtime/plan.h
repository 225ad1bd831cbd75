// Plan: a graph made ready to run: a flat list of kernels' operators with their operands in place. Running it infers
// nothing, plans nothing and allocates one block.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/framework/graph.h"
#include "core/runtime/memory_plan.h"

namespace dragon {

struct PlanOptions {
  MemoryMode memory = MemoryMode::kArena;
  bool in_place = true;        ///< a result may overwrite an operand that nobody reads any more
  bool device_graphs = false;  ///< on a device that can, runs are noted down as a graph of the device and run as such
};

/// A piece of memory that one value after another lives in.
struct PlanPiece {
  /// Blocks lie in the memory that a plan holds while it runs; what is `kOwn` is there only as long as it is needed.
  enum class Kind : uint8_t { kBlock, kInput, kConstant, kOutput, kOwn };
  Kind kind = Kind::kBlock;
  Device device;
  BufferLifetime life;
  std::vector<ValueId> values;
};

struct PlanMemory {
  int64_t naive = 0;     ///< bytes if every value had its own place
  int64_t planned = 0;   ///< bytes of the block, and the most that what lies outside of it takes at one time
  int64_t measured = 0;  ///< the peak above what there was before, of the last run that was measured
  int32_t buffers = 0;   ///< how many pieces of memory the values share
  std::vector<PlanPiece> pieces;
};

/// One call of a profiled run; times in nanoseconds of the monotonic clock.
struct PlanEvent {
  std::string name, scope;
  int64_t start, end, bytes;
};

class PlanGraphs;

class DRAGON_API Plan {
 public:
  /// The graph is verified. Compositions in it must have been taken apart (see Decompose).
  explicit Plan(Graph graph, PlanOptions options = {});
  ~Plan();

  /// Run over these inputs, which must fit the graph's (see `CheckInputs`). The inputs that the graph updates are
  /// written; the results are fresh. Any number of threads may call.
  /// `symbols` are the values of the graph's symbols, for numbers that change from run to run.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, std::span<const double> symbols = {});
  /// The same with inputs that are the plan's to drop: each is let go of after the last call that reads it.
  std::vector<Tensor> RunOnce(std::vector<Tensor> inputs, std::span<const double> symbols = {});
  /// As Run, and note every call's time.
  std::vector<Tensor> Profile(std::span<const Tensor> inputs, std::vector<PlanEvent>* events);
  /// The same, and note the peak of memory in `memory().measured`.
  std::vector<Tensor> Measure(std::span<const Tensor> inputs);
  /// A ValueError that names the first input that does not fit in shape, dtype, device, or strides where the graph's
  /// are not row-major. Every run asks.
  void CheckInputs(std::span<const Tensor> inputs) const;

  const Graph& graph() const { return graph_; }
  const ValueInfo& input(size_t i) const { return graph_.values[graph_.inputs[i]]; }
  const PlanMemory& memory() const { return memory_; }
  int step_count() const { return step_count_; }
  /// How often runs were noted down as graphs of the device, how often those ran, and why no more are made: empty while
  /// they may be.
  struct DeviceGraphFacts {
    int captures = 0;
    int64_t runs = 0;
    std::string refusal;
  };
  DeviceGraphFacts device_graphs() const;

  struct Instance;  // core/runtime/plan_instance.h

 private:
  std::unique_ptr<Instance> Borrow();
  std::vector<Tensor> RunWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                              std::vector<PlanEvent>* events, std::span<Tensor> given = {});
  std::vector<Tensor> RunToldWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                                  std::span<Tensor> given);

  Graph graph_;
  PlanOptions options_;
  PlanMemory memory_;
  int step_count_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Instance>> idle_;  ///< one per thread that runs at the same time
  std::unique_ptr<PlanGraphs> graphs_;           ///< null where nobody asked for graphs of the device
};

}  // namespace dragon
