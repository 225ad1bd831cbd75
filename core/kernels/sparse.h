// Matrices in compressed rows: row i has the numbers from starts[i] to starts[i + 1], each with the place of its
// column.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y[i] = sum of values[k] * dense[places[k]] over the numbers k of row i; y and dense are rows of one width.
inline const Kernel<void(View y, View starts, View places, View values, View dense)> RowsMatmul{"rows_matmul"};

/// y[k] = the product a[i] . b[places[k]] of two rows, for every number k of every row i.
inline const Kernel<void(View y, View starts, View places, View a, View b)> RowsDots{"rows_dots"};

/// The same numbers by columns: where each column starts, the rows in it, and which number came to each place.
inline const Kernel<void(View turned_starts, View turned_places, View order, View starts, View places)> TurnRows{
    "turn_rows"};

}  // namespace dragon::kernels
