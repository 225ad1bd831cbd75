// Processes as files, which tell when they end.
#include "core/world/peers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace dragon {

namespace {

constexpr int kGone = -2, kUnwatched = -1;

int Watch(int process) {
  if (process <= 0) return kUnwatched;
  const long file = syscall(SYS_pidfd_open, process, 0);
  if (file >= 0) return static_cast<int>(file);
  return errno == ESRCH ? kGone : kUnwatched;
}

}  // namespace

Peers::Peers(const std::vector<int>& processes) : processes_(processes) {
  for (const int process : processes) files_.push_back(Watch(process));
}

Peers::~Peers() {
  for (const int file : files_) {
    if (file >= 0) close(file);
  }
}

bool Peers::Gone(int rank) const {
  if (files_[rank] < 0) return files_[rank] == kGone;
  pollfd asked{files_[rank], POLLIN, 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN);
}

}  // namespace dragon
