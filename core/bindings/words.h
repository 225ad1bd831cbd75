// Operators in a guest's words: its argument names in signatures, docstrings and errors.
#pragma once

#include <string>
#include <vector>

#include "core/bindings/python.h"

namespace dragon::python {

/// An operator's argument names as a guest calls them, in schema order.
using GuestNames = std::vector<PyObject*>;

/// The names, interned; the caller owns the references.
GuestNames NamesFor(const Operator& op, const Frontend* frontend);
/// A sentence about an operator: what names an argument in it (`axis`, `x`, `src2`) becomes the guest's name. A word
/// that is English as well (`a`, `shape`, `value`) stays.
std::string InWordsOf(const Frontend* frontend, const Operator* op, const GuestNames& names, const std::string& text);
/// The schema's line with the guest's argument names.
std::string LineFor(const Operator& op, const GuestNames& names);
/// What `inspect.signature` reads.
std::string SignatureFor(const Operator& op, const GuestNames& names, bool takes_out);

}  // namespace dragon::python
