// Bytes across the border between devices, and casts on the side where there are fewer of them.
#include "core/framework/across.h"

#include <cstring>

#include "core/device/accelerator.h"
#include "core/device/pinned.h"
#include "core/framework/op.h"

namespace dragon {

void MoveBytes(const Tensor& x, const Tensor& y) {
  const size_t bytes = x.numel() * x.item_size();
  if (bytes == 0) return;
  const Device from = x.device(), to = y.device();
  const auto queued = [&](const void* host) {
    return CopiesMayBeQueued() && (from.is_cpu() ? to : from).type == DeviceType::kCUDA && IsPinned(host, bytes);
  };
  if (from.is_cpu() && to.is_cpu()) {
    std::memcpy(y.mutable_data(), x.data(), bytes);
  } else if (from.is_cpu() && queued(x.data())) {
    AcceleratorOf(to.type).QueueFromHost(to.index, y.mutable_data(), x.data(), bytes);
  } else if (from.is_cpu()) {
    BackendOf(to.type).CopyFromHost(to.index, y.mutable_data(), x.data(), bytes);
  } else if (to.is_cpu() && queued(y.mutable_data())) {
    AcceleratorOf(from.type).QueueToHost(from.index, y.mutable_data(), x.data(), bytes);
  } else if (to.is_cpu()) {
    BackendOf(from.type).CopyToHost(from.index, y.mutable_data(), x.data(), bytes);
  } else if (from == to) {
    BackendOf(to.type).CopyWithin(to.index, y.mutable_data(), x.data(), bytes);
  } else if (from.type == to.type && from.type == DeviceType::kCUDA) {
    AcceleratorOf(to.type).CopyBetween(to.index, y.mutable_data(), from.index, x.data(), bytes);
  } else {
    const Tensor host = Op<"to_device">(x, Device{});
    BackendOf(to.type).CopyFromHost(to.index, y.mutable_data(), host.data(), bytes);
  }
}

void CopyAcross(const Tensor& from, const Tensor& to) {
  const bool straight = from.shape() == to.shape() && from.dtype() == to.dtype() && to.is_contiguous();
  if (!straight) {
    // What has fewer bytes there is made smaller here.
    const bool narrows = ItemSize(to.dtype()) < from.item_size();
    const Tensor source = narrows ? Op<"cast">(from, to.dtype()) : from;
    OpInto<"copy">(to.Detach(), Op<"to_device">(source, to.device()));
    return;
  }
  const Tensor source = from.is_contiguous() ? from : Op<"to_row_major">(from);
  MoveBytes(source, to);
}

}  // namespace dragon
