// CUB's radix sort, which has no source that runs here, by the C++ library's.
#include "core/kernels/sort/radix.h"

#include <algorithm>

#include "tests/cuda/simt/machine.h"

namespace dragon::DRAGON_DEVICE {

uint64_t* RadixSort(const Context&, uint64_t* data, uint64_t* spare, int64_t n, int first, int end) {
  simt::RequireDevice("sort", data);
  simt::RequireDevice("sort", spare);
  const uint64_t mask = ~uint64_t{0} >> (64 - (end - first));
  simt::Queue([=] {
    std::copy_n(data, n, spare);
    std::stable_sort(spare, spare + n,
                     [=](uint64_t a, uint64_t b) { return (a >> first & mask) < (b >> first & mask); });
    std::fill_n(data, n, ~uint64_t{0});  // nobody may count on what is left there
  });
  return spare;
}

}  // namespace dragon::DRAGON_DEVICE
