// Einstein's sums: every pair of operands becomes one batched product.
#include <array>
#include <string>
#include <vector>

#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

using namespace products;  // NOLINT: this file is about nothing else

/// Labels are small numbers: letters first, then the axes that an ellipsis stands for, numbered from the last one.
using Label = int;
constexpr Label kLetters = 52;
constexpr int kLabels = kLetters + kMaxDims;

Label LetterLabel(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= 'A' && c <= 'Z') return c - 'A';
  return -1;
}

struct Operand {
  Tensor x;
  std::vector<Label> labels;  // of its axes

  int Find(Label label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    return found == labels.end() ? -1 : static_cast<int>(found - labels.begin());
  }
  bool Has(Label label) const { return Find(label) >= 0; }
};

/// "ab...c" as labels; `hidden` is how many axes the ellipsis stands for.
std::vector<Label> ParseTerm(const char* who, const std::string& term, int hidden) {
  std::vector<Label> labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (seen || term.compare(i, 3, "...") != 0) {
        throw ValueError(who).Got("subscripts \"", term, "\"").Expected("at most one ellipsis \"...\"");
      }
      seen = true;
      i += 2;
      for (int axis = hidden - 1; axis >= 0; --axis) labels.push_back(kLetters + axis);
      continue;
    }
    const Label label = LetterLabel(term[i]);
    if (label < 0) throw ValueError(who).Got("subscript '", term[i], "'").Expected("a letter");
    labels.push_back(label);
  }
  return labels;
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The whole equation: operands with labels, and the labels of the result.
struct Equation {
  std::vector<Operand> operands;
  std::vector<Label> result;
  std::array<int64_t, kLabels> sizes;

  Equation(const CallReader& c, std::string text) : who(c.name()) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const size_t arrow = text.find("->");
    const std::vector<std::string> terms = Split(text.substr(0, arrow));
    const auto tensors = c.list("operands");
    if (terms.size() != tensors.size()) {
      throw ValueError(who).Got(terms.size(), " terms for ", tensors.size(), " operands").Expected("one for each");
    }
    int widest = 0;
    for (size_t i = 0; i < terms.size(); ++i) widest = std::max(widest, AddOperand(terms[i], tensors[i]));
    if (arrow != std::string::npos) {
      result = ParseTerm(who, text.substr(arrow + 2), widest);
      CheckResult(text);
    } else {
      ImplyResult(widest);
    }
  }

 private:
  int AddOperand(const std::string& term, const Tensor& x) {
    const bool dots = term.find('.') != std::string::npos;
    const int letters = static_cast<int>(term.size()) - (dots ? 3 : 0), hidden = x.ndim() - letters;
    if (hidden < 0 || (!dots && hidden != 0)) {
      throw ValueError(who).Got("subscripts \"", term, "\" for shape ", x.shape()).Expected("a letter for each axis");
    }
    operands.push_back({x, ParseTerm(who, term, hidden)});
    if (operands.size() == 1) sizes.fill(-1);
    const std::vector<Label>& labels = operands.back().labels;
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      int64_t& size = sizes[labels[axis]];
      const int64_t mine = x.size(static_cast<int64_t>(axis));
      if (size >= 0 && size != mine && size != 1 && mine != 1) {
        throw ValueError(who)
            .Got("sizes ", size, " and ", mine, " for one subscript of \"", term, "\"")
            .Expected("one size");
      }
      if (size < 0 || size == 1) size = mine;
    }
    return dots ? hidden : 0;
  }

  void CheckResult(const std::string& text) const {
    for (size_t i = 0; i < result.size(); ++i) {
      if (std::find(result.begin(), result.begin() + i, result[i]) != result.begin() + i) {
        throw ValueError(who).Got("equation \"", text, "\"").Expected("each subscript at most once in the result");
      }
      if (sizes[result[i]] < 0) {
        throw ValueError(who).Got("equation \"", text, "\"").Expected("result subscripts that an operand has");
      }
    }
  }

  /// Without an arrow, the result has the ellipsis and then, sorted, the letters that occur once.
  void ImplyResult(int hidden) {
    std::array<int, kLabels> count{};
    for (const Operand& operand : operands) {
      for (Label label : operand.labels) ++count[label];
    }
    for (int axis = hidden - 1; axis >= 0; --axis) result.push_back(kLetters + axis);
    for (Label label = 0; label < kLetters; ++label) {
      if (count[label] == 1) result.push_back(label);
    }
  }

  const char* who;
};

void SumAxes(Operand* operand, const std::vector<int>& axes) {
  if (axes.empty()) return;
  Dims list;
  for (int axis : axes) list.push_back(axis);
  operand->x = Op<"sum">(operand->x, list);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) operand->labels.erase(operand->labels.begin() + *axis);
}

/// Repeated labels become one (the diagonal); axes of size 1 that stand for longer ones are dropped.
void Simplify(const Equation& equation, Operand* operand) {
  for (size_t i = 0; i < operand->labels.size(); ++i) {
    for (size_t j = operand->labels.size() - 1; j > i; --j) {
      if (operand->labels[i] != operand->labels[j]) continue;
      const int64_t a = operand->x.size(i), b = operand->x.size(j);
      if (a == b) {
        operand->x = Op<"movedim">(Op<"diagonal">(operand->x, 0, i, j), -1, i);
      } else {
        // One of them is 1 and repeats: keep the other.
        const Tensor one = Op<"squeeze">(operand->x, a == 1 ? i : j);
        operand->x = a == 1 ? Op<"movedim">(one, j - 1, i) : one;
      }
      operand->labels.erase(operand->labels.begin() + j);
    }
  }
  for (size_t i = operand->labels.size(); i-- > 0;) {
    if (operand->x.size(i) != 1 || equation.sizes[operand->labels[i]] == 1) continue;
    operand->x = Op<"squeeze">(operand->x, i);
    operand->labels.erase(operand->labels.begin() + i);
  }
}

/// The operand with its axes grouped, each group flattened into one axis of the returned tensor.
Tensor Grouped(const Operand& operand, const std::vector<Label>& a, const std::vector<Label>& b,
               const std::vector<Label>& c) {
  Dims axes, shape;
  for (const auto* group : {&a, &b, &c}) {
    int64_t size = 1;
    for (Label label : *group) {
      axes.push_back(operand.Find(label));
      size *= operand.x.size(axes.back());
    }
    shape.push_back(size);
  }
  return Op<"reshape">(Op<"permute">(operand.x, axes), shape);
}

/// Multiply two operands, summing over the labels that nobody else needs.
template <typename Needed>
Operand Contract(Operand x, Operand y, const Needed& needed) {
  const auto sum_out = [&](Operand* mine, const Operand& other) {
    std::vector<int> axes;
    for (size_t i = 0; i < mine->labels.size(); ++i) {
      if (!other.Has(mine->labels[i]) && !needed(mine->labels[i])) axes.push_back(static_cast<int>(i));
    }
    SumAxes(mine, axes);
  };
  sum_out(&x, y);
  sum_out(&y, x);
  std::vector<Label> batch, rows, cols, sums;
  for (Label label : x.labels) (!y.Has(label) ? rows : needed(label) ? batch : sums).push_back(label);
  for (Label label : y.labels) {
    if (!x.Has(label)) cols.push_back(label);
  }
  const Tensor product = Op<"bmm">(Grouped(x, batch, rows, sums), Grouped(y, batch, sums, cols));
  Operand result;
  Dims shape;
  for (const auto* group : {&batch, &rows, &cols}) {
    for (Label label : *group) {
      result.labels.push_back(label);
      const Operand& owner = group == &cols ? y : x;
      shape.push_back(owner.x.size(owner.Find(label)));
    }
  }
  result.x = Op<"reshape">(product, shape);
  return result;
}

Tensors Einsum(const CallReader& c) {
  CheckSameDType(c);
  if (c.x_count() == 0) throw ValueError(c.name()).Got("no operands").Expected("at least one");
  Equation equation(c, c.String("equation"));
  for (Operand& operand : equation.operands) Simplify(equation, &operand);
  Operand product = equation.operands[0];
  for (size_t i = 1; i < equation.operands.size(); ++i) {
    const auto needed = [&](Label label) {
      if (std::find(equation.result.begin(), equation.result.end(), label) != equation.result.end()) return true;
      for (size_t later = i + 1; later < equation.operands.size(); ++later) {
        if (equation.operands[later].Has(label)) return true;
      }
      return false;
    };
    product = Contract(std::move(product), equation.operands[i], needed);
  }
  std::vector<int> rest;
  for (size_t i = 0; i < product.labels.size(); ++i) {
    const Label label = product.labels[i];
    if (std::find(equation.result.begin(), equation.result.end(), label) == equation.result.end()) {
      rest.push_back(static_cast<int>(i));
    }
  }
  SumAxes(&product, rest);
  Dims axes;
  for (Label label : equation.result) axes.push_back(product.Find(label));
  return {Op<"permute">(product.x, axes)};
}

[[maybe_unused]] const auto& einsum =
    DefineOp("einsum(str equation, Tensor[] operands) -> Tensor")
        .Doc("Sum products of elements along the axes that the equation names, as in \"ij,jk->ik\".")
        .As(Einsum);

Tensors Tensordot(const CallReader& c) {
  CheckSameDType(c);
  const Tensor &x = c.x("x"), &y = c.x("y");
  const Dims& x_axes = c.Ints("x_axes");
  const Dims& y_axes = c.Ints("y_axes");
  if (x_axes.size() != y_axes.size() || x_axes.size() > std::min(x.ndim(), y.ndim())) {
    throw ValueError(c.name())
        .Got("axes ", x_axes, " and ", y_axes, " for shapes ", x.shape(), " and ", y.shape())
        .Expected("lists of one length, of axes that both have");
  }
  NormalizeAxes(c.name(), x_axes, x.ndim(), /*empty_is_all=*/false);  // refuses repetitions
  NormalizeAxes(c.name(), y_axes, y.ndim(), /*empty_is_all=*/false);
  Operand a{x, {}}, b{y, {}};
  for (int i = 0; i < x.ndim(); ++i) a.labels.push_back(i);
  for (int i = 0; i < y.ndim(); ++i) b.labels.push_back(x.ndim() + i);
  std::vector<Label> rows, cols, sums;
  for (int i = 0; i < x_axes.size(); ++i) {
    const int64_t mine = NormalizeAxis(c.name(), x_axes[i], x.ndim()),
                  other = NormalizeAxis(c.name(), y_axes[i], y.ndim());
    if (x.size(mine) != y.size(other)) {
      throw ValueError(c.name())
          .Got("sizes ", x.size(mine), " and ", y.size(other), " of axes ", mine, " and ", other)
          .Expected("equal sizes");
    }
    sums.push_back(static_cast<Label>(mine));
    b.labels[other] = static_cast<Label>(mine);
  }
  Dims shape;
  for (Label label : a.labels) {
    if (std::find(sums.begin(), sums.end(), label) == sums.end()) rows.push_back(label), shape.push_back(x.size(label));
  }
  for (size_t axis = 0; axis < b.labels.size(); ++axis) {
    if (b.labels[axis] >= x.ndim()) cols.push_back(b.labels[axis]), shape.push_back(y.size(axis));
  }
  const Tensor left = Op<"squeeze">(Grouped(a, {}, rows, sums), 0),
               right = Op<"squeeze">(Grouped(b, {}, sums, cols), 0);
  return {Op<"reshape">(Op<"mm">(left, right), shape)};
}

[[maybe_unused]] const auto& tensordot =
    DefineOp("tensordot(Tensor x, Tensor y, int[] x_axes, int[] y_axes) -> Tensor")
        .Doc("Sum products over pairs of axes; the other axes of x come first in the result, then those of y.")
        .As(Tensordot);

}  // namespace
}  // namespace dragon
