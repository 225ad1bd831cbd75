// Tensors that take other memory where they are. Who was lent the old memory keeps it: nothing is ever resized in
// place.
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

}  // namespace dragon::python
