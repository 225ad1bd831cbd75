// A thread that looks at what communicators of NCCL's have not ended.
#pragma once

#include <memory>

namespace dragon::cuda {

class NcclRing;

/// Have it looked at as long as it lives.
void Watch(const std::shared_ptr<NcclRing>& ring);

}  // namespace dragon::cuda
