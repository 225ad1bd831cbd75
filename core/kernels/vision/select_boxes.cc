// The best of many boxes: those that overlap no better one too much, or whose score outlasts the overlaps.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Corner by corner, so that one box meets many at a time; in each row of columns there is room for `count`.
template <typename W>
struct BoxColumns {
  std::vector<W> top, left, bottom, right, area;

  void Add(W y1, W x1, W y2, W x2) {
    top.push_back(std::min(y1, y2)), bottom.push_back(std::max(y1, y2));
    left.push_back(std::min(x1, x2)), right.push_back(std::max(x1, x2));
    area.push_back((bottom.back() - top.back()) * (right.back() - left.back()));
  }
  void Add(const BoxColumns& other, int64_t i) {
    top.push_back(other.top[i]), left.push_back(other.left[i]);
    bottom.push_back(other.bottom[i]), right.push_back(other.right[i]);
    area.push_back(other.area[i]);
  }
  int64_t size() const { return static_cast<int64_t>(top.size()); }
  void clear() { top.clear(), left.clear(), bottom.clear(), right.clear(), area.clear(); }
  /// What box i of `all` and box j of these share, by what both cover; 0 where that is nothing.
  DRAGON_FN W Overlap(const BoxColumns& all, int64_t i, int64_t j) const {
    const W height = std::max(W(0), std::min(bottom[j], all.bottom[i]) - std::max(top[j], all.top[i]));
    const W width = std::max(W(0), std::min(right[j], all.right[i]) - std::max(left[j], all.left[i]));
    const W shared = height * width, whole = area[j] + all.area[i] - shared;
    return shared / (whole > 0 ? whole : W(1));
  }
};

template <typename T>
struct Selection {
  const T* boxes;
  const T* scores;
  int64_t count;
  const SelectBoxesSpec& spec;
  int32_t* kept;
  T* values;
  int64_t found = 0;

  using W = Wide<T>;
  W Score(int64_t i) const { return static_cast<W>(scores[i]); }
  /// Boxes good enough, the best first; of equals the first. What is no number is not good enough.
  std::vector<int32_t> Candidates() const {
    std::vector<int32_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (Score(i) > static_cast<W>(spec.least)) order.push_back(static_cast<int32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return Score(a) > Score(b); });
    return order;
  }
  void Keep(int32_t box, W score) {
    kept[found] = box;
    values[found++] = static_cast<T>(score);
  }
  void Run() {
    BoxColumns<W> all, taken;
    for (int64_t i = 0; i < count; ++i) {
      const T* box = boxes + 4 * i;
      all.Add(static_cast<W>(box[0]), static_cast<W>(box[1]), static_cast<W>(box[2]), static_cast<W>(box[3]));
    }
    spec.sigma > 0 ? Softly(all, &taken) : Strictly(all, &taken);
    std::fill_n(kept + found, spec.limit - found, 0);
    std::fill_n(values + found, spec.limit - found, T(0));
  }
  void Strictly(const BoxColumns<W>& all, BoxColumns<W>* taken) {
    const W threshold = static_cast<W>(spec.overlap);
    for (int32_t i : Candidates()) {
      if (found == spec.limit) return;
      int hidden = 0;
#pragma omp simd reduction(| : hidden)
      for (int64_t j = 0; j < taken->size(); ++j) hidden |= taken->Overlap(all, i, j) > threshold ? 1 : 0;
      if (hidden != 0) continue;
      taken->Add(all, i);
      Keep(i, Score(i));
    }
  }
  /// A box whose score has shrunk waits again, and later meets only what was taken since.
  void Softly(const BoxColumns<W>& all, BoxColumns<W>* taken) {
    struct Waiting {
      double score;
      int32_t box;
      int64_t met;
      bool operator<(const Waiting& other) const {
        return score != other.score ? score < other.score : box > other.box;
      }
    };
    std::priority_queue<Waiting> waiting;
    for (int32_t i : Candidates()) waiting.push({static_cast<double>(Score(i)), i, 0});
    while (!waiting.empty() && found < spec.limit) {
      const Waiting best = waiting.top();
      waiting.pop();
      double share = 1;
      for (int64_t j = best.met; j < taken->size(); ++j) {
        const W overlap = taken->Overlap(all, best.box, j);
        share *= static_cast<double>(std::exp(static_cast<W>(-0.5) * overlap * overlap / static_cast<W>(spec.sigma)));
      }
      const double score = best.score * share;
      if (score == best.score) {
        taken->Add(all, best.box);
        Keep(best.box, static_cast<W>(score));
      } else if (score > spec.least) {
        waiting.push({score, best.box, taken->size()});
      }
    }
  }
};

}  // namespace

template <typename T>
void SelectBoxes(Context&, View kept, View values, View counts, View boxes, View scores, const SelectBoxesSpec& spec) {
  const int64_t rows = scores.shape[0], count = scores.shape[1], shared = rows / std::max<int64_t>(1, boxes.shape[0]);
  ParallelFor(rows, std::max<int64_t>(1, kGrain / (16 * count + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Selection<T> selection{boxes.as<T>() + i / shared * count * 4, scores.as<T>() + i * count,     count, spec,
                             kept.as<int32_t>() + i * spec.limit,    values.as<T>() + i * spec.limit};
      selection.Run();
      counts.as<int32_t>()[i] = static_cast<int32_t>(selection.found);
    }
  });
}
DRAGON_KERNEL(SelectBoxes, Floating);

}  // namespace dragon::DRAGON_DEVICE
