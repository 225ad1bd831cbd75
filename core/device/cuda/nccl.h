// The functions of NCCL that collectives among devices take, with its types: nobody else names them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "core/base/types.h"

namespace dragon::cuda {

enum class NcclStatus : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};
enum class NcclType : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
  kFloat8E4M3 = 10,
  kFloat8E5M2 = 11,
};
enum class NcclOp : int { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3, kAverage = 4 };

using NcclHandle = struct NcclOpaque*;
/// What tells the ranks of one communicator of each other.
struct NcclId {
  char bytes[128];
};

inline constexpr int kNcclUnset = -2147483647 - 1;
/// Choices for a communicator, as NCCL 2.17 has them; later ones add theirs behind and look at `version`.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef, version = 21700;
  int blocking = kNcclUnset, cluster_size = kNcclUnset, least_blocks = kNcclUnset, most_blocks = kNcclUnset;
  const char* net_name = nullptr;
  int split_share = kNcclUnset;
};

struct NcclFunctions {
  NcclStatus (*get_version)(int* version);
  NcclStatus (*get_unique_id)(NcclId* id);
  NcclStatus (*init_rank_config)(NcclHandle* made, int size, NcclId id, int rank, NcclConfig* config);
  NcclStatus (*init_all)(NcclHandle* made, int count, const int* devices);
  NcclStatus (*destroy)(NcclHandle handle);
  NcclStatus (*abort)(NcclHandle handle);
  NcclStatus (*get_async_error)(NcclHandle handle, NcclStatus* status);
  const char* (*error_string)(NcclStatus status);
  const char* (*last_error)(NcclHandle handle);
  NcclStatus (*all_reduce)(const void*, void*, size_t count, NcclType, NcclOp, NcclHandle, cudaStream_t);
  NcclStatus (*reduce)(const void*, void*, size_t count, NcclType, NcclOp, int root, NcclHandle, cudaStream_t);
  NcclStatus (*broadcast)(const void*, void*, size_t count, NcclType, int root, NcclHandle, cudaStream_t);
  NcclStatus (*all_gather)(const void*, void*, size_t each, NcclType, NcclHandle, cudaStream_t);
  NcclStatus (*reduce_scatter)(const void*, void*, size_t each, NcclType, NcclOp, NcclHandle, cudaStream_t);
  NcclStatus (*send)(const void*, size_t count, NcclType, int to, NcclHandle, cudaStream_t);
  NcclStatus (*receive)(void*, size_t count, NcclType, int from, NcclHandle, cudaStream_t);
  NcclStatus (*group_start)();
  NcclStatus (*group_end)();
};

/// The library's functions; a RuntimeError that names the wheel without it.
const NcclFunctions& NcclLibrary();
/// Whether the library is there.
bool HasNccl();
/// 22903 for 2.29.3; 0 without the library.
int NcclVersion();
/// What an answer means, with the library's last words of a communicator's (which may be none).
std::string NcclWords(NcclStatus status, NcclHandle handle = nullptr);
/// A RuntimeError in the name of `who` unless it is success.
void CheckNccl(NcclStatus status, const char* who, NcclHandle handle = nullptr);

}  // namespace dragon::cuda
