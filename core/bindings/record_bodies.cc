// Python's objects taken apart: lists, dicts, texts, NumPy's arrays. Nothing is believed of classes that say of
// themselves what they hold, nor of containers while numbers are copied: another thread may change them meanwhile.
#include "core/bindings/record_bodies.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dragon::python {

namespace {

constexpr const char* kWhatWouldDo = "dicts, lists and tuples of NumPy arrays, bytes, text, numbers, booleans and None";

/// What records do not hold, and its place in what was given, from the inside out.
struct Refusal {
  std::string what;
  std::vector<py::object> where;

  std::string Message() const {
    std::string place;
    for (auto key = where.rbegin(); key != where.rend(); ++key) {
      PyObject* shown = PyObject_Repr(key->ptr());
      if (!shown) PyErr_Clear();  // a number of more digits than Python shows
      place += "[" + (shown ? py::reinterpret_steal<py::str>(shown).cast<std::string>() : "...") + "]";
    }
    return place.empty() ? what : what + " (at " + place + ")";
  }
};

[[noreturn]] void Refuse(const std::string& got, const std::string& expected) {
  throw Refusal{"KPLRecord: got " + got + ", expected " + expected, {}};
}

std::string NameOf(py::handle type) { return py::str(type.attr("__name__")).cast<std::string>(); }
std::string Shown(py::handle object) { return py::str(object).cast<std::string>(); }

[[noreturn]] void Raise() { throw py::error_already_set(); }

PyObject* Checked(PyObject* object) {
  if (!object) Raise();
  return object;
}

/// Classes of NumPy's, found once and never freed: the interpreter may be gone when they would be.
struct NumPy {
  PyTypeObject *array, *scalar, *mapped;
  PyObject* as_array;

  static const NumPy& Get() {
    static const auto* found = new NumPy;
    return *found;
  }

 private:
  NumPy()
      : array(py::detail::npy_api::get().PyArray_Type_),
        scalar(Class("generic")),
        mapped(Class("memmap")),
        as_array(Find("asarray")) {}
  static PyTypeObject* Class(const char* name) {
    return SubclassIn(Find(name), &PyBaseObject_Type, "numpy", "a class");
  }
  static PyObject* Find(const char* name) {
    return py::object(py::module_::import("numpy").attr(name)).release().ptr();
  }
};

/// The letters of a dtype that records hold as it lies in memory, by its number in NumPy; empty for all others.
const std::string& LettersOf(int number) {
  constexpr int kBuiltin = 24;
  static const auto* known = [] {
    auto* letters = new std::string[kBuiltin + 1];
    for (int type = 0; type < kBuiltin; ++type) {
      PyObject* descriptor = py::detail::npy_api::get().PyArray_DescrFromType_(type);
      if (!descriptor) {
        PyErr_Clear();
        continue;
      }
      const auto dtype = py::reinterpret_steal<py::dtype>(descriptor);
      const char kind = dtype.kind();
      if (std::strchr("biufc", kind) && dtype.itemsize() <= (kind == 'c' ? 16 : 8))
        letters[type] = Shown(dtype.attr("str"));
    }
    return letters;
  }();
  return known[number < 0 || number > kBuiltin ? kBuiltin : number];
}

py::object ItemOf(PyObject* list, Py_ssize_t place, Py_ssize_t count) {
  if (PyList_GET_SIZE(list) != count) {
    throw RuntimeError("KPLRecord").Got("a list that changes while it is written").Expected("one that stays");
  }
  return py::reinterpret_borrow<py::object>(ItemAt(list, place));
}

/// Walks over one object.
class RecordBody {
 public:
  explicit RecordBody(RecordBuffer* buffer) : buffer_(*buffer) {}

  void Put(PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    const NumPy& numpy = NumPy::Get();
    if (PutPlain(value, type)) return;
    if (type == &PyDict_Type) {
      PutDict(value, depth);
    } else if (type == &PyList_Type || type == &PyTuple_Type) {
      PutList(value, depth);
    } else if (type == numpy.array || type == numpy.mapped) {
      PutArray(value, RecordTag::kArray);
    } else if (PyType_IsSubtype(type, numpy.scalar)) {
      const auto array = py::reinterpret_steal<py::object>(Checked(PyObject_CallOneArg(numpy.as_array, value)));
      PutArray(array.ptr(), RecordTag::kScalar);
    } else if (PyType_IsSubtype(type, &PyDict_Type)) {  // ordered, or with a default: what it tells is written
      PutItems(value, depth);
    } else {
      const bool has_numpy = PyObject_HasAttrString(value, "numpy");
      Refuse("a value of type " + NameOf(Upcast(type)) + (has_numpy ? ", call its numpy() first" : ""), kWhatWouldDo);
    }
  }

  /// Copy what was left for the end.
  void Finish() {
    if (late_.empty()) return;
    const WithoutGil free;
    uint8_t* body = buffer_.body().data();
    for (const Late& each : late_) std::memcpy(body + each.at, each.bytes, each.size);
  }

 private:
  struct Late {
    size_t at;
    const void* bytes;
    size_t size;
    py::object holder;
  };

  /// Whether it was a value that holds no others, of a class of Python's own.
  bool PutPlain(PyObject* value, PyTypeObject* type) {
    if (value == Py_None) {
      buffer_.Tag(RecordTag::kNone);
    } else if (type == &PyBool_Type) {
      buffer_.Tag(value == Py_True ? RecordTag::kTrue : RecordTag::kFalse);
    } else if (type == &PyLong_Type) {
      PutInteger(value);
    } else if (type == &PyFloat_Type) {
      buffer_.Real(RecordTag::kReal, PyFloat_AS_DOUBLE(value));
    } else if (type == &PyUnicode_Type) {
      PutText(value);
    } else if (type == &PyBytes_Type) {
      PutBytes(value, PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value)));
    } else if (type == &PyComplex_Type) {
      buffer_.Complex(PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value));
    } else if (type == &PyByteArray_Type || type == &PyMemoryView_Type) {
      PutBuffer(value);
    } else {
      return false;
    }
    return true;
  }
  void PutInteger(PyObject* value) {
    int overflow;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);  // NOLINT: Python's type
    if (!overflow) return buffer_.Integer(small);
    const py::handle number(value);
    const size_t size = number.attr("bit_length")().cast<size_t>() / 8 + 1;
    const py::bytes bytes = number.attr("to_bytes")(size, "little", py::arg("signed") = true);
    buffer_.Sized(RecordTag::kLargeInteger, PyBytes_AS_STRING(bytes.ptr()), size);
  }
  void PutText(PyObject* value) {
    if (PyUnicode_IS_COMPACT_ASCII(value)) {
      buffer_.Sized(RecordTag::kText, PyUnicode_DATA(value), static_cast<size_t>(PyUnicode_GET_LENGTH(value)));
      return;
    }
    const auto bytes =
        py::reinterpret_steal<py::bytes>(Checked(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass")));
    buffer_.Sized(RecordTag::kText, PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  }
  void PutBytes(PyObject* holder, const void* bytes, size_t size) {
    uint8_t* room = buffer_.Room(RecordTag::kBytes, size);
    Copy(static_cast<size_t>(room - buffer_.body().data()), bytes, size, holder);
  }
  /// Bytes that others may change, in any layout: they are copied while nobody else does anything.
  void PutBuffer(PyObject* value) {
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO)) Raise();
    const bool has_objects = view.format && std::strchr(view.format, 'O');
    int failed = 0;
    if (!has_objects) {
      uint8_t* room = buffer_.Room(RecordTag::kBytes, static_cast<size_t>(view.len));
      failed = PyBuffer_ToContiguous(room, &view, view.len, 'C');
    }
    PyBuffer_Release(&view);
    if (has_objects) Refuse("a memoryview of Python's objects", kWhatWouldDo);
    if (failed) Raise();
  }
  void Copy(size_t at, const void* bytes, size_t size, PyObject* holder) {
    if (size >= kWorthLeavingTheLock) {
      late_.push_back({at, bytes, size, py::reinterpret_borrow<py::object>(holder)});
    } else if (size) {
      std::memcpy(buffer_.body().data() + at, bytes, size);
    }
  }

  void CheckDepth(int depth) {
    constexpr int kDeepest = RecordValueReader::kDeepest;
    if (depth >= kDeepest) Refuse("values more than " + std::to_string(kDeepest) + " deep in one another", "fewer");
  }
  void PutList(PyObject* list, int depth) {
    CheckDepth(depth);
    const bool is_list = PyList_CheckExact(list);
    const Py_ssize_t count = Py_SIZE(list);
    buffer_.Container(is_list ? RecordTag::kList : RecordTag::kTuple, static_cast<uint64_t>(count));
    for (Py_ssize_t place = 0; place < count; ++place) {
      const py::object item =
          is_list ? ItemOf(list, place, count) : py::reinterpret_borrow<py::object>(ItemAt(list, place));
      try {
        Put(item.ptr(), depth + 1);
      } catch (Refusal& refusal) {
        refusal.where.push_back(py::int_(place));
        throw;
      }
    }
    if (is_list && count) ItemOf(list, 0, count);
  }
  void PutDict(PyObject* dict, int depth) {
    CheckDepth(depth);
    const Py_ssize_t count = PyDict_GET_SIZE(dict);
    buffer_.Container(RecordTag::kDict, static_cast<uint64_t>(count));
    Py_ssize_t place = 0, found = 0;
    for (PyObject *key, *value; PyDict_GET_SIZE(dict) == count && PyDict_Next(dict, &place, &key, &value); ++found) {
      PutPair(py::reinterpret_borrow<py::object>(key), py::reinterpret_borrow<py::object>(value), depth);
    }
    if (found != count || PyDict_GET_SIZE(dict) != count) {
      throw RuntimeError("KPLRecord").Got("a dict that changes while it is written").Expected("one that stays");
    }
  }
  /// A dict of a class of its own, as its `items` tells.
  void PutItems(PyObject* dict, int depth) {
    CheckDepth(depth);
    const auto told = py::reinterpret_steal<py::object>(Checked(PyObject_CallMethod(dict, "items", nullptr)));
    const auto items = py::reinterpret_steal<py::object>(Checked(PySequence_List(told.ptr())));
    const Py_ssize_t count = PyList_GET_SIZE(items.ptr());
    buffer_.Container(RecordTag::kDict, static_cast<uint64_t>(count));
    for (Py_ssize_t place = 0; place < count; ++place) {
      PyObject* item = ItemAt(items.ptr(), place);
      if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) {
        Refuse("items of a " + NameOf(py::type::of(dict)) + " that are no pairs", "pairs of a key and a value");
      }
      PutPair(py::reinterpret_borrow<py::object>(ItemAt(item, 0)), py::reinterpret_borrow<py::object>(ItemAt(item, 1)),
              depth);
    }
  }
  void PutPair(const py::object& key, const py::object& value, int depth) {
    PyTypeObject* type = Py_TYPE(key.ptr());
    const bool is_key = type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type ||
                        type == &PyBytes_Type || type == &PyBool_Type || type == &PyComplex_Type || key.is_none();
    if (!is_key) {
      Refuse("a key of type " + NameOf(Upcast(type)), "text, bytes or a number");
    }
    try {
      Put(key.ptr(), depth + 1);
      Put(value.ptr(), depth + 1);
    } catch (Refusal& refusal) {
      refusal.where.push_back(key);
      throw;
    }
  }

  void PutArray(PyObject* value, RecordTag tag) {
    std::string_view letters;
    std::string told;
    py::object array = py::reinterpret_borrow<py::object>(value);
    if (!PlainLetters(value, &letters)) {
      array = InRows(array);
      letters = told = Shown(array.attr("dtype").attr("str"));
    }
    const auto* numbers = py::detail::array_proxy(array.ptr());
    static_assert(sizeof(*numbers->dimensions) == sizeof(int64_t), "sizes of axes are handed over as they are");
    const std::span shape(reinterpret_cast<const int64_t*>(numbers->dimensions), static_cast<size_t>(numbers->nd));
    const auto size = static_cast<size_t>(py::array(array).nbytes());
    const size_t at = buffer_.Array(tag, letters, shape, size);
    Copy(at, numbers->data, size, array.ptr());
  }
  /// An array in rows and in the byte order of files, of a dtype that records hold.
  py::object InRows(const py::object& array) {
    const auto numpy = py::module_::import("numpy");
    const py::object dtype = array.attr("dtype");
    if (!dtype.attr("names").is_none()) {
      Refuse("a structured array of dtype " + Shown(dtype), "an array for each field: a dict");
    }
    const char kind = Shown(dtype.attr("kind"))[0];
    const auto size = dtype.attr("itemsize").cast<int64_t>();
    const bool is_own = dtype.attr("isbuiltin").cast<int>() == 1 || Shown(dtype.attr("byteorder")) == ">";
    const bool is_number = std::strchr("biufc", kind) && size <= (kind == 'c' ? 16 : 8) && is_own;
    if (!is_number && kind != 'S' && kind != 'U' && !IsTime(dtype, kind)) {
      Refuse("an array of dtype " + Shown(dtype),
             "numbers of 8 bytes at most (complex ones of 16), booleans, times, text or bytes");
    }
    py::object wanted = dtype.attr("newbyteorder")("<");
    if (!size) wanted = numpy.attr("dtype")(std::string("<") + kind + "1");  // text of no letters
    // ascontiguousarray would make one axis of none.
    return numpy.attr("asarray")(array, wanted, py::arg("order") = "C");
  }
  bool IsTime(const py::object& dtype, char kind) {
    static constexpr const char* kUnits[] = {"generic", "Y",  "M",  "W",  "D",  "h",  "m",
                                             "s",       "ms", "us", "ns", "ps", "fs", "as"};
    if (kind != 'm' && kind != 'M') return false;
    const py::tuple told = py::module_::import("numpy").attr("datetime_data")(dtype);
    const std::string unit = Shown(told[0]);
    return std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits) && told[1].cast<int64_t>() == 1;
  }

  RecordBuffer& buffer_;
  std::vector<Late> late_;
};

}  // namespace

bool PlainLetters(PyObject* array, std::string_view* letters) {
  const auto* numbers = py::detail::array_proxy(array);
  const auto* dtype = reinterpret_cast<const py::detail::PyArrayDescr_Proxy*>(numbers->descr);
  if (!(numbers->flags & py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_) || dtype->byteorder == '>') return false;
  *letters = LettersOf(dtype->type_num);
  return !letters->empty();
}

void PutRecordBody(PyObject* object, RecordBuffer* buffer) {
  try {
    RecordBody body(buffer);
    body.Put(object, 0);
    body.Finish();
  } catch (const Refusal& refusal) {
    throw Error(ErrorKind::kType, refusal.Message());
  }
}

}  // namespace dragon::python
