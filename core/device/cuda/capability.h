// What a device has, where kernels differ by it.
#pragma once

namespace dragon::cuda {

/// From which compute capability on tensor cores multiply 16 x 16 x 8 matrices of either half, and copies to shared
/// memory go by themselves.
inline constexpr int kWithWarpMatrices = 80;
/// From which one on they multiply floats of 8 bits.
inline constexpr int kWithFloat8 = 89;

/// The device's compute capability, as 90.
int CapabilityOf(int index);

}  // namespace dragon::cuda
