// Files of Python's read by place, and records made into values.
#include "core/bindings/record_reading.h"

#include <algorithm>

#include "core/bindings/record_objects.h"

namespace dragon::python {

namespace {

/// A file of Python's: a function of a place and a size that returns bytes.
class AskedBytes : public ByteSource {
 public:
  explicit AskedBytes(py::object read) : read_(std::move(read)) {}
  size_t ReadAt(uint64_t offset, uint8_t* bytes, size_t size) override {
    const WithGil gil;
    const py::bytes got = read_(offset, size);
    char* data;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(got.ptr(), &data, &count)) throw py::error_already_set();
    const size_t taken = std::min(size, static_cast<size_t>(count));
    std::copy_n(data, taken, bytes);
    return taken;
  }

 private:
  py::object read_;
};

}  // namespace

std::unique_ptr<ByteSource> SourceOf(py::handle source) {
  if (py::isinstance<py::int_>(source)) return std::make_unique<FileBytes>(source.cast<int>());
  return std::make_unique<AskedBytes>(py::reinterpret_borrow<py::object>(source));
}

std::vector<RecordPlace> PlacesOf(const py::bytes& bytes) {
  const std::string_view view = bytes;
  if (view.size() % sizeof(RecordPlace)) throw ValueError("kpl_read").Got(view.size(), " bytes").Expected("pairs");
  std::vector<RecordPlace> places(view.size() / sizeof(RecordPlace));
  std::copy_n(view.data(), view.size(), reinterpret_cast<char*>(places.data()));
  return places;
}

py::object ValueOf(const RecordBlock::Record& record, const RecordMemory& memory, uint8_t kind,
                   const py::object& unpack) {
  if (static_cast<uint8_t>(record.head.kind) != kind) throw RecordTrouble{"a frame of another kind", record.offset};
  try {
    if (!record.head.packing) {
      return ObjectOfRecord(record.body, record.body.size() >= RecordBlock::kLarge ? memory.bytes : nullptr);
    }
    const py::bytes packed(reinterpret_cast<const char*>(record.body.data()), record.body.size());
    const py::bytes plain = unpack(record.head.packing, packed, record.head.size);
    const std::string_view view = plain;
    return ObjectOfRecord({reinterpret_cast<const uint8_t*>(view.data()), view.size()}, nullptr);
  } catch (const RecordTrouble& trouble) {
    throw RecordTrouble{trouble.what, record.offset + RecordHead::kSize + trouble.offset};
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    throw RecordTrouble{py::str(error.value()), record.offset};
  }
}

}  // namespace dragon::python
