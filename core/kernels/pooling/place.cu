// Numbers taken to the places of planes that indices name, on CUDA. Every place gets a list of those that go there,
// made by atomic exchanges in any order, and then adds them up in the order in which they lie: the same sum in every
// run.
#include "core/device/cuda/launch.h"
#include "core/kernels/convolution/places_cuda.h"
#include "core/kernels/pooling.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Lists longer than this are added up as they came: sorting them would take too long for one thread.
constexpr int kLongestSorted = 8192;

/// head[offset in y] = the last element that goes there, next[element] = the one before it; -1 ends a list. Without
/// `next`, head keeps the largest element alone. Indices that name no place are passed over: they write nowhere.
__global__ void LinkKernel(const __grid_constant__ ImagePlaces elements, const __grid_constant__ ImagePlaces plane,
                           const ImageSteps indices_steps, const ImageSteps y_steps, const int64_t* indices, int* head,
                           int* next) {
  for (int64_t i = cuda::FirstOfThread(); i < elements.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace from = elements(i);
    const int64_t at = indices[from.Offset(indices_steps)];
    if (at < 0 || at >= plane.numel()) {
      if (next) next[i] = -1;
      continue;
    }
    ImagePlace to = plane(at);
    to.n = from.n, to.c = from.c;
    int* slot = head + to.Offset(y_steps);
    if (next) {
      next[i] = atomicExch(slot, static_cast<int>(i));
    } else {
      atomicMax(slot, static_cast<int>(i));
    }
  }
}

/// The smallest element of a list above `last`.
__device__ __forceinline__ int NextInOrder(int first, const int* next, int last) {
  int smallest = INT32_MAX;
  for (int i = first; i >= 0; i = next[i]) {
    if (i > last && i < smallest) smallest = i;
  }
  return smallest;
}

template <typename T>
__global__ void TakeKernel(const __grid_constant__ ImagePlaces places, const __grid_constant__ ImagePlaces elements,
                           const ImageSteps x_steps, const ImageSteps y_steps, const T* x, const int* head,
                           const int* next, T* y) {
  using W = Wide<T>;
  const auto element = [&](int i) { return static_cast<W>(x[elements(i).Offset(x_steps)]); };
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const int64_t to = places(i).Offset(y_steps);
    const int first = head[to];
    W sum(0);
    int count = 0;
    for (int k = first; next && k >= 0 && count <= kLongestSorted; k = next[k]) ++count;
    if (first >= 0 && count <= 1) {
      sum = element(first);
    } else if (count > kLongestSorted) {
      for (int k = first; k >= 0; k = next[k]) sum = static_cast<W>(sum + element(k));
    } else {
      for (int last = -1; count > 0; --count) {
        last = NextInOrder(first, next, last);
        sum = static_cast<W>(sum + element(last));
      }
    }
    y[to] = static_cast<T>(sum);
  }
}

/// A tensor's pictures [first, first + count).
struct Pictures {
  Dims shape;
  View view;

  Pictures(const View& all, int64_t first, int64_t count) : shape(all.shape, all.ndim), view(all) {
    shape[0] = count;
    view.shape = shape.data();
    view.data = all.as<char>() + first * all.strides[0] * ItemSize(all.dtype);
    view.numel = all.numel / all.shape[0] * count;
  }
};

template <typename T>
void PlaceSome(Context& ctx, const View& y, const View& x, const View& indices, const char* who, bool add) {
  const Scratch head = ctx.Allocate<int>(y.numel), next = ctx.Allocate<int>(add ? x.numel : 0);
  int* const links = add ? next.as<int>() : nullptr;
  CheckCuda(cudaMemsetAsync(head.data(), 0xFF, y.numel * sizeof(int), cuda::StreamOf(ctx)), who);
  int64_t spatial[3] = {1, 1, 1};
  for (int axis = 2; axis < y.ndim; ++axis) spatial[kMaxSpatial - y.ndim + axis] = y.shape[axis];
  const ImagePlaces places(y), elements(x), plane(1, 1, spatial, /*channels_last=*/false);
  if (x.numel) {
    cuda::Launch(who, ctx, &LinkKernel, cuda::GridFor(x.numel), elements, plane, ImageSteps(indices), ImageSteps(y),
                 indices.as<const int64_t>(), head.as<int>(), links);
  }
  cuda::Launch(who, ctx, &TakeKernel<T>, cuda::GridFor(y.numel), places, elements, ImageSteps(x), ImageSteps(y),
               x.as<const T>(), head.as<const int>(), static_cast<const int*>(links), y.as<T>());
}

}  // namespace

/// Indices that name no place are an error that the CPU finds; here they are passed over.
template <typename T>
void PlaceInPlanes(Context& ctx, View y, View x, View indices, const char* who, bool add) {
  if (y.numel == 0) return;
  const int64_t batch = y.shape[0], picture = std::max(y.numel, x.numel) / batch;
  if (picture > INT32_MAX) {  // links have 32 bits
    throw NotImplementedError(who).Got(picture, " elements of a picture").Expected("fewer than 2^31");
  }
  const int64_t step = std::min(batch, INT32_MAX / picture);
  for (int64_t n = 0; n < batch; n += step) {
    const int64_t count = std::min(step, batch - n);
    PlaceSome<T>(ctx, Pictures(y, n, count).view, Pictures(x, n, count).view, Pictures(indices, n, count).view, who,
                 add);
  }
}
DRAGON_KERNEL(PlaceInPlanes, Real);

}  // namespace dragon::DRAGON_DEVICE
