// Kernels with faults of the kinds that people make, and what the machine says of each: a kernel that is wrong in one
// of these ways must not pass for a right one. What only AddressSanitizer sees is looked for in the program that has
// it.
#include <cstdlib>

#include "core/device/allocator.h"
#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "tests/cpp/check.h"

namespace dragon {
namespace {

constexpr int kCount = 100, kBlock = 64;

/// A device's tensor of float32, each element its own place.
class Numbers {
 public:
  explicit Numbers(int64_t count) : count_(count), data_(Allocator().Allocate(Bytes())) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    cudaMemcpyAsync(data_, values.data(), Bytes(), cudaMemcpyDefault, nullptr);
  }
  ~Numbers() { Free(); }
  void Free() {
    if (!is_freed_) Allocator().Free(data_, Bytes());
    is_freed_ = true;
  }
  float* data() const { return static_cast<float*>(data_); }
  std::vector<float> Read() const {
    std::vector<float> values(count_);
    cudaMemcpyAsync(values.data(), data_, Bytes(), cudaMemcpyDefault, nullptr);
    return values;
  }

 private:
  static dragon::Allocator& Allocator() { return DeviceAllocator({DeviceType::kCUDA, 0}); }
  size_t Bytes() const { return static_cast<size_t>(count_) * sizeof(float); }

  int64_t count_;
  void* data_;
  bool is_freed_ = false;
};

const Context& Here() {
  static const Context ctx{Device{DeviceType::kCUDA, 0}};
  return ctx;
}

// --- memory

__global__ void CopyUpTo(float* y, const float* x, int n) {
  for (int i = static_cast<int>(threadIdx.x); i <= n; i += kBlock) y[i < n ? i : 0] = x[i];  // one more than there are
}

template <typename T>
__global__ void WriteUpTo(T* y, int n) {
  for (int i = static_cast<int>(threadIdx.x); i <= n; i += kBlock) y[i] = T(1);
}

__global__ void TakeNextOfShared(float* y, const float* x) {
  __shared__ float held[kBlock];
  cuda::FillShared(held);
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = held[threadIdx.x + 1];  // the last thread has no next one
}

__global__ void TakeNextOfAsked(float* y, const float* x) {
  auto* held = static_cast<float*>(cuda::DynamicShared());
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = held[threadIdx.x + 1];
}

template <typename T>
__device__ static __forceinline__ T NextOf(const T* x) {
  __shared__ T held[kBlock];
  cuda::FillShared(held);
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  return held[threadIdx.x + 1];
}
__global__ void TakeNextInFunction(float* y, const float* x) { y[threadIdx.x] = NextOf(x); }

// --- what nobody has written

/// Each block adds up what it has not written, and leaves something for the next one.
__global__ void AddUnwritten(float* y) {
  __shared__ float sum[1];
  cuda::FillShared(sum);
  sum[0] += 1.0f;
  y[blockIdx.x] = sum[0];
}
__global__ void AddUnwrittenAsked(float* y) {
  auto* sum = static_cast<float*>(cuda::DynamicShared());
  sum[0] += 1.0f;
  y[blockIdx.x] = sum[0];
}
__global__ void Copy(float* y, const float* x) { y[blockIdx.x] = x[blockIdx.x]; }

// --- barriers

__global__ void ReadBeforeAllHaveWritten(float* y) {
  __shared__ float held[kBlock];
  cuda::FillShared(held);
  held[threadIdx.x] = static_cast<float>(threadIdx.x);
  y[blockIdx.x * kBlock + threadIdx.x] = held[kBlock - 1 - threadIdx.x];  // a barrier is missing before this
}
__global__ void WaitByHalf() {
  if (threadIdx.x < kBlock / 2) return __syncwarp(0xFFFFFFFFu);
  if (threadIdx.x % 2) __syncthreads();
  __syncwarp(0xFFFFFFFFu);
}

void Print(const Numbers& numbers) {
  for (const float value : numbers.Read()) std::printf("%g ", static_cast<double>(value));
}

/// What a process of its own runs.
void RunFault(const std::string& name) {
  const cuda::Grid one{dim3(1), dim3(kBlock)}, two{dim3(2), dim3(1), 16}, asked{dim3(1), dim3(kBlock), kBlock * 4};
  Numbers x(kCount), y(kCount), bytes(1);
  const auto launch = [&](auto kernel, const cuda::Grid& grid, const auto&... arguments) {
    cuda::Launch(name.c_str(), Here(), kernel, grid, arguments...);
  };
  if (name == "read_past") launch(CopyUpTo, one, y.data(), x.data(), kCount);
  if (name == "write_past") launch(WriteUpTo<float>, one, y.data(), kCount);
  if (name == "write_byte_past") launch(WriteUpTo<char>, one, reinterpret_cast<char*>(bytes.data()), 4);
  if (name == "read_freed") x.Free(), launch(CopyUpTo, one, y.data(), x.data(), kCount - 1);
  if (name == "shared_past") launch(TakeNextOfShared, one, y.data(), x.data());
  if (name == "asked_past") launch(TakeNextOfAsked, asked, y.data(), x.data());
  if (name == "function_past") launch(TakeNextInFunction, one, y.data(), x.data());
  if (name == "within") launch(CopyUpTo, one, y.data(), x.data(), kCount - 1);
  Numbers few(2), many(2 * kBlock);
  if (name == "shared_unwritten") launch(AddUnwritten, two, few.data()), Print(few);
  if (name == "asked_unwritten") launch(AddUnwrittenAsked, two, few.data()), Print(few);
  if (name == "tensor_unwritten") {
    const Device device{DeviceType::kCUDA, 0};
    auto* fresh = static_cast<float*>(DeviceAllocator(device).Allocate(8));
    launch(Copy, two, few.data(), static_cast<const float*>(fresh)), Print(few);
  }
  if (name == "no_barrier") launch(ReadBeforeAllHaveWritten, {dim3(2), dim3(kBlock)}, many.data()), Print(many);
  std::printf("lived\n");
}

/// What a process that runs one of these says, all of it.
std::string WordsOf(const std::string& name, const std::string& fill = "ff") {
  const std::string command = "ASAN_OPTIONS=detect_leaks=0 DRAGON_ALLOCATOR=naive DRAGON_SIMT_FILL=" + fill +
                              " /proc/" + std::to_string(getpid()) + "/exe --run " + name + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  CHECK(pipe);
  std::string words;
  char part[4096];
  while (const size_t bytes = std::fread(part, 1, sizeof(part), pipe)) words.append(part, bytes);
  pclose(pipe);
  return words;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// All that the program printed; AddressSanitizer begins by telling that it does not know fibres by itself.
bool Says(const std::string& name, const std::string& fill, const std::string& end) {
  const std::string words = WordsOf(name, fill);
  const bool ends = words.size() >= end.size() && words.compare(words.size() - end.size(), end.size(), end) == 0;
  return ends && !Has(words, "ERROR");
}

#ifdef __SANITIZE_ADDRESS__
void CheckFound(const char* name, const char* kernel) {
  const std::string words = WordsOf(name);
  if (!Has(words, "ERROR: AddressSanitizer") || !Has(words, kernel) || Has(words, "lived")) {
    test::Fail(__FILE__, __LINE__, std::string(name) + " was not found:\n" + words);
  }
}

TEST(OneElementPastATensorIsFound) {
  CheckFound("read_past", "CopyUpTo");
  CheckFound("write_past", "WriteUpTo");
  CheckFound("write_byte_past", "WriteUpTo");
  CheckFound("read_freed", "CopyUpTo");
}
TEST(OneElementPastSharedMemoryIsFound) {
  CheckFound("shared_past", "TakeNextOfShared");
  CheckFound("asked_past", "TakeNextOfAsked");
  CheckFound("function_past", "TakeNextInFunction");
}
#endif

TEST(WhatIsRightIsNotFound) { CHECK(Says("within", "ff", "lived\n")); }

TEST(UnwrittenMemoryIsWhatWasAskedFor) {
  for (const char* name : {"shared_unwritten", "asked_unwritten"}) {
    CHECK(Says(name, "ff", "nan -nan lived\n") || Says(name, "ff", "nan nan lived\n"));
    CHECK(Says(name, "00", "1 1 lived\n"));  // the second block does not find what the first one has left
  }
  CHECK(Says("tensor_unwritten", "00", "0 0 lived\n"));
  CHECK(!Says("tensor_unwritten", "3c", "0 0 lived\n"));
  CHECK(Has(WordsOf("within", "xy"), "two hexadecimal digits"));
}

TEST(AMissingBarrierShows) {
  CHECK(Has(WordsOf("no_barrier"), "nan"));
  CHECK(Has(WordsOf("no_barrier", "00"), "0 0 0 0 0"));
}

TEST(ABarrierThatNotAllReachIsTold) {
  for (int again = 0; again < 2; ++again) {
    CHECK_THROWS(cuda::Launch("halves", Here(), WaitByHalf, {dim3(3), dim3(kBlock)}), RuntimeError, "halves");
    Numbers x(kCount), y(kCount);  // what comes after it finds the machine as it was
    cuda::Launch("within", Here(), CopyUpTo, {dim3(2), dim3(kBlock)}, y.data(), x.data(), kCount - 1);
    CHECK(y.Read() == x.Read());
  }
}

TEST(AnAddressOfTheHostIsTold) {
  Numbers y(kCount);
  const std::vector<float> x(kCount + 1);
  CHECK_THROWS(cuda::Launch("copy", Here(), CopyUpTo, {dim3(1), dim3(kBlock)}, y.data(), x.data(), 1), RuntimeError,
               "an address of the host");
}

TEST(ALaunchThatNoCardTakesIsTold) {
  for (const cuda::Grid& grid :
       {cuda::Grid{dim3(0), dim3(1)}, {dim3(1), dim3(1025)}, {dim3(1), dim3(1), 227 * 1024 + 1}}) {
    CHECK_THROWS(cuda::Launch("halves", Here(), WaitByHalf, grid), RuntimeError, "halves");
  }
}

}  // namespace
}  // namespace dragon

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--run") return dragon::RunFault(argv[2]), 0;
  return dragon::test::Main(argc, argv);
}
