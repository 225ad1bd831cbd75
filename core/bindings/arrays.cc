// Numbers in and out of Python: buffers (zero-copy), NumPy arrays, nested lists.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "core/bindings/forget_error.h"
#include "core/bindings/items.h"
#include "core/framework/findings.h"
#include "core/framework/known.h"
#include "core/framework/number.h"
#include "core/framework/promotion.h"
#include "core/framework/scribe.h"
#include "core/framework/shapes_only.h"

namespace dragon::python {

namespace {

/// The struct-module code of each dtype; null where the buffer protocol has none.
/// Of C's integers of 64 bits NumPy takes `long` for its own int64 where that is one, and shows the other by name.
const char* const kInt64Format = sizeof(long) == 8 ? "l" : "q";
const char* const kUInt64Format = sizeof(long) == 8 ? "L" : "Q";
const char* const kFormats[kDTypeCount] = {"?", "B", "b",  "h",  "i", kInt64Format, "e",          nullptr,
                                           "f", "d", "Zf", "Zd", "H", "I",          kUInt64Format};

/// The dtype of a buffer's format, by kind and size, since 'l' has a platform's width.
bool DTypeOfFormat(const char* format, Py_ssize_t size, DType* dtype) {
  if (!format) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const std::string code = format;
  if (code == "E" && size == 2) return *dtype = DType::kBFloat16, true;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kFormats[i] && code == kFormats[i] && size == kItemSizes[i]) return *dtype = static_cast<DType>(i), true;
  }
  if ((code == "l" || code == "q") && size == 8) return *dtype = DType::kInt64, true;
  if (code == "l" && size == 4) return *dtype = DType::kInt32, true;
  if ((code == "L" || code == "Q") && size == 8) return *dtype = DType::kUInt64, true;
  if (code == "L" && size == 4) return *dtype = DType::kUInt32, true;
  if (code == "c" && size == 1) return *dtype = DType::kUInt8, true;
  return false;
}

struct BufferExtras {
  Dims shape, strides;
  Tensor tensor;  ///< an alias: keeps this memory alive while it is lent, whatever becomes of the tensor
};

/// Release a lent Py_buffer; the last tensor may go on any thread.
void ReleaseLent(Py_buffer* view) {
  if (!Py_IsInitialized() || LockIsGone()) return;
  WithGil gil;
  PyBuffer_Release(view);
  delete view;
}

Tensor FromSequence(PyObject* data, const DType* wanted, const char* who);

}  // namespace

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const Tensor tensor = SelfTensor(self);
  const char* format = kFormats[static_cast<int>(tensor.dtype())];
  const char* trouble = !format                     ? "the buffer protocol has no such dtype; cast it first"
                        : tensor.is_meta()          ? "a meta tensor has no numbers"
                        : !tensor.device().is_cpu() ? "the tensor is not on the CPU"
                        : tensor.requires_grad()    ? "the tensor requires grad; call detach() first"
                                                    : nullptr;
  if (trouble) {
    PyErr_Format(PyExc_BufferError, "buffer: %s", trouble);
    return -1;
  }
  return GuardedInt([&] {
    tensor.Observe("its memory as a buffer or a NumPy array");
    tensor.Settle();
    tensor.data();  // raises where there are no numbers to lend
    if (tensor.impl()->storage) tensor.impl()->storage->lent = true;
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
      PyErr_SetString(PyExc_BufferError, "buffer: the tensor is not in row-major order; call contiguous() first");
      return -1;
    }
    auto* extras = new BufferExtras{tensor.shape(), tensor.strides(), tensor.Detach()};
    for (int64_t& stride : extras->strides) stride *= tensor.item_size();
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    view->buf = tensor.mutable_data();
    if (!view->buf) view->buf = extras;  // an empty buffer still wants an address
    view->obj = Py_NewRef(self);
    view->len = tensor.numel() * tensor.item_size();
    view->itemsize = tensor.item_size();
    view->readonly = 0;
    view->ndim = tensor.ndim();
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t*>(extras->shape.data()) : nullptr;
    view->strides =
        (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? reinterpret_cast<Py_ssize_t*>(extras->strides.data()) : nullptr;
    view->suboffsets = nullptr;
    view->internal = extras;
    return 0;
  });
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { delete static_cast<BufferExtras*>(view->internal); }

namespace {

/// What has no buffer, or one of a dtype that buffers cannot tell, has no numbers for tensors either.
[[noreturn]] void RefuseBuffer(PyObject* object, const char* who) {
  const py::error_already_set error;
  if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_BufferError)) {
    throw error;
  }
  throw TypeError(who)
      .Got("a '", Py_TYPE(object)->tp_name, "' that cannot lend its memory (",
           py::cast<std::string>(py::str(error.value())), ")")
      .Expected("an array of a dtype that tensors have");
}

}  // namespace

Tensor FromBuffer(PyObject* object, const char* who) {
  auto view = std::make_unique<Py_buffer>();
  bool writable = true;
  if (PyObject_GetBuffer(object, view.get(), PyBUF_FORMAT | PyBUF_STRIDES | PyBUF_WRITABLE) < 0) {
    ForgetError();
    writable = false;
    if (PyObject_GetBuffer(object, view.get(), PyBUF_FORMAT | PyBUF_STRIDES) < 0) RefuseBuffer(object, who);
  }
  struct Owner {
    std::unique_ptr<Py_buffer>& view;
    ~Owner() {
      if (view) PyBuffer_Release(view.get());
    }
  } owner{view};
  DType dtype;
  if (!DTypeOfFormat(view->format, view->itemsize, &dtype)) {
    throw TypeError(who)
        .Got("an array of format '", view->format ? view->format : "B", "'")
        .Expected("a dtype that tensors have, in native byte order");
  }
  Dims shape, strides;
  if (view->ndim > kMaxDims)
    throw ValueError(who).Got("an array of ", view->ndim, " axes").Expected("at most ", kMaxDims);
  if (view->ndim > 0 && (!view->shape || !view->strides)) {
    // NumPy's scalars that are no numbers (dates) are shown as bytes, and in breach of the protocol without strides.
    throw TypeError(who).Got("'", Py_TYPE(object)->tp_name, "', whose buffer has no shape").Expected("numbers");
  }
  for (int i = 0; i < view->ndim; ++i) {
    shape.push_back(view->shape[i]);
    const Py_ssize_t stride = view->strides[i];
    if (view->shape[i] > 1 && (stride < 0 || stride % view->itemsize != 0)) {
      throw ValueError(who)
          .Got("an array with a stride of ", stride, " bytes")
          .Expected("non-negative multiples of ", view->itemsize, "; copy the array first");
    }
    strides.push_back(view->shape[i] > 1 ? stride / view->itemsize : 1);
  }
  if (!writable) {
    // Tensors may be written; the owner of read-only memory must not notice.
    const Tensor borrowed = Tensor::Borrow(view->buf, shape, strides, dtype, Device{}, [] {});
    return Op<"to_row_major">(borrowed);
  }
  Py_buffer* lent = view.release();
  return Tensor::Borrow(lent->buf, shape, strides, dtype, Device{}, [lent] { ReleaseLent(lent); });
}

namespace {

constexpr int kDeepest = kMaxDims;

/// The dtype and shape of nested sequences of numbers.
struct Survey {
  Dims shape;
  int kind = -1;   ///< 0 bool, 1 int, 2 float, 3 complex: the highest
  int plain = -1;  ///< the highest among Python's own numbers
  bool has_dtypes = false;
  DType dtype = DType::kBool;  ///< where tensors or NumPy's numbers are among them: what all promote to
};

/// A sequence that is no list or tuple, such as a range or an array among lists: they are to be made lists first.
struct NeedsLists {};

/// Numbers with a dtype of their own: those of tensors and NumPy.
bool DTypeOfNumber(PyObject* object, DType* dtype) {
  if (const Tensor* tensor = TensorIf(object)) return *dtype = tensor->dtype(), true;
  if (std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) != 0) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT) < 0) {
    ForgetError();
    return false;
  }
  const bool known = DTypeOfFormat(view.format, view.itemsize, dtype);
  PyBuffer_Release(&view);
  return known;
}

int KindOf(PyObject* object) {
  if (const NumberId number = NumberOf(object); DRAGON_UNLIKELY(number >= 0)) {
    return PyFloat_Check(HintOf(number).ptr()) ? 2 : 1;
  }
  if (PyBool_Check(object)) return 0;
  if (PyLong_Check(object)) return 1;
  if (PyFloat_Check(object)) return 2;
  if (PyComplex_Check(object)) return 3;
  const Value value = ParseNumber(object, {"tensor", nullptr});
  return static_cast<int>(value.kind()) - static_cast<int>(Value::Kind::kBool);
}

bool IsSequence(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

[[noreturn]] void RefuseChanged(const char* who) {
  throw ValueError(who).Got("lists that changed while they were read").Expected("a box of numbers");
}

void WalkNested(PyObject* object, int depth, Survey* survey, const char* who) {
  if (depth > kDeepest) throw ValueError(who).Got("lists nested more than ", kDeepest, " deep").Expected("fewer");
  const bool plain = PyFloat_CheckExact(object) || PyLong_CheckExact(object);
  if (!IsSequence(object)) {
    const bool hidden = PySequence_Check(object) && !IsTensor(object) && PySequence_Size(object) >= 0;
    ForgetError();  // a 0-d array has no size
    if (hidden && !PyUnicode_Check(object) && !PyBytes_Check(object)) throw NeedsLists{};
    if (depth != survey->shape.size())
      throw ValueError(who).Got("nested lists of unequal length").Expected("a box of numbers");
    const int kind = plain ? (PyFloat_CheckExact(object) ? 2 : 1) : KindOf(object);
    survey->kind = std::max(survey->kind, kind);
    DType own;
    if (plain || !DTypeOfNumber(object, &own)) {
      survey->plain = std::max(survey->plain, kind);
    } else {
      survey->dtype = survey->has_dtypes ? PromoteTypes(survey->dtype, own) : own;
      survey->has_dtypes = true;
    }
    return;
  }
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
  if (depth == survey->shape.size()) {
    // First visit at this depth fixes the length; later ones must agree.
    survey->shape.push_back(size);
  } else if (survey->shape[depth] != size) {
    throw ValueError(who)
        .Got("lists of length ", survey->shape[depth], " and ", size, " at depth ", depth)
        .Expected("a box of numbers");
  }
  int sequences = -1;  // whether the first item is one; not known yet
  EachItem(object, [&](PyObject* item) {
    if (sequences >= 0 && IsSequence(item) != sequences) {
      throw TypeError(who).Got("numbers beside lists at depth ", depth).Expected("a box of numbers");
    }
    sequences = IsSequence(item);
    WalkNested(item, depth + 1, survey, who);
  });
}

/// Numbers that follow sizes, and the elements that they became.
using FollowedElements = std::vector<std::pair<int32_t, NumberId>>;

/// Write the numbers of lists that had this shape when they were looked at; their items' methods may have changed them.
template <typename T>
T* FillFrom(PyObject* object, T* place, std::span<const int64_t> shape, const char* who, const T* first,
            FollowedElements* followed) {
  if (IsSequence(object) != !shape.empty()) RefuseChanged(who);
  if (!shape.empty()) {
    int64_t left = shape[0];
    EachItem(object, [&](PyObject* item) {
      if (left-- == 0) RefuseChanged(who);
      place = FillFrom(item, place, shape.subspan(1), who, first, followed);
    });
    if (left != 0) RefuseChanged(who);
    return place;
  }
  if (const NumberId number = NumberOf(object); DRAGON_UNLIKELY(number >= 0)) {
    followed->push_back({static_cast<int32_t>(place - first), number});
    return FillFrom(HintOf(number).ptr(), place, shape, who, first, followed);
  }
  if constexpr (kIsComplex<T>) {
    *place = T(ParseNumber(object, {"tensor", nullptr}).complex());
  } else if constexpr (kIsFloating<T>) {
    const double number = PyFloat_Check(object)  ? PyFloat_AS_DOUBLE(object)
                          : PyLong_Check(object) ? PyLong_AsDouble(object)
                                                 : ParseNumber(object, {"tensor", nullptr}).real();
    *place = static_cast<T>(static_cast<Wide<T>>(number));
  } else if (std::is_same_v<T, uint64_t> && PyLong_Check(object)) {  // a value holds less
    *place = static_cast<T>(PyLong_AsUnsignedLongLong(object));
  } else {
    const Value value = ParseNumber(object, {"tensor", nullptr});
    RequireNumber("tensor", kDTypeOf<T>, value);
    *place = std::is_same_v<T, bool> ? static_cast<T>(value.real() != 0) : static_cast<T>(value.integer());
  }
  if (PyErr_Occurred()) throw py::error_already_set();
  return place + 1;
}

/// Lists all the way down.
py::object DeepList(PyObject* object, int depth) {
  const bool sequence = PySequence_Check(object) && !IsTensor(object) && PySequence_Size(object) >= 0;
  ForgetError();
  if (!sequence || PyUnicode_Check(object)) return py::reinterpret_borrow<py::object>(object);
  if (depth > kDeepest) throw ValueError("tensor").Got("lists nested more than ", kDeepest, " deep").Expected("fewer");
  py::list list = py::reinterpret_steal<py::list>(PySequence_List(object));
  if (!list) throw py::error_already_set();
  for (size_t i = 0; i < list.size(); ++i) list[i] = DeepList(py::object(list[i]).ptr(), depth + 1);
  return list;
}

Tensor FromSequence(PyObject* data, const DType* wanted, const char* who) {
  Survey survey;
  try {
    WalkNested(data, 0, &survey, who);
  } catch (const NeedsLists&) {
    const py::object lists = DeepList(data, 0);
    return FromSequence(lists.ptr(), wanted, who);
  }
  const DType kinds[] = {DType::kBool, DType::kInt64, DefaultDType(), ComplexDType(DefaultDType())};
  DType dtype = survey.kind < 0 ? DefaultDType() : kinds[survey.kind];
  if (wanted) {
    dtype = *wanted;
  } else if (survey.has_dtypes) {
    dtype = PromoteTypes(survey.dtype, survey.plain < 0 ? survey.dtype : kinds[survey.plain]);
  }
  if (survey.kind == 3 && !IsComplex(dtype)) {
    throw TypeError(who).Got("complex numbers for dtype ", dtype).Expected("a complex dtype");
  }
  Tensor tensor = Tensor::Empty(survey.shape, dtype);
  if (Door().tracer) Door().tracer->Made(tensor);
  void* place = tensor.mutable_data();
  FollowedElements followed;
  Visit(dtype, StoredTypes{}, [&]<typename Tag>(Tag) {
    auto* first = static_cast<typename Tag::type*>(place);
    FillFrom(data, first, std::span<const int64_t>(survey.shape), who, first, &followed);
  });
  if (!followed.empty()) Scribe::Current()->NoteNumbers(tensor, followed);
  return tensor;
}

}  // namespace

namespace {

/// A tensor of what is none yet.
Tensor FromOutside(PyObject* data, const DType* dtype, const char* who) {
  if (IsSequence(data) || PyFloat_CheckExact(data) || PyLong_Check(data) || PyComplex_CheckExact(data)) {
    return FromSequence(data, dtype, who);
  }
  if (PyObject_CheckBuffer(data)) return Op<"to_row_major">(FromBuffer(data, who));
  if (IsNumber(data) || NumberOf(data) >= 0) return FromSequence(data, dtype, who);
  if (PyObject_HasAttrString(data, "__array__")) {
    py::object array = py::reinterpret_borrow<py::object>(data).attr("__array__")();
    return Op<"to_row_major">(FromBuffer(array.ptr(), who));
  }
  if (PySequence_Check(data) && !PyUnicode_Check(data)) {
    py::object list = py::reinterpret_steal<py::object>(PySequence_List(data));
    if (!list) throw py::error_already_set();
    return FromSequence(list.ptr(), dtype, who);
  }
  throw TypeError(who)
      .Got("'", Py_TYPE(data)->tp_name, "'")
      .Expected("numbers, nested lists of them, an array or a tensor");
}

}  // namespace

Tensor FromData(PyObject* data, const DType* dtype, Device device, const char* who) {
  std::optional<ShapesOnly> numbers;  // a trace writes the calls down as they come, so nothing changes for it
  const Tensor* given = TensorIf(data);
  if (!given && !Door().tracer) numbers.emplace(/*only=*/false);
  Tensor tensor = given ? Op<"to_row_major">(given->Detach()) : FromOutside(data, dtype, who);
  if (dtype && tensor.dtype() != *dtype) tensor = Op<"cast">(tensor, *dtype);
  if (tensor.device() != device) tensor = Op<"to_device">(tensor, device);
  numbers.reset();
  const Storage* storage = tensor.impl()->storage.get();  // none for a meta tensor
  if (!given && storage && !storage->memory.is_borrowed()) NoteImagined(tensor);
  return tensor;
}

namespace {

PyObject* ListOf(const Tensor& tensor, int axis, const char* place) {
  if (axis == tensor.ndim()) {
    PyObject* number = nullptr;
    Visit(tensor.dtype(), StoredTypes{}, [&]<typename Tag>(Tag) {
      using T = typename Tag::type;
      const T value = *reinterpret_cast<const T*>(place);
      if constexpr (kIsComplex<T>) {
        number = PyComplex_FromDoubles(value.re, value.im);
      } else if constexpr (kIsFloating<T>) {
        number = PyFloat_FromDouble(static_cast<double>(static_cast<Wide<T>>(value)));
      } else if constexpr (std::is_same_v<T, bool>) {
        number = PyBool_FromLong(value);
      } else {
        number = std::is_unsigned_v<T> ? PyLong_FromUnsignedLongLong(value) : PyLong_FromLongLong(value);
      }
    });
    return number;
  }
  PyObject* list = PyList_New(tensor.shape()[axis]);
  if (!list) throw py::error_already_set();
  for (int64_t i = 0; i < tensor.shape()[axis]; ++i) {
    PyList_SET_ITEM(list, i, ListOf(tensor, axis + 1, place + i * tensor.strides()[axis] * tensor.item_size()));
  }
  return list;
}

constexpr int64_t kMostTold = 64;  ///< numbers of a list that a graph follows one by one

/// The list of numbers that somebody notes or foretells, who hears of each.
PyObject* ToldListOf(const Tensor& tensor) {
  if (tensor.ndim() == 0) return WrapItemOf(tensor);
  py::list list(tensor.shape()[0]);
  const Tensors slices = tensor.shape()[0] ? OpN<"unbind">(tensor, 0) : Tensors();
  for (size_t i = 0; i < slices.size(); ++i) {
    py::object item = py::reinterpret_steal<py::object>(ToldListOf(slices[i]));
    if (!item) throw py::error_already_set();
    list[i] = item;
  }
  return list.release().ptr();
}

}  // namespace

namespace {

/// Elements made of sizes, as numbers that follow them.
PyObject* FollowedList(const Tensor& tensor, int axis, int64_t* place) {
  if (axis == tensor.ndim()) return WrapElementOf(tensor, (*place)++);
  py::list list(tensor.shape()[axis]);
  for (size_t i = 0; i < list.size(); ++i) {
    py::object item = py::reinterpret_steal<py::object>(FollowedList(tensor, axis + 1, place));
    if (!item) throw py::error_already_set();
    list[i] = item;
  }
  return list.release().ptr();
}

}  // namespace

PyObject* ToList(const Tensor& tensor) {
  if (DRAGON_UNLIKELY(Teller() != nullptr) && tensor.numel() <= kMostTold && IsOpen(tensor)) {
    const GradMode off(false);
    return ToldListOf(tensor);
  }
  if (IsAnyWrittenDown() && Scribe::Current() && tensor.numel() > 0 && tensor.dtype() != DType::kBool &&
      Scribe::Current()->ElementOf(tensor, 0) >= 0) {
    int64_t place = 0;
    return FollowedList(tensor, 0, &place);
  }
  tensor.Observe("its values as a list");
  if (tensor.is_meta()) throw NotImplementedError("tolist").Got("a meta tensor").Expected("a tensor with numbers");
  // An alias: making lists may run the collector, and that code which changes the tensor.
  const Tensor host = tensor.device().is_cpu() ? tensor.Detach() : Op<"to_device">(tensor.Detach(), Device{});
  return ListOf(host, 0, static_cast<const char*>(host.data()));
}

PyObject* ToNumPy(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    const Tensor& tensor = SelfTensor(self);
    if (tensor.requires_grad()) {
      throw RuntimeError("numpy").Got("a tensor that requires grad").Expected("detach() first");
    }
    if (!tensor.device().is_cpu())
      throw TypeError("numpy").Got("a tensor on ", tensor.device()).Expected("one on the CPU");
    if (!kFormats[static_cast<int>(tensor.dtype())]) {
      throw TypeError("numpy").Got(tensor.dtype(), ", which NumPy lacks").Expected("another dtype; cast it first");
    }
    py::object array =
        py::module_::import("numpy").attr("asarray")(py::memoryview(py::reinterpret_borrow<py::object>(self)));
    return array.release().ptr();
  });
}

}  // namespace dragon::python
