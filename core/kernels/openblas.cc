// Finds OpenBLAS at the first call, keeps its threads from colliding with ours, and its want of memory from the
// process.
#include "core/kernels/openblas.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/device/library.h"
#include "core/device/parallel.h"
#include "core/device/room.h"

namespace dragon {

namespace {

constexpr const char* kFile = "libscipy_openblas.so";

// Where OpenBLAS gets no buffer or no thread, it ends the process. What it may ask for is therefore looked for before.
constexpr size_t kBufferBytes = 32 << 20;           // of the build that is packaged
constexpr size_t kSeatBytes = 2 * kBufferBytes;     // what one caller has in use, routines within routines
constexpr size_t kLibraryBytes = size_t{64} << 20;  // the library itself is 42 MB

std::vector<std::string> Candidates() {
  std::vector<std::string> paths = {LibraryFolder() + "/" + kFile};
  if (const char* wish = std::getenv("DRAGON_OPENBLAS"); wish && *wish) paths.emplace_back(wish);
#ifdef DRAGON_OPENBLAS_FOLDER
  paths.push_back(std::string(DRAGON_OPENBLAS_FOLDER) + "/" + kFile);
#endif
  return paths;
}

/// While it lives, OpenBLAS starts no thread as it is loaded: it would start one for each processor.
class AloneWhileLoading {
 public:
  AloneWhileLoading() : told_(std::getenv(kVariable) != nullptr) {
    if (!told_) setenv(kVariable, "1", 0);
  }
  ~AloneWhileLoading() {
    if (!told_) unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "OPENBLAS_NUM_THREADS";
  bool told_;
};

/// Have OpenBLAS get the buffers of one caller, which it keeps: an inverse takes both.
void TakeSeat(void* handle) {
  using Factor = void (*)(const int*, const int*, double*, const int*, int*, int*);
  using Invert = void (*)(const int*, double*, const int*, const int*, double*, const int*, int*);
  const auto factor = reinterpret_cast<Factor>(dlsym(handle, "scipy_dgetrf_"));
  const auto invert = reinterpret_cast<Invert>(dlsym(handle, "scipy_dgetri_"));
  if (!factor || !invert) return;
  double matrix[] = {2, 1, 1, 2}, work[64] = {};
  int pivots[2], info = 0;
  const int size = 2, room = 64;
  factor(&size, &size, matrix, &size, pivots, &info);
  invert(&size, matrix, &size, pivots, work, &room, &info);
}

void* Load() {
  std::string words;
  if (!HasRoomFor(kLibraryBytes + kSeatBytes)) {
    throw MemoryError("OpenBLAS").Says("the system has no room left to load it: it takes some 130 MiB");
  }
  const AloneWhileLoading alone;
  for (const std::string& path : Candidates()) {
    // Local, so that another OpenBLAS in the process (NumPy's, SciPy's) keeps its own symbols.
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      TakeSeat(handle);
      return handle;
    }
    words += (words.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw RuntimeError("OpenBLAS")
      .Says("could not be loaded: ", words)
      .Hint("DRAGON_OPENBLAS may hold the path to ", kFile);
}

void* Library() {
  static void* const handle = Load();  // std::call_once would hang before glibc 2.34, once this threw
  return handle;
}

void* Find(const char* name) {
  const std::string symbol = std::string("scipy_") + name;  // this build of OpenBLAS prefixes its names
  void* address = dlsym(Library(), symbol.c_str());
  if (!address) throw RuntimeError("OpenBLAS").Got("the name ", symbol).Expected("a routine that ", kFile, " has");
  return address;
}

std::atomic<int> g_threads{0};

/// Callers that are in OpenBLAS now. The first one's buffers were taken when it was loaded.
struct Seats {
  std::mutex mutex;
  std::condition_variable left;
  int taken = 0;
};
Seats& TheSeats() {
  static Seats* const seats = [] {  // never destroyed: threads may outlive static destructors
    auto* made = new Seats;
    pthread_atfork([] { TheSeats().mutex.lock(); }, [] { TheSeats().mutex.unlock(); },
                   [] { TheSeats().mutex.unlock(); });
    return made;
  }();
  return *seats;
}
thread_local int t_seats = 0;

}  // namespace

BlasSeat::BlasSeat() {
  if (t_seats++ > 0) return;  // this thread has one
  Seats& seats = TheSeats();
  std::unique_lock<std::mutex> lock(seats.mutex);
  while (seats.taken > 0 && !HasRoomFor(kSeatBytes)) seats.left.wait(lock);
  ++seats.taken;
}

BlasSeat::~BlasSeat() {
  if (--t_seats > 0) return;
  Seats& seats = TheSeats();
  {
    std::lock_guard<std::mutex> lock(seats.mutex);
    --seats.taken;
  }
  seats.left.notify_one();
}

void* OpenBlasSymbol(const char* name) {
  if (g_threads.load(std::memory_order_relaxed) == 0) SetOpenBlasThreads(1);  // else each call would use every core
  return Find(name);
}

void SetOpenBlasThreads(int count) {
  using Setter = void (*)(int);
  static const auto set = reinterpret_cast<Setter>(Find("openblas_set_num_threads"));
  if (omp_in_parallel() || ForkedFromTeam()) count = 1;
  count = std::max(1, std::min(count, NumThreads()));
  static std::atomic<int> most{1};  // threads that OpenBLAS has started keep what they have
  if (count > most.load(std::memory_order_relaxed)) {
    if (HasRoomForThreads(count - 1, kBufferBytes + kSeatBytes)) {
      most = count;
    } else {
      count = 1;
    }
  }
  if (g_threads.exchange(count) != count) set(count);
}

}  // namespace dragon
