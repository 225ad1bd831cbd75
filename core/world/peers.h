// The processes of a group, watched: who is gone is no longer waited for.
#pragma once

#include <vector>

#include "core/base/macros.h"

namespace dragon {

class DRAGON_API Peers {
 public:
  /// Watch processes by their ids; 0 for those that cannot be watched, which a time limit has to do for.
  explicit Peers(const std::vector<int>& processes);
  Peers(const Peers&) = delete;
  ~Peers();

  /// Whether a process has ended, waited for by its parent or not.
  bool Gone(int rank) const;
  int process(int rank) const { return processes_[rank]; }

 private:
  std::vector<int> processes_, files_;
};

}  // namespace dragon
