// Functions, handles and workspaces of cuBLAS and cuBLASLt.
#include "core/device/cuda/cublas.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/device/cuda/check.h"
#include "core/device/cuda/vendor.h"
#include "core/device/device.h"

namespace dragon::cuda {

namespace {

std::mutex& Door() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

}  // namespace

const LtFunctions& Lt() {
  static const LtFunctions* const functions = [] {
    auto* made = new LtFunctions;
    const auto find = [](auto* function, const char* symbol) {
      *function = CublasLt().Find<std::remove_pointer_t<decltype(function)>>(symbol);
    };
    find(&made->create, "cublasLtCreate");
    find(&made->desc_create, "cublasLtMatmulDescCreate");
    find(&made->desc_destroy, "cublasLtMatmulDescDestroy");
    find(&made->desc_set, "cublasLtMatmulDescSetAttribute");
    find(&made->layout_create, "cublasLtMatrixLayoutCreate");
    find(&made->layout_destroy, "cublasLtMatrixLayoutDestroy");
    find(&made->layout_set, "cublasLtMatrixLayoutSetAttribute");
    find(&made->preference_create, "cublasLtMatmulPreferenceCreate");
    find(&made->preference_destroy, "cublasLtMatmulPreferenceDestroy");
    find(&made->preference_set, "cublasLtMatmulPreferenceSetAttribute");
    find(&made->heuristic, "cublasLtMatmulAlgoGetHeuristic");
    find(&made->matmul, "cublasLtMatmul");
    return made;
  }();
  return *functions;
}

void CheckBlas(BlasStatus status, const char* who) {
  if (status == BlasStatus::kSuccess) return;
  throw RuntimeError(who).Got("status ", static_cast<int>(status), " of cuBLAS").Expected("success (0)");
}

LtHandle LtHandleOf(const Context& ctx) {
  static thread_local std::map<int, LtHandle> known;  // a look without the lock
  LtHandle& mine = known[ctx.device.index];
  if (mine) return mine;
  const LtFunctions& functions = Lt();
  std::lock_guard<std::mutex> lock(Door());
  static auto* handles = new std::map<int, LtHandle>;
  LtHandle& handle = (*handles)[ctx.device.index];
  if (!handle) {
    const CudaGuard guard(ctx.device.index);
    CheckBlas(functions.create(&handle), "cuBLASLt");
  }
  return mine = handle;
}

void* WorkspaceOf(const Context& ctx) {
  struct Seat {
    int device = -1;
    void *stream = nullptr, *workspace = nullptr;
  };
  static thread_local Seat seat;  // a look without the lock
  if (seat.device == ctx.device.index && seat.stream == ctx.stream) return seat.workspace;
  std::lock_guard<std::mutex> lock(Door());
  static auto* workspaces = new std::map<std::pair<int, void*>, void*>;
  void*& workspace = (*workspaces)[{ctx.device.index, ctx.stream}];
  if (!workspace) {
    workspace = BackendOf(DeviceType::kCUDA).Allocate(ctx.device.index, kWorkspaceBytes);
    if (!workspace) throw MemoryError("cuBLAS").Says("no room for a workspace of ", kWorkspaceBytes >> 20, " MiB");
  }
  seat = {ctx.device.index, ctx.stream, workspace};
  return workspace;
}

BlasHandle BlasHandleOf(const Context& ctx) {
  struct Seat {
    BlasHandle handle = nullptr;
    void* stream = nullptr;
  };
  static thread_local std::map<int, Seat> seats;
  Seat& seat = seats[ctx.device.index];
  using SetStream = BlasStatus (*)(BlasHandle, cudaStream_t);
  using SetWorkspace = BlasStatus (*)(BlasHandle, void*, size_t);
  static const auto set_stream = Cublas().Find<SetStream>("cublasSetStream_v2");
  static const auto set_workspace = Cublas().Find<SetWorkspace>("cublasSetWorkspace_v2");
  if (!seat.handle) {
    const CudaGuard guard(ctx.device.index);
    CheckBlas(Cublas().Find<BlasStatus (*)(BlasHandle*)>("cublasCreate_v2")(&seat.handle), "cuBLAS");
    seat.stream = &seat;  // no stream's
  }
  if (seat.stream != ctx.stream) {
    CheckBlas(set_stream(seat.handle, static_cast<cudaStream_t>(ctx.stream)), "cuBLAS");
    CheckBlas(set_workspace(seat.handle, WorkspaceOf(ctx), kWorkspaceBytes), "cuBLAS");
    seat.stream = ctx.stream;
  }
  return seat.handle;
}

}  // namespace dragon::cuda
