// Graphs as bytes and as files: the wire form of core/proto/dragon.proto, and one file of a graph and its weights.
//
// A file is a head of 64 bytes (kMagic, version, size of the graph, size of the weights), the GraphDef, and the
// weights, each at a multiple of 64 bytes, so that they can be used where the file is mapped.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/framework/graph.h"

namespace dragon {

/// The version that is written; all up to it are read.
inline constexpr int64_t kGraphVersion = 2;

/// A GraphDef, complete by itself. What no file can hold is a NotImplementedError that names it.
DRAGON_API std::string EncodeGraph(const Graph& graph);
/// The graph of these bytes, verified. What is wrong with them is an error that tells where.
DRAGON_API Graph DecodeGraph(std::span<const uint8_t> bytes);

/// Write a file, from its first byte to its last. Whoever replaces one has a name beside it written, and renames that.
DRAGON_API void SaveGraph(const Graph& graph, const std::string& path);
/// Read a file. `map`: the constants are the file's own pages, read when they are first used; writes to them stay here.
DRAGON_API Graph LoadGraph(const std::string& path, bool map = true);

// --- for those two: where constants' numbers are when they are not among the bytes

/// Takes a tensor's bytes away, and returns where it puts them.
using PutWeights = std::function<int64_t(const Tensor& tensor, int64_t bytes)>;
struct StoredWeights {
  std::span<uint8_t> bytes;
  std::shared_ptr<void> owner;  ///< keeps them
};
std::string EncodeGraph(const Graph& graph, const PutWeights& put);
Graph DecodeGraph(std::span<const uint8_t> bytes, const StoredWeights* weights);
/// A constant as it is written: on the CPU, with strides that leave no gaps.
Tensor ToWritten(const Tensor& tensor);
/// How many bytes lie between a tensor's first number and its last.
int64_t WrittenBytes(const Tensor& tensor);

}  // namespace dragon
