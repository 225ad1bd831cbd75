// KPLRecord files, seen from Python.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/bindings/python.h"
#include "core/bindings/record_objects.h"
#include "core/io/record_file.h"

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

std::unique_ptr<ByteSource> SourceOf(py::handle source) {
  if (py::isinstance<py::int_>(source)) return std::make_unique<FileBytes>(source.cast<int>());
  return std::make_unique<AskedBytes>(py::reinterpret_borrow<py::object>(source));
}

py::bytes PlacesAsBytes(const std::vector<RecordPlace>& places) {
  return py::bytes(reinterpret_cast<const char*>(places.data()), places.size() * sizeof(RecordPlace));
}

std::vector<RecordPlace> PlacesOf(const py::bytes& bytes) {
  const std::string_view view = bytes;
  if (view.size() % sizeof(RecordPlace)) throw ValueError("kpl_read").Got(view.size(), " bytes").Expected("pairs");
  std::vector<RecordPlace> places(view.size() / sizeof(RecordPlace));
  std::copy_n(view.data(), view.size(), reinterpret_cast<char*>(places.data()));
  return places;
}

std::vector<size_t> OrderOfPlaces(const std::vector<RecordPlace>& places) {
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto by_place = [&](size_t a, size_t b) { return places[a].offset < places[b].offset; };
  if (!std::is_sorted(order.begin(), order.end(), by_place)) std::stable_sort(order.begin(), order.end(), by_place);
  return order;
}

/// The value of a record; `unpack` is asked for the body of a packed one.
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

/// (values in the order of their places, None), or (None, (what is wrong, where)).
py::tuple ReadValues(py::object source, uint64_t file_size, py::bytes pairs, uint8_t kind, py::object unpack) {
  const auto places = PlacesOf(pairs);
  const auto order = OrderOfPlaces(places);
  std::vector<RecordPlace> sorted(places.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = places[order[i]];
  const auto bytes = SourceOf(source);
  py::list values(places.size());
  RecordMemory memory;
  try {
    for (size_t first = 0; first < sorted.size();) {
      const std::span<const RecordPlace> rest(sorted.data() + first, sorted.size() - first);
      const size_t count = RecordBlock::CountTogether(rest);
      std::optional<RecordBlock> block;
      {
        const WithoutGil free;
        block.emplace(*bytes, file_size, rest.first(count), &memory);
      }
      for (size_t i = 0; i < count; ++i) {
        // The list is new, and nobody else has it: each place is filled once.
        PyList_SET_ITEM(values.ptr(), static_cast<Py_ssize_t>(order[first + i]),
                        ValueOf(block->records()[i], memory, kind, unpack).release().ptr());
      }
      first += count;
    }
  } catch (const RecordTrouble& trouble) {
    return py::make_tuple(py::none(), py::make_tuple(trouble.what, trouble.offset));
  }
  return py::make_tuple(values, py::none());
}

py::tuple ScanFile(py::object source, uint64_t file_size, uint64_t start) {
  const auto bytes = SourceOf(source);
  RecordScan found;
  {
    const WithoutGil free;
    found = ScanRecords(*bytes, file_size, start);
  }
  return py::make_tuple(PlacesAsBytes(found.samples), PlacesAsBytes(found.lost));
}

/// (kind, bytes of the frame without the zeros after it), or None.
py::object HeadAt(py::bytes bytes, uint64_t offset) {
  const std::string_view view = bytes;
  RecordHead head;
  if (view.size() < RecordHead::kSize) return py::none();
  if (!ReadRecordHead(reinterpret_cast<const uint8_t*>(view.data()), offset, &head)) return py::none();
  if (head.stored > UINT64_MAX - RecordHead::kSize) return py::none();
  return py::make_tuple(static_cast<int>(head.kind), head.FrameSize());
}

}  // namespace

void RegisterRecordFiles(py::module_& m) {
  m.def("kpl_read", ReadValues,
        "The values of the records at some places of a file, a descriptor or a function of place and size: (values, "
        "None), or (None, (what is wrong, where)).",
        py::arg("source"), py::arg("size"), py::arg("places"), py::arg("kind"), py::arg("unpack"));
  m.def("kpl_scan", ScanFile, "The places of samples found without an index, and of what is lost between them.",
        py::arg("source"), py::arg("size"), py::arg("start"));
  m.def("kpl_head", HeadAt, "(kind, size) of the frame whose head stands at some place of a file, or None.",
        py::arg("bytes"), py::arg("offset"));
}

}  // namespace dragon::python
