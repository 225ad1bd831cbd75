// What we use of cuDNN 9: its classic interface to convolution; cudnn_graph.h has its graphs and cudnn_rnn.h its
// recurrent networks. The library is opened when a kernel first asks for it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/base/error.h"
#include "core/base/types.h"
#include "core/device/context.h"
#include "core/device/cuda/vendor.h"

namespace dragon::cudnn {

// Opaque to us.
using Handle = struct HandleOfCudnn*;
using TensorDescriptor = struct TensorOfCudnn*;
using FilterDescriptor = struct FilterOfCudnn*;
using ConvDescriptor = struct ConvOfCudnn*;

// Enumerators have cuDNN's values.
using Status = int;
inline constexpr Status kSuccess = 0;
enum DataType : int { kFloat = 0, kDouble = 1, kHalf = 2, kInt32 = 4, kBFloat16 = 9, kBool = 11 };
/// cuDNN's name of a dtype that it computes in.
inline DataType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return kDouble;
    case DType::kFloat16:
      return kHalf;
    case DType::kBFloat16:
      return kBFloat16;
    default:
      return kFloat;
  }
}
enum Format : int { kNchw = 0, kNhwc = 1 };
/// Default math may round float32 to TF32; `kFmaMath` does not.
enum MathType : int { kDefaultMath = 0, kTensorMath = 1, kTensorMathWithConversion = 2, kFmaMath = 3 };
enum ConvMode : int { kCrossCorrelation = 1 };
inline constexpr int kNonDeterministic = 0;

/// One layout for the three passes: only the enumeration of `algorithm` differs.
struct AlgorithmPerf {
  int algorithm;
  Status status;
  float time;
  size_t memory;
  int determinism;
  MathType math;
  int reserved[3];
};

/// Keep one of cuDNN's functions in `function`.
template <typename Function>
void Take(Function& function, const char* symbol) {
  function = cuda::Cudnn().Find<Function>(symbol);
}

/// The functions, by cuDNN's names. See its reference for what they take.
struct Api {
  Status (*Create)(Handle*);
  Status (*SetStream)(Handle, cudaStream_t);
  size_t (*GetVersion)();
  const char* (*GetErrorString)(Status);
  Status (*CreateTensorDescriptor)(TensorDescriptor*);
  Status (*DestroyTensorDescriptor)(TensorDescriptor);
  Status (*SetTensorNdDescriptor)(TensorDescriptor, DataType, int ndim, const int* sizes, const int* strides);
  Status (*CreateFilterDescriptor)(FilterDescriptor*);
  Status (*DestroyFilterDescriptor)(FilterDescriptor);
  Status (*SetFilterNdDescriptor)(FilterDescriptor, DataType, Format, int ndim, const int* sizes);
  Status (*CreateConvolutionDescriptor)(ConvDescriptor*);
  Status (*DestroyConvolutionDescriptor)(ConvDescriptor);
  Status (*SetConvolutionNdDescriptor)(ConvDescriptor, int spatial, const int* padding, const int* stride,
                                       const int* dilation, ConvMode, DataType computed);
  Status (*SetConvolutionGroupCount)(ConvDescriptor, int groups);
  Status (*SetConvolutionMathType)(ConvDescriptor, MathType);

  Status (*GetForwardAlgorithm)(Handle, TensorDescriptor x, FilterDescriptor w, ConvDescriptor, TensorDescriptor y,
                                int asked, int* found, AlgorithmPerf*);
  Status (*GetBackwardDataAlgorithm)(Handle, FilterDescriptor w, TensorDescriptor dy, ConvDescriptor,
                                     TensorDescriptor dx, int asked, int* found, AlgorithmPerf*);
  Status (*GetBackwardFilterAlgorithm)(Handle, TensorDescriptor x, TensorDescriptor dy, ConvDescriptor,
                                       FilterDescriptor dw, int asked, int* found, AlgorithmPerf*);
  Status (*GetForwardWorkspaceSize)(Handle, TensorDescriptor x, FilterDescriptor w, ConvDescriptor, TensorDescriptor y,
                                    int algorithm, size_t*);
  Status (*GetBackwardDataWorkspaceSize)(Handle, FilterDescriptor w, TensorDescriptor dy, ConvDescriptor,
                                         TensorDescriptor dx, int algorithm, size_t*);
  Status (*GetBackwardFilterWorkspaceSize)(Handle, TensorDescriptor x, TensorDescriptor dy, ConvDescriptor,
                                           FilterDescriptor dw, int algorithm, size_t*);
  Status (*Forward)(Handle, const void* alpha, TensorDescriptor, const void* x, FilterDescriptor, const void* w,
                    ConvDescriptor, int algorithm, void* workspace, size_t bytes, const void* beta, TensorDescriptor,
                    void* y);
  Status (*BackwardData)(Handle, const void* alpha, FilterDescriptor, const void* w, TensorDescriptor, const void* dy,
                         ConvDescriptor, int algorithm, void* workspace, size_t bytes, const void* beta,
                         TensorDescriptor, void* dx);
  Status (*BackwardFilter)(Handle, const void* alpha, TensorDescriptor, const void* x, TensorDescriptor, const void* dy,
                           ConvDescriptor, int algorithm, void* workspace, size_t bytes, const void* beta,
                           FilterDescriptor, void* dw);

  Api() {
    Take(Create, "cudnnCreate");
    Take(SetStream, "cudnnSetStream");
    Take(GetVersion, "cudnnGetVersion");
    Take(GetErrorString, "cudnnGetErrorString");
    Take(CreateTensorDescriptor, "cudnnCreateTensorDescriptor");
    Take(DestroyTensorDescriptor, "cudnnDestroyTensorDescriptor");
    Take(SetTensorNdDescriptor, "cudnnSetTensorNdDescriptor");
    Take(CreateFilterDescriptor, "cudnnCreateFilterDescriptor");
    Take(DestroyFilterDescriptor, "cudnnDestroyFilterDescriptor");
    Take(SetFilterNdDescriptor, "cudnnSetFilterNdDescriptor");
    Take(CreateConvolutionDescriptor, "cudnnCreateConvolutionDescriptor");
    Take(DestroyConvolutionDescriptor, "cudnnDestroyConvolutionDescriptor");
    Take(SetConvolutionNdDescriptor, "cudnnSetConvolutionNdDescriptor");
    Take(SetConvolutionGroupCount, "cudnnSetConvolutionGroupCount");
    Take(SetConvolutionMathType, "cudnnSetConvolutionMathType");
    Take(GetForwardAlgorithm, "cudnnGetConvolutionForwardAlgorithm_v7");
    Take(GetBackwardDataAlgorithm, "cudnnGetConvolutionBackwardDataAlgorithm_v7");
    Take(GetBackwardFilterAlgorithm, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
    Take(GetForwardWorkspaceSize, "cudnnGetConvolutionForwardWorkspaceSize");
    Take(GetBackwardDataWorkspaceSize, "cudnnGetConvolutionBackwardDataWorkspaceSize");
    Take(GetBackwardFilterWorkspaceSize, "cudnnGetConvolutionBackwardFilterWorkspaceSize");
    Take(Forward, "cudnnConvolutionForward");
    Take(BackwardData, "cudnnConvolutionBackwardData");
    Take(BackwardFilter, "cudnnConvolutionBackwardFilter");
  }
};

/// Whether the library is there and wanted: DRAGON_CUDNN=0 leaves its work to our own kernels.
bool Usable();
/// 91900 for 9.19.0.
size_t Version();
/// The generation of a device's processors: 9 for Hopper.
int Generation(int device);

/// A RuntimeError that names what is missing if the library is not there.
inline const Api& Functions() {
  static const auto* api = new Api;
  return *api;
}

inline void Check(Status status, const char* who) {
  if (status == kSuccess) return;
  throw RuntimeError(who).Says("cuDNN: ", Functions().GetErrorString(status));
}

/// This thread's handle for the context's device, set to its stream. Never destroyed: the driver may be gone by then.
Handle HandleFor(const Context& ctx);

}  // namespace dragon::cudnn
