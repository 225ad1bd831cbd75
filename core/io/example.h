// Serialized `tf.train.Example` messages: one feature of many, or all of one, without an object per value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

/// The values of one feature of several examples.
class DRAGON_API ExampleColumn {
 public:
  /// As the message numbers them.
  enum class Kind : uint8_t { kBytes = 1, kFloat = 2, kInt = 3 };
  /// What AddExample says in the place of a number of values.
  static constexpr int64_t kMissing = -1, kOtherKind = -2, kBroken = -3;

  /// An entry without a name is one of the empty name.
  ExampleColumn(std::string name, Kind kind) : name_(std::move(name)), kind_(kind) {}

  /// Add the feature of one example; returns the number of values, or what is wrong. Bytes are not copied: those of the
  /// example must stay.
  int64_t AddExample(std::span<const uint8_t> example);
  /// Add a list of values of this kind; returns their number, or that it is broken.
  int64_t AddList(std::span<const uint8_t> list);

  Kind kind() const { return kind_; }
  const std::vector<int64_t>& integers() const { return integers_; }
  /// Float32 numbers, as bytes.
  const std::string& floats() const { return floats_; }
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  int64_t AddFeature(std::span<const uint8_t> feature);
  int64_t AddPacked(std::span<const uint8_t> numbers);

  std::string name_;
  Kind kind_;
  std::vector<int64_t> integers_;
  std::string floats_;
  std::vector<std::string_view> texts_;
};

/// One entry of an example's map.
struct DRAGON_API ExampleFeature {
  std::string_view name;
  uint32_t kind = 0;                   ///< as the message numbers them; 0 for a feature without a value
  std::span<const uint8_t> list = {};  ///< its values, for `ExampleColumn::AddList`
};

/// The entries of an example, as they stand there; false if it is broken.
DRAGON_API bool ListFeatures(std::span<const uint8_t> example, std::vector<ExampleFeature>* features);

}  // namespace dragon
