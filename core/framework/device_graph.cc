// Noting work of a device down, and running it.
#include "core/framework/device_graph.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace dragon {

namespace {

Accelerator& Cuda() { return AcceleratorOf(DeviceType::kCUDA); }

void AddOnce(std::vector<std::shared_ptr<RandomStream>>* streams, const std::shared_ptr<RandomStream>& stream) {
  if (std::find(streams->begin(), streams->end(), stream) == streams->end()) streams->push_back(stream);
}

}  // namespace

DeviceGraph::~DeviceGraph() {
  Abandon();
  Reset();
}

void DeviceGraph::Register(const Generator& generator) { AddOnce(&registered_, generator.stream()); }

/// Tell the streams that `noted` draws from them, or, for nullptr, that nothing does any more.
void DeviceGraph::Mark(NotedDraws* noted) const {
  for (const auto& stream : drawn_) {
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->state.noted = noted;
  }
}

void DeviceGraph::Begin(int index, void* stream, int mode) {
  Abandon();
  Reset();
  index_ = index, stream_ = stream;
  Streams streams = registered_;
  AddOnce(&streams, DefaultGenerator()->stream());
  AddOnce(&streams, CurrentGenerator().stream());
  for (const auto& each : streams) {
    std::lock_guard<std::mutex> lock(each->mutex);
    if (!each->state.noted) continue;
    throw RuntimeError("CUDA graph").Got("a generator of a graph that is being noted down").Expected("one at a time");
  }
  Cuda().BeginCapture(index, stream, mode);
  draws_ = std::make_unique<NotedDraws>(index);
  drawn_ = std::move(streams);
  Mark(draws_.get());
}

void DeviceGraph::End() {
  if (!is_noting()) throw RuntimeError("CUDA graph").Got("no capture").Expected("one that has begun");
  Mark(nullptr);
  try {
    graph_ = Cuda().EndCapture(index_, stream_);
  } catch (...) {
    draws_ = nullptr, drawn_.clear();
    throw;
  }
}

void DeviceGraph::Abandon() noexcept {
  if (!is_noting()) return;
  Mark(nullptr);
  try {
    Cuda().DropGraph(index_, Cuda().EndCapture(index_, stream_));
  } catch (...) {  // it failed before, and that is what is told
  }
  draws_ = nullptr, drawn_.clear();
}

void DeviceGraph::Launch() {
  if (!graph_)
    throw RuntimeError("CUDAGraph.replay").Got("a graph that nothing was noted down in").Expected("a capture first");
  if (!draws_->empty()) {
    for (const auto& stream : drawn_) {
      std::lock_guard<std::mutex> lock(stream->mutex);
      draws_->Draw(&stream->state);
    }
    draws_->Send();
  }
  Cuda().LaunchGraph(index_, graph_, Cuda().CurrentStream(index_));
}

void DeviceGraph::Reset() {
  if (!graph_) return;
  Cuda().DropGraph(index_, std::exchange(graph_, nullptr));
  draws_ = nullptr, drawn_.clear();
}

void DeviceGraph::Dump(const std::string& path) const {
  if (!graph_) throw RuntimeError("CUDAGraph.debug_dump").Got("an empty graph").Expected("a capture first");
  Cuda().DumpGraph(graph_, path);
}

}  // namespace dragon
