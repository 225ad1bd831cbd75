// What a stream of a device was given, noted down, and run again as a whole with random numbers of its own each time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/noted_draws.h"
#include "core/framework/generator.h"

namespace dragon {

class DRAGON_API DeviceGraph {
 public:
  DeviceGraph() = default;
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;
  ~DeviceGraph();

  /// Have the graph draw from a generator; those that operators use by default are known.
  void Register(const Generator& generator);
  /// Note down what this thread gives a stream. See Accelerator::BeginCapture for the mode.
  void Begin(int index, void* stream, int mode);
  /// End it, and make the graph ready. What was noted before is dropped.
  void End();
  /// End it, and drop what was noted: to be called after a failure.
  void Abandon() noexcept;
  bool is_noting() const { return draws_ && !graph_; }
  bool is_ready() const { return graph_ != nullptr; }
  /// Draw the run's random numbers, and run on this thread's current stream.
  void Launch();
  void Reset();
  void Dump(const std::string& path) const;

 private:
  using Streams = std::vector<std::shared_ptr<RandomStream>>;

  void Mark(NotedDraws* noted) const;

  int index_ = 0;
  void* stream_ = nullptr;
  void* graph_ = nullptr;
  std::unique_ptr<NotedDraws> draws_;
  Streams registered_, drawn_;  // what is known for the next capture; what the graph draws from
};

}  // namespace dragon
