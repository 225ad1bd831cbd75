// Ranges of free memory in order of address, among which the first that is large enough is found in logarithmic time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragon {

/// Bytes side by side. The tree that holds an extent owns the fields after `bytes`.
struct Extent {
  char* base;
  size_t bytes;
  size_t largest;  // of the extents below and including this one
  Extent *left, *right;

  char* end() const { return base + bytes; }
};

/// A treap: ordered by address, a heap by a mixed-up form of the address. It allocates nothing.
class ExtentTree {
 public:
  void Insert(Extent* extent) { root_ = Insert(root_, extent); }
  /// Take out an extent that is in the tree.
  void Remove(Extent* extent) { root_ = Remove(root_, extent); }
  /// The lowest extent of at least `bytes`, or nullptr.
  Extent* First(size_t bytes) const;
  /// A largest extent, or nullptr.
  Extent* Largest() const { return root_ ? First(root_->largest) : nullptr; }
  /// The extent that ends at an address, or nullptr.
  Extent* EndingAt(const char* address) const;
  /// The extent that begins at an address, or nullptr.
  Extent* BeginningAt(const char* address) const;
  /// The next extent behind an address, or nullptr.
  Extent* Above(const char* address) const;

 private:
  static uint64_t Priority(const Extent* extent);
  static void Update(Extent* extent);
  static Extent* Insert(Extent* root, Extent* extent);
  static Extent* Remove(Extent* root, Extent* extent);
  /// Part a tree into what lies below an address and the rest.
  static void Split(Extent* root, const char* address, Extent** low, Extent** high);
  /// Join two trees of which all of the first lies below the second.
  static Extent* Join(Extent* low, Extent* high);

  Extent* root_ = nullptr;
};

}  // namespace dragon
