// Writing a tile program as a kernel: one pass over packs of elements; or, where rows are reduced, a warp or a block
// for each row, which passes over the row once for every level of reductions and keeps what it needs again in
// registers; or, where columns are folded, blocks of columns that go down the rows.
#include "core/kernels/tile_source.h"

#include <algorithm>

#include "core/kernels/device_program.h"
#include "core/kernels/tile_steps.h"

namespace dragon::kernels {

namespace {

constexpr int kWarp = 32, kMostThreads = 1024, kPassThreads = 256, kWarpBlock = 128;
/// Elements of a row that a warp's thread may hold; longer rows have a block.
constexpr int64_t kMostHeld = 16, kHeld = 8;
/// Elements that a thread of the longest rows may have, and additions that all of them may be worth.
constexpr int64_t kMostPerThread = 64, kMostUnrolled = 4096;
constexpr int64_t kMostBlocks = 65535, kMostFoldBlocks = 1024, kMostRowBlocks = int64_t{1} << 30;
/// Lines of a block that goes down columns, each of which takes several rows.
constexpr int64_t kLines = kPassThreads / kWarp, kLeastRows = 4 * kLines;

int64_t Parts(int64_t n, int64_t each) { return (n + each - 1) / each; }

class Writer : public TileSteps {
 public:
  using TileSteps::TileSteps;

  std::unique_ptr<TileSource> Write() {
    if (!Takes() || !PlanThreads()) return nullptr;
    Reducers();
    AddAddresses();
    AddParts();
    PlacesText places(walk_, &arguments_);
    places_ = &places;
    AddFunctors();
    if (!named_) return nullptr;
    const std::string body = form_ == Form::kPass ? Pass() : form_ == Form::kRows ? Rows() : Columns();
    const std::string finish = made_->folds ? Finish() : "";
    made_->arguments = arguments_.Bytes();
    if (made_->arguments.size() > kMostArgumentBytes) return nullptr;
    made_->files = functors_.files();
    made_->text =
        "#define DRAGON_DEVICE_TYPE 1\n#define DRAGON_DEVICE parts\n#include \"core/kernels/generated/parts.h\"\n"
        "#undef DRAGON_DEVICE\n" +
        functors_.Text() + "namespace dragon::generated {\n" + arguments_.Text() + body + finish + "}\n";
    return std::move(made_);
  }

 private:
  bool Takes() const {
    for (size_t k = 0; k < state_.inputs.size(); ++k) {
      int64_t numel = 1;
      for (int64_t size : state_.inputs[k].shape) numel *= size;
      if (on_host_[k] && numel != 1) return false;
    }
    // A block has whole rows, or whole columns.
    const bool columns = std::any_of(state_.folds.begin(), state_.folds.end(), [](const auto& f) { return f.columns; });
    if (form_ == Form::kRows && columns) return false;
    // Down the columns, nobody waits with what a row makes until all have read what it may lie over.
    return form_ != Form::kColumns || std::all_of(state_.output_values.begin(), state_.output_values.end(),
                                                  [this](int32_t value) { return !IsRow(value); });
  }

  bool PlanThreads() {
    made_->folds = static_cast<int>(state_.folds.size());
    const int64_t packs = Parts(walk_.elements.numel, walk_.width);
    if (form_ == Form::kRows) return PlanRows(packs);
    made_->threads = kPassThreads;
    if (form_ == Form::kPass) {
      const int64_t most = made_->folds ? kMostFoldBlocks : kMostBlocks;
      made_->blocks = static_cast<unsigned>(std::clamp<int64_t>(Parts(packs, kPassThreads), 1, most));
      return true;
    }
    across_ = Parts(packs, kWarp);
    const int64_t wanted = std::max<int64_t>(kMostFoldBlocks / across_, 1);
    each_ = std::max(Parts(walk_.rows.numel, wanted), kLeastRows);
    down_ = Parts(walk_.rows.numel, each_);
    if (across_ * down_ > kMostRowBlocks) return false;
    made_->blocks = static_cast<unsigned>(across_ * down_);
    return true;
  }
  bool PlanRows(int64_t packs) {
    by_block_ = packs > kWarp * std::max<int64_t>(kMostHeld / walk_.width, 1);
    int64_t each = kWarp, groups = kWarpBlock / kWarp;
    if (by_block_) {
      const int64_t wanted = std::max<int64_t>(kHeld / walk_.width, 1);
      each = std::clamp<int64_t>(Parts(Parts(packs, wanted), kWarp) * kWarp, 2 * kWarp, kMostThreads);
      groups = 1;
    }
    made_->threads = static_cast<unsigned>(by_block_ ? each : kWarpBlock);
    packs_ = Parts(packs, each);
    const int64_t most = made_->folds ? kMostFoldBlocks : kMostRowBlocks;
    made_->blocks = static_cast<unsigned>(std::clamp<int64_t>(Parts(walk_.rows.numel, groups), 1, most));
    return packs_ * walk_.width <= kMostPerThread && packs_ * walk_.width * state_.cost <= kMostUnrolled;
  }

  /// Where the parts of each fold begin, and how a block knows its columns and its rows.
  void AddParts() {
    int64_t bytes = 0;
    for (size_t k = 0; k < state_.folds.size(); ++k) {
      arguments_.Add("int64_t parts" + Number(static_cast<int64_t>(k)), sizeof(bytes), sizeof(bytes), &bytes);
      const bool columns = form_ == Form::kColumns && state_.folds[k].columns;
      bytes += kPartBytes * (columns ? down_ * walk_.elements.numel : made_->blocks);
    }
    made_->parts_bytes = bytes;
    if (form_ == Form::kColumns) {
      arguments_.Add("int64_t across", sizeof(across_), sizeof(across_), &across_);
      arguments_.Add("int64_t each", sizeof(each_), sizeof(each_), &each_);
      arguments_.Add("int64_t down", sizeof(down_), sizeof(down_), &down_);
      made_->finish_blocks = static_cast<unsigned>(Parts(walk_.elements.numel, kPassThreads));
    }
  }

  std::string Begin(const char* name, unsigned threads) const {
    return std::string("extern \"C\" __global__ void __launch_bounds__(") + Number(threads) + ") " + name +
           "(const __grid_constant__ Arguments a) {\n";
  }
  std::string LeftLine(const std::string& pack) const {
    const std::string width = Number(walk_.width);
    if (walk_.elements.shape.size() <= 1) {
      return "const int64_t left = a.elements - static_cast<int64_t>(" + pack + ") * " + width + ";\n";
    }
    return "const int64_t left = static_cast<int64_t>(" + pack + ") * " + width + " < a.elements ? " + width +
           " : 0;\n";
  }

  /// The kernel of a program without rows.
  std::string Pass() {
    const std::string index = places_->index(), width = Number(walk_.width);
    std::string lines = Begin("Main", kPassThreads) + States(true, 0);
    lines += "const auto packs = static_cast<" + index + ">((a.elements + " + Number(walk_.width - 1) + ") / " + width +
             "), step = static_cast<" + index + ">(gridDim.x) * blockDim.x;\n";
    lines +=
        "for (auto p = static_cast<" + index + ">(blockIdx.x) * blockDim.x + threadIdx.x; p < packs; p += step) {\n";
    lines += places_->Split(false, "p") + LeftLine("p") + PackLines(0) + "}\n";
    return lines + LeaveParts() + "}\n";
  }

  /// Row values that are known after so many reductions.
  std::string RowLines(int level) const {
    std::string lines;
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      const int32_t to = step.operands[0];
      if (to < 0 || !IsRow(to) || levels_.depth[to] != level) continue;
      if (step.kind == Kind::kReduce) {
        lines += std::string("const ") + Type(to) + ' ' + Name(to) + " = Finished<" + Type(to) + ">(" + reducers_[i] +
                 "{}, Share<" + (by_block_ ? "true" : "false") + ">(" + reducers_[i] + "{}, s" + Number(i) +
                 "), a.elements);\n";
      } else {
        lines += Defined(i);
      }
    }
    return lines;
  }

  std::string RowPlaces() {
    std::string lines = places_->Split(true, "static_cast<" + std::string(places_->index()) + ">(row)");
    for (size_t k = 0; k < state_.outputs.size() + state_.inputs.size(); ++k) {
      lines += "const " + std::string(places_->index()) + " o" + Number(k) + " = " + places_->Offset(true, k) + ";\n";
    }
    for (size_t k = 0; k < state_.inputs.size(); ++k) {
      const int32_t value = state_.input_values[k];
      if (!IsRow(value)) continue;
      lines += std::string("const ") + Type(value) + ' ' + Name(value) + " = " + One(k, true) + ";\n";
    }
    return lines;
  }

  bool HasElements(int level) const {
    return std::any_of(levels_.level.begin(), levels_.level.end(), [level](int of) { return of == level; }) ||
           (level == levels_.last && (made_->folds || HasFullOutput())) || ReadsHeld(level);
  }
  bool HasFullOutput() const {
    return std::any_of(state_.output_values.begin(), state_.output_values.end(),
                       [this](int32_t value) { return !IsRow(value); });
  }
  /// A reduction, be it of what an earlier level had made already.
  bool ReadsHeld(int level) const {
    return std::any_of(state_.steps.begin(), state_.steps.end(), [&](const TileStep& step) {
      return step.kind == Kind::kReduce && levels_.depth[step.operands[0]] == level + 1;
    });
  }

  /// The kernel of a program whose rows are reduced.
  std::string Rows() {
    const std::string threads = by_block_ ? Number(made_->threads) : Number(kWarp);
    std::string lines = Begin("Main", made_->threads) + States(true, 0);
    lines += by_block_
                 ? "const int thread = threadIdx.x;\nconst int64_t first = blockIdx.x, step = gridDim.x;\n"
                 : "const int thread = threadIdx.x % 32;\nconst int64_t first = static_cast<int64_t>(blockIdx.x) * "
                   "4 + threadIdx.x / 32, step = static_cast<int64_t>(gridDim.x) * 4;\n";
    lines += "for (int64_t row = first; row < a.rows; row += step) {\n" + RowPlaces();
    for (const int32_t value : levels_.held) {
      lines += std::string(Type(value)) + " h" + Number(value) + "[" + Number(packs_ * walk_.width) + "];\n";
    }
    for (int level = 0; level <= levels_.last; ++level) {
      lines += RowLines(level);
      if (!HasElements(level)) continue;
      lines += States(false, level) + "#pragma unroll\nfor (int k = 0; k < " + Number(packs_) + "; ++k) {\nconst " +
               places_->index() + " p = static_cast<" + places_->index() + ">(k * " + threads + " + thread);\n" +
               LeftLine("p") + places_->Split(false, "p") + PackLines(level) + "}\n";
    }
    for (size_t k = 0; k < state_.outputs.size(); ++k) {
      const int32_t value = state_.output_values[k];
      if (!IsRow(value)) continue;
      lines += std::string("if (thread == 0) *reinterpret_cast<") + Type(value) + "*>(a.y" + Number(k) + " + o" +
               Number(k) + ") = " + Name(value) + ";\n";
    }
    return lines + "}\n" + LeaveParts() + "}\n";
  }

  /// The kernel of a program whose columns are folded: a block has 32 packs of them, and each of its lines every eighth
  /// row of the block's share.
  std::string Columns() {
    const std::string index = places_->index();
    std::string lines = Begin("Main", kPassThreads) + States(true, 0);
    lines += "const auto p = static_cast<" + index + ">(blockIdx.x % a.across * 32 + threadIdx.x % 32);\n";
    lines += LeftLine("p") + places_->Split(false, "p");
    lines += "const int64_t share = blockIdx.x / a.across, first = share * a.each + threadIdx.x / 32;\n";
    lines += "const int64_t end = (share + 1) * a.each < a.rows ? (share + 1) * a.each : a.rows;\n";
    lines += "for (int64_t row = first; row < end; row += " + Number(kLines) + ") {\n" + RowPlaces() + RowLines(0) +
             PackLines(0) + "}\n";
    return lines + LeaveParts() + "}\n";
  }

  // --- folds

  static std::string PartsOf(const TileStep& step) { return "a.parts + a.parts" + Number(step.external); }

  /// Each block's state of each fold goes to memory; all threads come here.
  std::string LeaveParts() const {
    std::string lines;
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      if (step.kind != Kind::kFold) continue;
      const std::string s = "s" + Number(i), r = reducers_[i] + "{}", width = Number(walk_.width);
      if (IsColumns(step)) {
        lines += "LeaveColumns<" + width + ">(" + r + ", " + s + ", " + PartsOf(step) +
                 ", share * a.elements + static_cast<int64_t>(p) * " + width + ", left);\n";
        continue;
      }
      lines += s + " = Share<true>(" + r + ", " + s + ");\n";
      lines += "if (threadIdx.x == 0) reinterpret_cast<decltype(" + s + ")*>(" + PartsOf(step) +
               ")[blockIdx.x] = " + s + ";\n";
    }
    return lines;
  }

  /// The kernel that makes results of what blocks left behind: a line of blocks for each fold.
  std::string Finish() const {
    std::string lines = Begin("Finish", kPassThreads);
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      if (step.kind != Kind::kFold) continue;
      const TileFold& fold = state_.folds[step.external];
      const bool columns = IsColumns(step);
      const std::string r = reducers_[i] + "{}", of = reducers_[i] + ", decltype(" + r + ".Identity())>(" + r + ", ",
                        parts = TypeText(fold.dtype), result = TypeText(fold.result);
      lines += "if (blockIdx.y == " + Number(step.external) + (columns ? ") {\n" : " && blockIdx.x == 0) {\n");
      lines += columns ? "const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
                         "if (place >= a.elements) return;\nconst int64_t count = a.rows;\n"
                         "const auto state = MeetParts<" +
                             of + PartsOf(step) + ", place, a.elements, a.down);\n"
                       : "const int64_t place = 0, count = a.rows * a.elements;\n"
                         "const auto state = ShareParts<" +
                             of + PartsOf(step) + ", a.blocks);\n";
      lines += "auto total = Finished<" + parts + ">(" + r + ", state, count);\n";
      if (fold.mean) lines += "total = total / static_cast<" + parts + ">(count);\n";
      lines += (columns ? "" : "if (threadIdx.x == 0) ") + ("reinterpret_cast<" + result) + "*>(a.total" +
               Number(step.external) + ")[place] = Cast<" + result + ">(total);\n}\n";
    }
    return lines + "}\n";
  }

  int64_t packs_ = 1;                         ///< of a row for each thread
  int64_t across_ = 1, down_ = 1, each_ = 1;  ///< blocks of columns, and of rows; and rows of a block
  bool by_block_ = false;
};

}  // namespace

std::unique_ptr<TileSource> WriteTileSource(const TileProgram::State& state, const OnHost& on_host, bool packs) {
  return Writer(state, on_host, packs).Write();
}

}  // namespace dragon::kernels
