// What reading of KPLRecord files needs of Python: its files, places of records, and what unpacks a body.
#pragma once

#include <memory>
#include <vector>

#include "core/bindings/python.h"
#include "core/io/record_file.h"

namespace dragon::python {

/// A descriptor, or a function of a place and a size that returns bytes.
std::unique_ptr<ByteSource> SourceOf(py::handle source);
/// Pairs of numbers of 64 bits.
std::vector<RecordPlace> PlacesOf(const py::bytes& bytes);
/// The value of a record; `unpack` is asked for the body of a packed one. Throws RecordTrouble.
py::object ValueOf(const RecordBlock::Record& record, const RecordMemory& memory, uint8_t kind,
                   const py::object& unpack);

/// What goes over records in their order and makes one value at a time: no list of them is ever there.
void RegisterRecordWalk(py::module_& m);

}  // namespace dragon::python
