// Python's objects as values of records.
#pragma once

#include "core/bindings/python.h"
#include "core/io/record_buffer.h"

namespace dragon::python {

/// Bytes: to copy or to check fewer takes no longer than to leave Python's lock and to take it again.
inline constexpr size_t kWorthLeavingTheLock = 64 << 10;

/// Put an object into the body of the frame that was begun; a TypeError tells what records do not hold, and where it
/// is. Large arrays are copied last, without Python's lock: whoever has the buffer must see to it that nobody else
/// does.
void PutRecordBody(PyObject* object, RecordBuffer* buffer);

/// The numbers of a plain array that lies in rows, and its dtype as records write it; false if it is another one.
bool PlainLetters(PyObject* array, std::string_view* letters);

}  // namespace dragon::python
