// NCCL, opened when the first communicator is made, and what its answers mean.
#include "core/device/cuda/nccl.h"

#include <memory>
#include <type_traits>

#include "core/base/error.h"
#include "core/device/cuda/vendor.h"

namespace dragon::cuda {

const NcclFunctions& NcclLibrary() {
  static const NcclFunctions* const functions = [] {
    auto made = std::make_unique<NcclFunctions>();
    const auto find = [](auto* function, const char* symbol) {
      *function = Nccl().Find<std::remove_pointer_t<decltype(function)>>(symbol);
    };
    find(&made->get_version, "ncclGetVersion");
    find(&made->get_unique_id, "ncclGetUniqueId");
    find(&made->init_rank_config, "ncclCommInitRankConfig");
    find(&made->init_all, "ncclCommInitAll");
    find(&made->destroy, "ncclCommDestroy");
    find(&made->abort, "ncclCommAbort");
    find(&made->get_async_error, "ncclCommGetAsyncError");
    find(&made->error_string, "ncclGetErrorString");
    find(&made->last_error, "ncclGetLastError");
    find(&made->all_reduce, "ncclAllReduce");
    find(&made->reduce, "ncclReduce");
    find(&made->broadcast, "ncclBroadcast");
    find(&made->all_gather, "ncclAllGather");
    find(&made->reduce_scatter, "ncclReduceScatter");
    find(&made->send, "ncclSend");
    find(&made->receive, "ncclRecv");
    find(&made->group_start, "ncclGroupStart");
    find(&made->group_end, "ncclGroupEnd");
    return made.release();
  }();
  return *functions;
}

bool HasNccl() { return Nccl().found(); }

int NcclVersion() {
  if (!HasNccl()) return 0;
  int version = 0;
  CheckNccl(NcclLibrary().get_version(&version), "NCCL");
  return version;
}

std::string NcclWords(NcclStatus status, NcclHandle handle) {
  std::string words = NcclLibrary().error_string(status);
  const char* last = NcclLibrary().last_error(handle);
  return last && *last ? words + ": " + last : words;
}

void CheckNccl(NcclStatus status, const char* who, NcclHandle handle) {
  if (status == NcclStatus::kSuccess) return;
  throw RuntimeError(who).Says("NCCL error ", static_cast<int>(status), ": ", NcclWords(status, handle));
}

}  // namespace dragon::cuda
