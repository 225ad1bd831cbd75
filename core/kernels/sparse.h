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

/// y[i] = the largest (or least) values[k] * dense[places[k]] of the numbers k of row i, column by column, and which k
/// that was: 0 and -1 where a row has none. A NaN is larger and less than all others.
inline const Kernel<void(View y, View which, View starts, View places, View values, View dense, bool least)>
    RowsExtreme{"rows_extreme"};

/// The rows of a product of two matrices in compressed rows: where each starts.
inline const Kernel<void(View product_starts, View starts, View places, View other_starts, View other_places,
                         int64_t columns)>
    StartsOfProduct{"starts_of_product"};
/// And what is in them, by rising columns.
inline const Kernel<void(View product_starts, View product_places, View product_values, View starts, View places,
                         View values, View other_starts, View other_places, View other_values, int64_t columns)>
    RowsProduct{"rows_product"};

}  // namespace dragon::kernels
