// The treap's turns. Each is as deep as the tree, which is logarithmic in all but impossibly unlucky cases.
#include "core/device/extent_tree.h"

#include <algorithm>

namespace dragon {

uint64_t ExtentTree::Priority(const Extent* extent) {
  // The mixing steps of SplitMix64: addresses that differ in a few bits get unrelated priorities.
  auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(extent->base));
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

void ExtentTree::Update(Extent* extent) {
  extent->largest = extent->bytes;
  for (const Extent* child : {extent->left, extent->right}) {
    if (child) extent->largest = std::max(extent->largest, child->largest);
  }
}

Extent* ExtentTree::Insert(Extent* root, Extent* extent) {
  if (!root || Priority(extent) > Priority(root)) {
    Split(root, extent->base, &extent->left, &extent->right);
    Update(extent);
    return extent;
  }
  Extent*& side = extent->base < root->base ? root->left : root->right;
  side = Insert(side, extent);
  Update(root);
  return root;
}

Extent* ExtentTree::Remove(Extent* root, Extent* extent) {
  if (root == extent) return Join(root->left, root->right);
  Extent*& side = extent->base < root->base ? root->left : root->right;
  side = Remove(side, extent);
  Update(root);
  return root;
}

void ExtentTree::Split(Extent* root, const char* address, Extent** low, Extent** high) {
  if (!root) {
    *low = *high = nullptr;
  } else if (root->base < address) {
    *low = root;
    Split(root->right, address, &root->right, high);
    Update(root);
  } else {
    *high = root;
    Split(root->left, address, low, &root->left);
    Update(root);
  }
}

Extent* ExtentTree::Join(Extent* low, Extent* high) {
  if (!low || !high) return low ? low : high;
  Extent* const root = Priority(low) > Priority(high) ? low : high;
  if (root == low) {
    low->right = Join(low->right, high);
  } else {
    high->left = Join(low, high->left);
  }
  Update(root);
  return root;
}

Extent* ExtentTree::First(size_t bytes) const {
  Extent* extent = root_;
  if (!extent || extent->largest < bytes) return nullptr;
  while (true) {
    if (extent->left && extent->left->largest >= bytes) {
      extent = extent->left;
    } else if (extent->bytes >= bytes) {
      return extent;
    } else {
      extent = extent->right;
    }
  }
}

Extent* ExtentTree::EndingAt(const char* address) const {
  Extent* below = nullptr;
  for (Extent* extent = root_; extent;) {
    if (extent->base < address) below = extent;
    extent = extent->base < address ? extent->right : extent->left;
  }
  return below && below->end() == address ? below : nullptr;
}

Extent* ExtentTree::BeginningAt(const char* address) const {
  Extent* extent = root_;
  while (extent && extent->base != address) extent = address < extent->base ? extent->left : extent->right;
  return extent;
}

Extent* ExtentTree::Above(const char* address) const {
  Extent* above = nullptr;
  for (Extent* extent = root_; extent;) {
    if (extent->base > address) above = extent;
    extent = extent->base > address ? extent->left : extent->right;
  }
  return above;
}

}  // namespace dragon
