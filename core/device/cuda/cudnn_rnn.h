// What we use of cuDNN 9's interface to recurrent networks: all layers and directions in one call.
#pragma once

#include <cstdint>

#include "core/device/cuda/cudnn.h"

namespace dragon::cudnn {

// Opaque to us.
using RnnDescriptor = struct RnnOfCudnn*;
using RnnDataDescriptor = struct RnnDataOfCudnn*;
using DropoutDescriptor = struct DropoutOfCudnn*;

// Enumerators have cuDNN's values.
enum RnnMode : int { kRnnRelu = 0, kRnnTanh = 1, kRnnLstm = 2, kRnnGru = 3 };
enum RnnBiases : int { kNoBiases = 0, kTwoBiases = 2 };
enum RnnDirections : int { kOneDirection = 0, kTwoDirections = 1 };
enum RnnPass : int { kInference = 0, kTraining = 1 };
/// The way that takes every case; others are for some sizes.
enum RnnAlgorithm : int { kStandard = 0 };
enum RnnInput : int { kMultiplied = 0 };
/// Rows of step after step, longer sequences first, without gaps: as our packed sequences lie.
enum RnnLayout : int { kPackedBySteps = 1 };
/// Weights' gradients are added to what is there, which is the only way that it has.
enum RnnGradients : int { kAddGradients = 0 };

/// The functions, by cuDNN's names. See its reference for what they take.
struct RnnApi {
  const char* (*GetErrorString)(Status);
  Status (*CreateTensorDescriptor)(TensorDescriptor*);
  Status (*DestroyTensorDescriptor)(TensorDescriptor);
  Status (*SetTensorNdDescriptor)(TensorDescriptor, DataType, int ndim, const int* sizes, const int* strides);
  Status (*GetTensorNdDescriptor)(TensorDescriptor, int asked, DataType*, int* ndim, int* sizes, int* strides);
  Status (*CreateDropoutDescriptor)(DropoutDescriptor*);
  Status (*DestroyDropoutDescriptor)(DropoutDescriptor);
  Status (*SetDropoutDescriptor)(DropoutDescriptor, Handle, float share, void* states, size_t bytes,
                                 unsigned long long seed);  // NOLINT: cuDNN's own type
  Status (*CreateRNNDescriptor)(RnnDescriptor*);
  Status (*DestroyRNNDescriptor)(RnnDescriptor);
  Status (*SetRNNDescriptor)(RnnDescriptor, RnnAlgorithm, RnnMode, RnnBiases, RnnDirections, RnnInput, DataType stored,
                             DataType computed, MathType, int32_t inputs, int32_t units, int32_t outputs,
                             int32_t layers, DropoutDescriptor, uint32_t flags);
  Status (*CreateRNNDataDescriptor)(RnnDataDescriptor*);
  Status (*DestroyRNNDataDescriptor)(RnnDataDescriptor);
  Status (*SetRNNDataDescriptor)(RnnDataDescriptor, DataType, RnnLayout, int steps, int batch, int width,
                                 const int* lengths, void* padding);
  Status (*GetRNNTempSpaceSizes)(Handle, RnnDescriptor, RnnPass, RnnDataDescriptor x, size_t* workspace,
                                 size_t* reserve);
  Status (*GetRNNWeightSpaceSize)(Handle, RnnDescriptor, size_t*);
  Status (*GetRNNWeightParams)(Handle, RnnDescriptor, int32_t place, size_t bytes, const void* weights, int32_t product,
                               TensorDescriptor matrix, void** matrix_at, TensorDescriptor bias, void** bias_at);
  Status (*RNNForward)(Handle, RnnDescriptor, RnnPass, const int32_t* lengths, RnnDataDescriptor, const void* x,
                       RnnDataDescriptor, void* y, TensorDescriptor, const void* h0, void* hn, TensorDescriptor,
                       const void* c0, void* cn, size_t weight_bytes, const void* weights, size_t workspace_bytes,
                       void* workspace, size_t reserve_bytes, void* reserve);
  Status (*RNNBackwardData)(Handle, RnnDescriptor, const int32_t* lengths, RnnDataDescriptor, const void* y,
                            const void* dy, RnnDataDescriptor, void* dx, TensorDescriptor, const void* h0,
                            const void* dhn, void* dh0, TensorDescriptor, const void* c0, const void* dcn, void* dc0,
                            size_t weight_bytes, const void* weights, size_t workspace_bytes, void* workspace,
                            size_t reserve_bytes, void* reserve);
  Status (*RNNBackwardWeights)(Handle, RnnDescriptor, RnnGradients, const int32_t* lengths, RnnDataDescriptor,
                               const void* x, TensorDescriptor, const void* h0, RnnDataDescriptor, const void* y,
                               size_t weight_bytes, void* dweights, size_t workspace_bytes, void* workspace,
                               size_t reserve_bytes, void* reserve);
};

/// A RuntimeError that names what is missing if the library is not there.
const RnnApi& RnnFunctions();

}  // namespace dragon::cudnn
