// The table of groups, and what becomes of it in forks.
#include "core/world/groups.h"

#include <pthread.h>

#include <mutex>
#include <unordered_map>

#include "core/base/error.h"

namespace dragon {

namespace {

struct Group {
  std::shared_ptr<Communicator> communicator;
  int forks;  ///< that lie between the first process and the one that made it
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

std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number) {
  Groups& groups = TheGroups();
  std::lock_guard lock(groups.mutex);
  const auto found = groups.by_number.find(number);
  if (found == groups.by_number.end()) {
    throw ValueError(who).Got("group ", number, ", which there is not (any more)").Expected("a group that was made");
  }
  if (found->second.forks != groups.forks) {
    throw ValueError(who)
        .Got("a call in a process that was forked from a member of the group")
        .Expected("one in the member itself");
  }
  return found->second.communicator;
}

}  // namespace dragon
