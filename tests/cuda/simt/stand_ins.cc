// Who stands in: one line for every kernel that a `.cu` file enters by way of a vendor's library.
#include "tests/cuda/simt/stand_ins.h"

#include "core/kernels/linalg.h"

namespace simt {
namespace {

[[maybe_unused]] const bool g_cholesky = Stand<dragon::kernels::LinalgCholesky>();

}  // namespace
}  // namespace simt
