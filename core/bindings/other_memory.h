// Tensors that take other memory where they are, and memory that changes its size under them. Who was lent the old
// memory keeps it.
#pragma once

#include "core/bindings/python.h"

namespace dragon::python {

/// The tensor takes over another's memory and geometry; autograd does not see it.
void TakeOver(TensorImpl& mine, const TensorImpl& other);
/// `x.data = y`
int SetData(PyObject* self, PyObject* value, void*);
/// `x.set_storage(source, shape, strides, offset)`: the tensor becomes that window on the memory of `source`.
PyObject* SetStorage(PyObject* self, PyObject* args);
/// `x.resize(shape)`: row-major, over the same memory if that suffices, else over new memory that begins with the old.
PyObject* Resize(PyObject* self, PyObject* shape_given);

/// `x.resize_storage(bytes)`: the memory itself; every tensor over it keeps its shape.
PyObject* ResizeStorage(PyObject* self, PyObject* bytes);

}  // namespace dragon::python
