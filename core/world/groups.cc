// The table of groups, and what becomes of it in forks.
#include "core/world/groups.h"

#include <pthread.h>

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/world/staged.h"

namespace dragon {

namespace {

/// Who carries tensors of one kind of device, and the communicators that were made so far.
struct Served {
  Service service = Service::kDevice;
  DeviceOptions options{};
  std::map<int, std::shared_ptr<Communicator>> communicators{};  // by the device's number
};

struct Group {
  std::shared_ptr<Communicator> communicator;
  int forks;  ///< that lie between the first process and the one that made it
  std::map<DeviceType, Served> served{{DeviceType::kCPU, {Service::kHost}}};
  std::shared_ptr<std::mutex> making = std::make_shared<std::mutex>();
};

struct Groups {
  std::mutex mutex;
  std::unordered_map<int64_t, Group> by_number;
  int64_t next = 1;
  int forks = 0;
};
Groups& TheGroups() {
  static auto* groups = new Groups;
  return *groups;
}

void BeforeFork() { TheGroups().mutex.lock(); }
void AfterFork() { TheGroups().mutex.unlock(); }
void AfterForkInChild() {
  ++TheGroups().forks;
  AfterFork();
}
[[maybe_unused]] const int counted = pthread_atfork(&BeforeFork, &AfterFork, &AfterForkInChild);

}  // namespace

int64_t AddGroup(std::shared_ptr<Communicator> communicator) {
  Groups& groups = TheGroups();
  std::lock_guard lock(groups.mutex);
  groups.by_number[groups.next] = {std::move(communicator), groups.forks};
  return groups.next++;
}

bool RemoveGroup(int64_t number) {
  Groups& groups = TheGroups();
  std::lock_guard lock(groups.mutex);
  return groups.by_number.erase(number) == 1;
}

namespace {

/// With the lock of all groups.
Group& Find(const char* who, int64_t number) {
  Groups& groups = TheGroups();
  const auto found = groups.by_number.find(number);
  if (found == groups.by_number.end()) {
    throw ValueError(who).Got("group ", number, ", which there is not (any more)").Expected("a group that was made");
  }
  if (found->second.forks != groups.forks) {
    throw ValueError(who)
        .Got("a call in a process that was forked from a member of the group")
        .Expected("one in the member itself");
  }
  return found->second;
}

/// Made without the lock of all groups, since others are waited for.
std::shared_ptr<Communicator> Made(const char* who, const std::shared_ptr<Communicator>& host, Device device,
                                   Service service, const DeviceOptions& options) {
  if (service == Service::kHost) return std::make_shared<StagedCommunicator>(host, device);
  DeviceWorld* const world = DeviceWorldOf(device.type);
  if (!world) {
    throw RuntimeError(who)
        .Says("No backend type associated with device type ", Name(device.type))
        .Got("a tensor on ", device, ", whose library has no collectives")
        .Expected("a group of the backend gloo, which carries any device's tensors by way of the host");
  }
  return world->Join(host, device, options);
}

}  // namespace

std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number) {
  std::lock_guard lock(TheGroups().mutex);
  return Find(who, number).communicator;
}

void ServeGroup(int64_t number, DeviceType type, Service service, const DeviceOptions& options) {
  if (type == DeviceType::kCPU && service == Service::kDevice) service = Service::kHost;
  std::lock_guard lock(TheGroups().mutex);
  Served& served = Find("group", number).served[type];
  served.service = service, served.options = options;
}

void SetGroupTimeout(int64_t number, double seconds) {
  std::vector<std::shared_ptr<Communicator>> all;
  {
    std::lock_guard lock(TheGroups().mutex);
    Group& group = Find("group", number);
    all.push_back(group.communicator);
    for (auto& [type, served] : group.served) {
      served.options.seconds = seconds;
      for (const auto& [index, communicator] : served.communicators) all.push_back(communicator);
    }
  }
  for (const auto& each : all) each->SetTimeout(seconds);
}

std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number, Device device) {
  std::shared_ptr<Communicator> host;
  std::shared_ptr<std::mutex> making;
  Served served;
  const auto known = [&]() -> std::shared_ptr<Communicator> {
    std::lock_guard lock(TheGroups().mutex);
    Group& group = Find(who, number);
    Served& there = group.served[device.type];
    const auto found = there.communicators.find(device.index);
    if (found != there.communicators.end()) return found->second;
    host = group.communicator, making = group.making;
    served.service = there.service, served.options = there.options;
    return device.is_cpu() && there.service == Service::kHost ? host : nullptr;
  };
  if (auto found = known()) return found;
  if (served.service == Service::kNobody) {
    throw RuntimeError(who)
        .Says("No backend type associated with device type ", Name(device.type))
        .Got("a tensor on ", device, " in a group that carries none of those")
        .Expected("one of a device that its backend serves: gloo serves cpu and cuda, nccl serves cuda");
  }
  std::lock_guard one_at_a_time(*making);
  if (auto found = known()) return found;
  auto made = Made(who, host, device, served.service, served.options);
  std::lock_guard lock(TheGroups().mutex);
  return Find(who, number).served[device.type].communicators[device.index] = std::move(made);
}

}  // namespace dragon
