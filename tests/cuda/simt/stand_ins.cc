// Who stands in: one line for every kernel that a `.cu` file enters by way of a vendor's library.
#include "tests/cuda/simt/stand_ins.h"

#include "core/kernels/fft.h"

namespace simt {
namespace {

[[maybe_unused]] const bool g_fft =
    Stand<dragon::kernels::FftC2C>() && Stand<dragon::kernels::FftR2C>() && Stand<dragon::kernels::FftC2R>();

}  // namespace
}  // namespace simt
