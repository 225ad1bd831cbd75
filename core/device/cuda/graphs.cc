// CUDA graphs: what a stream was given, noted down and run again as a whole.
#include <memory>

#include "core/base/error.h"
#include "core/device/cuda/backend.h"
#include "core/device/cuda/check.h"
#include "core/device/pinned.h"

namespace dragon::cuda {

namespace {

/// A graph, the form in which it runs, and the pinned memory that its copies read.
struct Noted {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  std::vector<void*> staged;

  ~Noted() {
    if (ready) (void)cudaGraphExecDestroy(ready);
    if (graph) (void)cudaGraphDestroy(graph);
    for (void* pointer : staged) FreePinned(pointer);
  }
};

}  // namespace

void CudaBackend::BeginCapture(int index, void* stream, int mode) {
  Enter(index);
  CheckCuda(cudaStreamBeginCapture(StreamOf(index, stream), static_cast<cudaStreamCaptureMode>(mode)),
            "cuda graph: begin");
  CapturesUnderWay().fetch_add(1);
}

void* CudaBackend::EndCapture(int index, void* stream) {
  Enter(index);
  const cudaStream_t queue = StreamOf(index, stream);
  auto noted = std::make_unique<Noted>();
  CapturesUnderWay().fetch_sub(1);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto node = staged_.extract(static_cast<void*>(queue))) noted->staged = std::move(node.mapped());
  }
  CheckCuda(cudaStreamEndCapture(queue, &noted->graph), "cuda graph: end");
  if (!noted->graph) throw RuntimeError("cuda graph").Got("an invalid capture").Expected("work that can be noted down");
  CheckCuda(cudaGraphInstantiateWithFlags(&noted->ready, noted->graph, 0), "cuda graph: instantiate");
  return noted.release();
}

bool CudaBackend::IsCapturing(int index, void* stream) {
  Enter(index);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CheckCuda(cudaStreamIsCapturing(StreamOf(index, stream), &status), "cuda graph");
  return status != cudaStreamCaptureStatusNone;
}

void CudaBackend::LaunchGraph(int index, void* graph, void* stream) {
  Enter(index);
  CheckCuda(cudaGraphLaunch(static_cast<Noted*>(graph)->ready, StreamOf(index, stream)), "cuda graph: launch");
}

void CudaBackend::DropGraph(int, void* graph) {
  if (IsLostToFork()) return;
  delete static_cast<Noted*>(graph);
}

void CudaBackend::DumpGraph(void* graph, const std::string& path) {
  CheckCuda(cudaGraphDebugDotPrint(static_cast<Noted*>(graph)->graph, path.c_str(), cudaGraphDebugDotFlagsVerbose),
            "cuda graph: dump");
}

}  // namespace dragon::cuda
