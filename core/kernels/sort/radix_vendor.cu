// The radix sort of NVIDIA's CUB, of one type: whatever is sorted is brought into words of 64 bits first, since every
// type would take as long to compile again.
#include <cub/device/device_radix_sort.cuh>

#include "core/device/cuda/launch.h"
#include "core/kernels/sort/radix.h"

namespace dragon::DRAGON_DEVICE {

uint64_t* RadixSort(const Context& ctx, uint64_t* data, uint64_t* spare, int64_t n, int first, int end) {
  cub::DoubleBuffer<uint64_t> words(data, spare);
  size_t bytes = 0;
  const auto sort = [&](void* room) {
    CheckCuda(cub::DeviceRadixSort::SortKeys(room, bytes, words, n, first, end, cuda::StreamOf(ctx)), "sort");
  };
  sort(nullptr);  // says how much room it wants
  const Scratch room = ctx.Allocate<char>(static_cast<int64_t>(bytes));
  sort(room.data());
  return words.Current();
}

}  // namespace dragon::DRAGON_DEVICE
