// Where the functions for recurrent networks come from.
#include "core/device/cuda/cudnn_rnn.h"

namespace dragon::cudnn {

namespace {

RnnApi Find() {
  RnnApi api;
  Take(api.GetErrorString, "cudnnGetErrorString");
  Take(api.CreateTensorDescriptor, "cudnnCreateTensorDescriptor");
  Take(api.DestroyTensorDescriptor, "cudnnDestroyTensorDescriptor");
  Take(api.SetTensorNdDescriptor, "cudnnSetTensorNdDescriptor");
  Take(api.GetTensorNdDescriptor, "cudnnGetTensorNdDescriptor");
  Take(api.CreateDropoutDescriptor, "cudnnCreateDropoutDescriptor");
  Take(api.DestroyDropoutDescriptor, "cudnnDestroyDropoutDescriptor");
  Take(api.SetDropoutDescriptor, "cudnnSetDropoutDescriptor");
  Take(api.CreateRNNDescriptor, "cudnnCreateRNNDescriptor");
  Take(api.DestroyRNNDescriptor, "cudnnDestroyRNNDescriptor");
  Take(api.SetRNNDescriptor, "cudnnSetRNNDescriptor_v8");
  Take(api.CreateRNNDataDescriptor, "cudnnCreateRNNDataDescriptor");
  Take(api.DestroyRNNDataDescriptor, "cudnnDestroyRNNDataDescriptor");
  Take(api.SetRNNDataDescriptor, "cudnnSetRNNDataDescriptor");
  Take(api.GetRNNTempSpaceSizes, "cudnnGetRNNTempSpaceSizes");
  Take(api.GetRNNWeightSpaceSize, "cudnnGetRNNWeightSpaceSize");
  Take(api.GetRNNWeightParams, "cudnnGetRNNWeightParams");
  Take(api.RNNForward, "cudnnRNNForward");
  Take(api.RNNBackwardData, "cudnnRNNBackwardData_v8");
  Take(api.RNNBackwardWeights, "cudnnRNNBackwardWeights_v8");
  return api;
}

}  // namespace

const RnnApi& RnnFunctions() {
  static const auto* api = new RnnApi(Find());
  return *api;
}

}  // namespace dragon::cudnn
