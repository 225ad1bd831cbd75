// How matrices in compressed rows come as arguments: starts of rows, places of columns, numbers.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/sparse.h"
#include "core/ops/index/indices.h"

namespace dragon {

/// Starts of at least one row's end, and as many places as numbers.
inline void CheckForm(const CallReader& c, const Tensor& numbers, ArgumentName starts_name = "starts",
                      ArgumentName places_name = "places") {
  const Tensor &starts = c.x(starts_name), &places = c.x(places_name);
  for (const Tensor* index : {&starts, &places}) {
    if (index->dtype() != DType::kInt32 && index->dtype() != DType::kInt64) {
      throw TypeError(c.name())
          .Got("starts of ", starts.dtype(), " and places of ", places.dtype())
          .Expected("int32 or int64");
    }
  }
  if (starts.ndim() != 1 || starts.numel() < 1) {
    throw ValueError(c.name()).Got("starts of shape ", starts.shape()).Expected("a vector, with one more than rows");
  }
  if (places.ndim() != 1 || (numbers.defined() && places.shape() != numbers.shape())) {
    throw ValueError(c.name())
        .Got("places of shape ", places.shape(), numbers.defined() ? " for numbers of another shape" : "")
        .Expected("a vector, one for each number");
  }
}

inline void CheckDense(const CallReader& c, const Tensor& dense, const Tensor& like) {
  if (dense.ndim() != 2) throw ValueError(c.name()).Got("a dense shape ", dense.shape()).Expected("a matrix");
  if (dense.dtype() != like.dtype()) {
    throw TypeError(c.name()).Got(dense.dtype(), " and ", like.dtype()).Expected("one dtype");
  }
}

/// Index vectors as kernels take them.
inline LentView Places(const Run& r, ArgumentName name) { return LentView(AsInt64(r.Contiguous(name))); }

}  // namespace dragon
