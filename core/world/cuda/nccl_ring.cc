// Calls of a communicator of NCCL's, and the end of those that hang.
#include "core/world/cuda/nccl_ring.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/world/cuda/nccl_watch.h"
#include "core/world/patience.h"

namespace dragon::cuda {

namespace {

constexpr auto kRest = std::chrono::milliseconds(1);
constexpr auto kGrace = std::chrono::seconds(1);  // for work whose other side has ended to end as well

Accelerator& Devices() { return AcceleratorOf(DeviceType::kCUDA); }

NcclConfig ConfigOf(const DeviceOptions& options) {
  NcclConfig config;
  config.blocking = 0;  // a rank that never comes would be waited for without an end
  if (options.cluster_size >= 0) config.cluster_size = options.cluster_size;
  if (options.least_blocks >= 0) config.least_blocks = options.least_blocks;
  if (options.most_blocks >= 0) config.most_blocks = options.most_blocks;
  if (!options.net_name.empty()) config.net_name = options.net_name.c_str();
  return config;
}

}  // namespace

NcclStatus Outside(const std::function<NcclStatus()>& call) {
  if (!Waiting().sleep) return call();
  NcclStatus status = NcclStatus::kSuccess;
  Waiting().sleep([&] { status = call(); });
  return status;
}

NcclRing::NcclRing(Device device, const DeviceOptions& options, std::weak_ptr<Communicator> host)
    : device_(device), seconds_(options.seconds), options_(options), host_(std::move(host)) {}

std::shared_ptr<NcclRing> NcclRing::Join(const NcclId& id, int rank, int size, Device device,
                                         const DeviceOptions& options, std::weak_ptr<Communicator> host) {
  auto made = std::make_shared<NcclRing>(device, options, std::move(host));
  (void)Devices().CurrentStream(device.index);  // which makes the device current
  NcclConfig config = ConfigOf(options);
  const auto begun = Clock::now();
  const NcclStatus status =
      Outside([&] { return NcclLibrary().init_rank_config(&made->handle_, size, id, rank, &config); });
  made->Settle("NCCL: join", status, begun);
  Watch(made);
  return made;
}

std::shared_ptr<NcclRing> NcclRing::Adopt(NcclHandle handle, Device device) {
  auto made = std::make_shared<NcclRing>(device, DeviceOptions{}, std::weak_ptr<Communicator>{});
  made->handle_ = handle;
  Watch(made);
  return made;
}

/// Nobody is told what goes wrong here; a process that was forked has no device.
NcclRing::~NcclRing() {
  if (!handle_ || aborted_ || Devices().IsLostToFork()) return;
  try {
    DropDone();
    const bool hangs = !pending_.empty();
    for (const Pending& each : pending_) {
      if (each.event) Devices().DropEvent(device_.index, each.event);
    }
    (void)Devices().CurrentStream(device_.index);
    (void)(hangs ? NcclLibrary().abort(handle_) : NcclLibrary().destroy(handle_));
  } catch (const std::exception&) {
  }
}

std::string NcclRing::why() {
  std::lock_guard lock(mutex_);
  return why_;
}

void NcclRing::CheckWhole(const std::string& who) {
  std::lock_guard lock(mutex_);
  if (why_.empty()) return;
  told_ = true;
  throw RuntimeError(who.c_str()).Says(why_, "; the group is of no use any more, expected a new one");
}

void NcclRing::Tell() {
  {
    std::lock_guard lock(mutex_);
    if (why_.empty() || told_) return;
  }
  CheckWhole("NCCL");
}

bool NcclRing::IsLate(Clock::time_point begun) const {
  const double seconds = seconds_;
  return seconds >= 0 && std::chrono::duration<double>(Clock::now() - begun).count() > seconds;
}

/// Calls of this kind of communicator may return before they are begun: look until they are.
void NcclRing::Settle(const std::string& who, NcclStatus status, Clock::time_point begun) {
  while (status == NcclStatus::kInProgress) {
    if (Waiting().sleep) Waiting().sleep([] { std::this_thread::sleep_for(kRest); });
    if (const NcclStatus asked = NcclLibrary().get_async_error(handle_, &status); asked != NcclStatus::kSuccess)
      status = asked;
    if (Waiting().look_around) Waiting().look_around();
    if (status != NcclStatus::kInProgress) break;
    const auto host = host_.lock();
    std::string trouble = host ? host->Trouble() : std::string{};
    if (trouble.empty() && IsLate(begun)) trouble = "a rank has not come in time";
    if (!trouble.empty()) Abort(trouble + " (this one waited in " + who + ")");
    CheckWhole(who);
  }
  if (status == NcclStatus::kSuccess) return;
  CheckWhole(who);
  const std::string words = NcclWords(status, handle_);
  Abort("NCCL error " + std::to_string(static_cast<int>(status)) + " in " + who + ": " + words);
  CheckWhole(who);
}

/// Graphs that are noted down cannot be watched: they run whenever they do.
NcclRing::Pending* NcclRing::Begin(const std::string& who) {
  CheckWhole(who);
  if (CapturesUnderWay().load() > 0) return nullptr;
  std::lock_guard lock(mutex_);
  return &pending_.emplace_back(Pending{who, Clock::now()});
}

/// The event is recorded behind the call.
void NcclRing::End(const std::string& who, NcclStatus status, Pending* pending) {
  Settle(who, status, pending ? pending->begun : Clock::now());
  if (!pending) return;
  void* const stream = Devices().CurrentStream(device_.index);
  void* const event = Devices().NewEvent(device_.index, false, false, false);
  Devices().RecordEvent(device_.index, event, stream);
  std::lock_guard lock(mutex_);
  pending->event = event;
}

void NcclRing::Run(const std::string& who, const Call& call) {
  const Part part{this, call};
  RunTogether(who, {&part, 1});
}

void NcclRing::RunTogether(const std::string& who, std::span<const Part> parts) {
  for (const Part& part : parts) part.ring->CheckWhole(who);
  std::vector<Pending*> pending;
  for (const Part& part : parts) pending.push_back(part.ring->Begin(who));
  const NcclFunctions& library = NcclLibrary();
  std::vector<void*> streams;
  for (const Part& part : parts) streams.push_back(Devices().CurrentStream(part.ring->device_.index));
  for (const Part& part : parts) part.ring->inside_ = true;
  const NcclStatus status = Outside([&] {
    NcclStatus found = library.group_start();
    for (size_t i = 0; i < parts.size() && found == NcclStatus::kSuccess; ++i) {
      const NcclRing& ring = *parts[i].ring;
      if (parts.size() > 1) (void)Devices().CurrentStream(ring.device_.index);
      found = parts[i].call(ring.handle_, static_cast<cudaStream_t>(streams[i]));
      if (found == NcclStatus::kInProgress) found = NcclStatus::kSuccess;
    }
    const NcclStatus ended = library.group_end();  // also of a group that went wrong: others may follow
    return found == NcclStatus::kSuccess ? ended : found;
  });
  for (const Part& part : parts) part.ring->inside_ = false;
  for (size_t i = 0; i < parts.size(); ++i) parts[i].ring->End(who, status, pending[i]);
}

void NcclRing::Abort(const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
    if (std::exchange(aborted_, true)) return;
  }
  if (handle_) (void)NcclLibrary().abort(handle_);
}

void NcclRing::DropDone() {
  std::lock_guard lock(mutex_);
  while (!pending_.empty() && pending_.front().event && Devices().EventIsDone(device_.index, pending_.front().event)) {
    Devices().DropEvent(device_.index, pending_.front().event);
    pending_.pop_front();
  }
}

bool NcclRing::HasWaited(const Pending& oldest) {
  if (gone_for_ != oldest.begun) gone_for_ = oldest.begun, gone_since_ = Clock::now();
  return Clock::now() - gone_since_ >= kGrace;
}

std::string NcclRing::TroubleOf(const Pending& oldest) {
  NcclStatus status = NcclStatus::kSuccess;
  const NcclStatus asked = NcclLibrary().get_async_error(handle_, &status);
  if (asked != NcclStatus::kSuccess) status = asked;
  if (status != NcclStatus::kSuccess && status != NcclStatus::kInProgress)
    return "NCCL error " + std::to_string(static_cast<int>(status)) + ": " + NcclWords(status, handle_);
  const auto host = host_.lock();
  if (host) {
    if (std::string trouble = host->Trouble(); !trouble.empty() && HasWaited(oldest)) return trouble;
  }
  return IsLate(oldest.begun) ? "a rank has not come in time" : std::string{};
}

void NcclRing::Look() {
  if (CapturesUnderWay().load() > 0) return;
  DropDone();
  Pending oldest;
  {
    std::lock_guard lock(mutex_);
    if (pending_.empty() || aborted_) return;
    oldest = pending_.front();
  }
  // One that has returned, and is waited for by who called, ends itself.
  if (!oldest.event && !inside_) return;
  if (const std::string trouble = TroubleOf(oldest); !trouble.empty())
    Abort(trouble + " (this one waited in " + oldest.who + ")");
}

}  // namespace dragon::cuda
