// Who stands in: one line for every kernel that a `.cu` file enters by way of a vendor's library.
#include "tests/cuda/simt/stand_ins.h"

namespace simt {
namespace {

}  // namespace
}  // namespace simt
