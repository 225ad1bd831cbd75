// Fibres that take turns: the scheduler below is all there is of a GPU.
#include "tests/cuda/simt/machine.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/device/host_cache.h"
#include "tests/cuda/simt/shared.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
constexpr unsigned kWarp = 32, kMostThreads = 1024;

enum class State : uint8_t { kReady, kAtBlockBarrier, kAtWarpBarrier, kEnded };

struct Fibre {
  ucontext_t context;
  char* stack = nullptr;
  State state = State::kReady;
  Here here;
  uint32_t mask = 0;  // of the warp barrier that it waits at
  bool vote = false;
  bool is_left = false;  // in the middle, by a launch that failed
  void* fake_stack = nullptr;
};

/// One warp's post box.
struct Warp {
  alignas(16) unsigned char given[kWarp][16];
  uint32_t votes = 0;
};

/// A launch's shared memory.
struct SharedOfLaunch {
  explicit SharedOfLaunch(size_t bytes) { SharedMemory::Get().BeginLaunch(bytes); }
  ~SharedOfLaunch() { SharedMemory::Get().EndLaunch(); }
};

/// The host's tensors, out of reach of a kernel where DRAGON_ALLOCATOR=guard can do that.
struct SealedHost {
  SealedHost() { dragon::SealHost(true); }
  ~SealedHost() { dragon::SealHost(false); }
};

class Machine {
 public:
  static Machine& Get() {
    static auto* machine = new Machine;
    return *machine;
  }

  void Run(const char* who, Place blocks, Place threads, size_t shared_bytes, const std::function<void()>& body) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    const unsigned count = threads.x * threads.y * threads.z;
    if (count == 0 || count > kMostThreads || blocks.x == 0 || blocks.y == 0 || blocks.z == 0 || blocks.y > 65535 ||
        blocks.z > 65535 || shared_bytes > SharedMemory::kMost) {
      throw dragon::RuntimeError(who)
          .Got("a launch of ", blocks.x, "x", blocks.y, "x", blocks.z, " blocks of ", count, " threads with ",
               shared_bytes, " bytes of shared memory")
          .Expected("1 to 1024 threads, at least a block, and no more than 232448 bytes");
    }
    who_ = who, body_ = &body, count_ = count;
    const OpenMemory open;
    const SealedHost sealed;
    const SharedOfLaunch shared(shared_bytes);
    Prepare(count);
    for (unsigned z = 0; z < blocks.z; ++z) {
      for (unsigned y = 0; y < blocks.y; ++y) {
        for (unsigned x = 0; x < blocks.x; ++x) RunBlock({x, y, z}, threads, blocks);
      }
    }
  }

  const Here& now() const { return current_->here; }

  int BlockBarrier(bool vote) {
    current_->vote = vote;
    Wait(State::kAtBlockBarrier);
    return votes_;
  }
  void WarpBarrier(uint32_t mask) {
    if (!(mask >> current_->here.lane & 1)) {
      Fail(dragon::RuntimeError(who_).Got("a warp operation by a lane outside of its own mask").Expected("one inside"));
    }
    current_->mask = mask;
    Wait(State::kAtWarpBarrier);
  }
  void Exchange(uint32_t mask, const void* given, void* taken, size_t bytes, unsigned source) {
    Warp& warp = warps_[current_->here.warp];
    std::memcpy(warp.given[current_->here.lane], given, bytes);
    WarpBarrier(mask);
    std::memcpy(taken, warp.given[source % kWarp], bytes);
    WarpBarrier(mask);
  }
  uint32_t Ballot(uint32_t mask, bool vote) {
    Warp& warp = warps_[current_->here.warp];
    const uint32_t bit = uint32_t{1} << current_->here.lane;
    warp.votes = vote ? warp.votes | bit : warp.votes & ~bit;
    WarpBarrier(mask);
    const uint32_t votes = warp.votes & mask;
    WarpBarrier(mask);
    return votes;
  }

 private:
  void Prepare(unsigned count) {
    while (fibres_.size() < count) {
      fibres_.push_back(std::make_unique<Fibre>());
      void* stack =
          mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stack == MAP_FAILED) throw dragon::MemoryError("simt").Says("no memory for a thread's stack");
      fibres_.back()->stack = static_cast<char*>(stack);
    }
    warps_.resize(kMostThreads / kWarp);
  }

  void RunBlock(Place block, Place threads, Place blocks) {
    SharedMemory::Get().BeginBlock();
    failure_ = nullptr;
    for (unsigned i = 0; i < count_; ++i) {
      Fibre& fibre = *fibres_[i];
      fibre.here = {{i % threads.x, i / threads.x % threads.y, i / (threads.x * threads.y)},
                    block,
                    threads,
                    blocks,
                    i % kWarp,
                    i / kWarp};
      fibre.state = State::kReady;
      ClearStack(fibre);
      getcontext(&fibre.context);
      fibre.context.uc_stack.ss_sp = fibre.stack;
      fibre.context.uc_stack.ss_size = kStackBytes;
      fibre.context.uc_link = nullptr;
      makecontext(&fibre.context, &Machine::Enter, 0);
    }
    for (bool backwards = block.x & 1;; backwards = !backwards) {
      bool moved = false;
      for (unsigned i = 0; i < count_ && !failure_; ++i) {
        Fibre& fibre = *fibres_[backwards ? count_ - 1 - i : i];
        if (fibre.state != State::kReady) continue;
        moved = true;
        SwitchTo(fibre);
      }
      if (failure_) Leave(), std::rethrow_exception(failure_);
      moved |= ReleaseWarps();
      if (!moved && !ReleaseBlock()) break;
    }
    for (unsigned i = 0; i < count_; ++i) {
      if (fibres_[i]->state == State::kEnded) continue;
      Leave();
      throw dragon::RuntimeError(who_)
          .Got("threads of a block that wait for others which have ended or wait elsewhere")
          .Expected("every lane of a mask at one warp operation, every thread of a block at one barrier");
    }
  }

  /// The fibres that have not ended will not go on.
  void Leave() {
    for (unsigned i = 0; i < count_; ++i) fibres_[i]->is_left = fibres_[i]->state != State::kEnded;
  }

  /// A function that returns has what it marked around its variables unmarked; one that is left has not. Those in which
  /// every fibre ends lie in the last bytes.
  void ClearStack(Fibre& fibre) {
    constexpr size_t kOfEnd = 4096;
    const size_t bytes = fibre.is_left ? kStackBytes : kOfEnd;
    Mark(fibre.stack + kStackBytes - bytes, bytes, true);
    fibre.is_left = false;
  }

  /// Let the lanes go on whose whole mask has arrived.
  bool ReleaseWarps() {
    bool released = false;
    for (unsigned first = 0; first < count_; first += kWarp) {
      const unsigned last = std::min(first + kWarp, count_);
      for (unsigned i = first; i < last; ++i) {
        if (fibres_[i]->state != State::kAtWarpBarrier) continue;
        const uint32_t mask = fibres_[i]->mask;
        bool complete = true;
        for (unsigned lane = 0; lane < kWarp; ++lane) {
          if (!(mask >> lane & 1)) continue;
          // A full mask in a block whose last warp is not full: the hardware has no such lanes, and waits for none.
          if (first + lane >= count_) continue;
          const Fibre& other = *fibres_[first + lane];
          complete &= other.state == State::kEnded || (other.state == State::kAtWarpBarrier && other.mask == mask);
        }
        if (!complete) continue;
        for (unsigned lane = 0; lane < kWarp && first + lane < count_; ++lane) {
          if ((mask >> lane & 1) && fibres_[first + lane]->state == State::kAtWarpBarrier) {
            fibres_[first + lane]->state = State::kReady;
          }
        }
        released = true;
      }
    }
    return released;
  }

  /// Let everybody go on when all that live are at the block's barrier.
  bool ReleaseBlock() {
    bool any = false;
    for (unsigned i = 0; i < count_; ++i) {
      if (fibres_[i]->state == State::kAtWarpBarrier) return false;
      any |= fibres_[i]->state == State::kAtBlockBarrier;
    }
    if (!any) return false;
    votes_ = 0;
    for (unsigned i = 0; i < count_; ++i) {
      if (fibres_[i]->state != State::kAtBlockBarrier) continue;
      votes_ += fibres_[i]->vote;
      fibres_[i]->state = State::kReady;
    }
    return true;
  }

  void SwitchTo(Fibre& fibre) {
    current_ = &fibre;
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, fibre.stack, kStackBytes);
    swapcontext(&host_, &fibre.context);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    swapcontext(&host_, &fibre.context);
#endif
    current_ = nullptr;
  }

  /// Back to the scheduler, in a state.
  void Wait(State state) {
    Fibre& fibre = *current_;
    fibre.state = state;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(state == State::kEnded ? nullptr : &fibre.fake_stack, host_stack_,
                                   host_stack_bytes_);
    swapcontext(&fibre.context, &host_);
    __sanitizer_finish_switch_fiber(fibre.fake_stack, nullptr, nullptr);
#else
    swapcontext(&fibre.context, &host_);
#endif
  }

  static void Enter() {
    Machine& machine = Get();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &machine.host_stack_, &machine.host_stack_bytes_);
#endif
    try {
      (*machine.body_)();
    } catch (...) {
      machine.failure_ = std::current_exception();
    }
    machine.Wait(State::kEnded);
  }

  template <typename E>
  [[noreturn]] void Fail(E error) {
    throw error;
  }

  std::recursive_mutex mutex_;
  const char* who_ = "";
  const std::function<void()>* body_ = nullptr;
  unsigned count_ = 0;
  int votes_ = 0;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Warp> warps_;
  Fibre* current_ = nullptr;
  ucontext_t host_;
  std::exception_ptr failure_;
#if defined(__SANITIZE_ADDRESS__)
  const void* host_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
#endif
};

}  // namespace

const Here& Now() { return Machine::Get().now(); }
void* DynamicShared() { return SharedMemory::Get().dynamic(); }
void Run(const char* who, Place blocks, Place threads, size_t shared_bytes, std::function<void()> body) {
  if (Noted* const noted = NotedByThread()) {
    noted->works.push_back([=, who = std::string(who), body = std::move(body)] {
      Machine::Get().Run(who.c_str(), blocks, threads, shared_bytes, body);
    });
    return;
  }
  Machine::Get().Run(who, blocks, threads, shared_bytes, body);
}
Noted*& NotedByThread() {
  static thread_local Noted* noted = nullptr;
  return noted;
}
void Queue(std::function<void()> work) {
  if (Noted* const noted = NotedByThread()) {
    noted->works.push_back(std::move(work));
    return;
  }
  const OpenMemory open;
  work();
}
int BlockBarrier(bool vote) { return Machine::Get().BlockBarrier(vote); }
void WarpBarrier(uint32_t mask) { Machine::Get().WarpBarrier(mask); }
void Exchange(uint32_t mask, const void* given, void* taken, size_t bytes, unsigned source) {
  Machine::Get().Exchange(mask, given, taken, bytes, source);
}
uint32_t Ballot(uint32_t mask, bool vote) { return Machine::Get().Ballot(mask, vote); }

}  // namespace simt
