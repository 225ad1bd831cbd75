// What the operators of groups have in common.
#include "core/ops/distributed/group.h"

#include "core/kernels/world.h"

namespace dragon {

Reduction ReductionOf(const CallReader& c, const Communicator& group) {
  const std::string& name = c.String("reduction");
  for (uint32_t i = 0; i <= static_cast<uint32_t>(Reduction::kAverage); ++i) {
    const auto reduction = static_cast<Reduction>(i);
    if (name != NameOf(reduction)) continue;
    // Asked before anything is begun: who gives up in the middle leaves the others without a group.
    if (!group.CanReduce(c.x("x").dtype(), reduction)) {
      throw TypeError(c.name())
          .Got("the reduction '", name, "' of ", c.x("x").dtype(), " on ", c.x("x").device())
          .Expected("one that it has there");
    }
    return reduction;
  }
  throw ValueError(c.name())
      .Got("the reduction '", name, "'")
      .Expected("sum, average, product, minimum, maximum, and, or, or xor");
}

int RootOf(const CallReader& c, const Communicator& group) {
  const int64_t root = c.Int("root");
  if (root < 0 || root >= group.size()) {
    throw ValueError(c.name()).Got("rank ", root).Expected("one of the group's, 0 to ", group.size() - 1);
  }
  return static_cast<int>(root);
}

void CheckLinear(const char* who, const std::string& reduction) {
  if (reduction == "sum" || reduction == "average") return;
  throw NotImplementedError(who)
      .Got("the gradient of the reduction '", reduction, "'")
      .Expected("that of sum or average");
}

void InferRows(Infer& i) { i.y(0, i.x("x").shape(), i.x("x").dtype()); }

void InferGathered(Infer& i) {
  const int64_t size = Group(i)->size();
  Dims shape = i.x("x").shape();
  if (shape.size() == 0) {
    shape = Dims{size};
  } else {
    shape[0] *= size;
  }
  i.y(0, shape, i.x("x").dtype());
}

void InferDealt(Infer& i) {
  const int64_t size = Group(i)->size();
  Dims shape = i.x("x").shape();
  if (shape.size() == 0 || shape[0] % size != 0) {
    throw ValueError(i.name())
        .Got("a tensor of shape ", shape)
        .Expected("a first axis that ", size, " ranks share out evenly");
  }
  shape[0] /= size;
  i.y(0, shape, i.x("x").dtype());
}

}  // namespace dragon
