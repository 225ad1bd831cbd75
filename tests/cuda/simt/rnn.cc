// cuDNN's interface to recurrent networks, for tests of what stands around it: DRAGON_SIMT_DNN=1 has them go there.
// What a call must be given is asked for here, and DRAGON_SIMT_DNN_REFUSES=setup, forward or backward has it refuse.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/cuda/simt/machine.h"
#include "tests/cuda/simt/rnn_passes.h"

namespace dragon::cudnn {

namespace {

constexpr Status kWrong = 2000, kNotSupported = 3000;
constexpr size_t kWorkspace = 256;

bool Refuses(const char* where) {
  const char* const asked = std::getenv("DRAGON_SIMT_DNN_REFUSES");
  return asked && std::strcmp(asked, where) == 0;
}

bool AllOnDevice(std::initializer_list<const void*> places) {
  for (const void* place : places) simt::RequireDevice("cudnn", place);
  return true;
}

size_t ReserveOf(RnnDescriptor n, RnnDataDescriptor x) { return Pass::KeptNumbers(*n, x->Rows()) * sizeof(float); }

/// Whether a call's descriptors and sizes go together.
bool Fits(RnnDescriptor n, RnnDataDescriptor x, RnnDataDescriptor y, TensorDescriptor h, size_t weights,
          size_t workspace) {
  const std::vector<int> state = {n->Places(), static_cast<int>(x->lengths.size()), n->units};
  return x->width == n->inputs && y->width == n->directions * n->units && x->lengths == y->lengths &&
         x->type == n->type && y->type == n->type && h->sizes == state && h->type == n->type &&
         weights == static_cast<size_t>(SpotOf(*n, 0, 0).end) && workspace >= kWorkspace;
}

Status Forward(Handle, RnnDescriptor n, RnnPass pass, const int32_t* lengths, RnnDataDescriptor x_data, const void* x,
               RnnDataDescriptor y_data, void* y, TensorDescriptor h, const void* h0, void* hn, TensorDescriptor,
               const void* c0, void* cn, size_t weight_bytes, const void* weights, size_t workspace_bytes,
               void* workspace, size_t reserve_bytes, void* reserve) {
  if (Refuses("forward")) return kNotSupported;
  const bool trains = pass == kTraining;
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != (trains ? ReserveOf(n, x_data) : 0) || trains != (reserve != nullptr)) return kWrong;
  AllOnDevice({x, y, h0, hn, weights, workspace});
  if (n->mode == kRnnLstm) AllOnDevice({c0, cn});
  Pass p(n, x_data, y_data);
  p.x = {x, n->type}, p.y = {y, n->type}, p.h0 = {h0, n->type}, p.hn = {hn, n->type}, p.c0 = {c0, n->type};
  p.cn = {cn, n->type}, p.weights = {weights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunForward(p); });
  return kSuccess;
}

Status BackwardData(Handle, RnnDescriptor n, const int32_t* lengths, RnnDataDescriptor y_data, const void* y,
                    const void* dy, RnnDataDescriptor x_data, void* dx, TensorDescriptor h, const void* h0,
                    const void* dhn, void* dh0, TensorDescriptor, const void* c0, const void* dcn, void* dc0,
                    size_t weight_bytes, const void* weights, size_t workspace_bytes, void* workspace,
                    size_t reserve_bytes, void* reserve) {
  if (Refuses("backward")) return kNotSupported;
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != ReserveOf(n, x_data)) return kWrong;
  AllOnDevice({y, dy, dx, h0, dhn, dh0, weights, workspace, reserve});
  if (n->mode == kRnnLstm) AllOnDevice({c0, dcn, dc0});
  Pass p(n, x_data, y_data);
  p.y = {y, n->type}, p.dy = {dy, n->type}, p.dx = {dx, n->type}, p.h0 = {h0, n->type}, p.dhn = {dhn, n->type};
  p.dh0 = {dh0, n->type}, p.c0 = {c0, n->type}, p.dcn = {dcn, n->type}, p.dc0 = {dc0, n->type};
  p.weights = {weights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunBackwardData(p); });
  return kSuccess;
}

Status BackwardWeights(Handle, RnnDescriptor n, RnnGradients, const int32_t* lengths, RnnDataDescriptor x_data,
                       const void* x, TensorDescriptor h, const void* h0, RnnDataDescriptor y_data, const void* y,
                       size_t weight_bytes, void* dweights, size_t workspace_bytes, void* workspace,
                       size_t reserve_bytes, void* reserve) {
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != ReserveOf(n, x_data)) return kWrong;
  AllOnDevice({x, h0, y, dweights, workspace, reserve});
  Pass p(n, x_data, y_data);
  p.x = {x, n->type}, p.h0 = {h0, n->type}, p.dweights = {dweights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunBackwardWeights(p); });
  return kSuccess;
}

template <typename T>
Status Create(T** made) {
  *made = new T{};
  return kSuccess;
}
template <typename T>
Status Destroy(T* made) {
  delete made;
  return kSuccess;
}

void TakeDescriptors(RnnApi* api) {
  api->GetErrorString = [](Status status) -> const char* {
    return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
  };
  api->CreateTensorDescriptor = &Create<TensorOfCudnn>, api->DestroyTensorDescriptor = &Destroy<TensorOfCudnn>;
  api->CreateDropoutDescriptor = &Create<DropoutOfCudnn>, api->DestroyDropoutDescriptor = &Destroy<DropoutOfCudnn>;
  api->CreateRNNDescriptor = &Create<RnnOfCudnn>, api->DestroyRNNDescriptor = &Destroy<RnnOfCudnn>;
  api->CreateRNNDataDescriptor = &Create<RnnDataOfCudnn>, api->DestroyRNNDataDescriptor = &Destroy<RnnDataOfCudnn>;
  api->SetTensorNdDescriptor = [](TensorDescriptor to, DataType type, int ndim, const int* sizes, const int* strides) {
    *to = {type, {sizes, sizes + ndim}, {strides, strides + ndim}};
    return kSuccess;
  };
  api->GetTensorNdDescriptor = [](TensorDescriptor from, int asked, DataType* type, int* ndim, int* sizes,
                                  int* strides) {
    *type = from->type, *ndim = static_cast<int>(from->sizes.size());
    for (int i = 0; i < std::min(asked, *ndim); ++i) sizes[i] = from->sizes[i], strides[i] = from->strides[i];
    return kSuccess;
  };
  api->SetDropoutDescriptor = [](DropoutDescriptor to, Handle, float share, void* states, size_t,
                                 unsigned long long) {  // NOLINT: cuDNN's own type
    to->share = share;
    return share == 0 && !states ? kSuccess : kWrong;
  };
  api->SetRNNDescriptor = [](RnnDescriptor to, RnnAlgorithm, RnnMode mode, RnnBiases biases, RnnDirections directions,
                             RnnInput, DataType stored, DataType computed, MathType math, int32_t inputs, int32_t units,
                             int32_t outputs, int32_t layers, DropoutDescriptor dropout, uint32_t flags) {
    if (Refuses("setup")) return kNotSupported;
    const bool rounds = math == kTensorMath;
    if (computed != kFloat || outputs != units || flags || dropout->share != 0 || rounds != (stored != kFloat))
      return kWrong;
    *to = {mode, biases, stored, directions == kTwoDirections ? 2 : 1, inputs, units, layers};
    return kSuccess;
  };
  api->SetRNNDataDescriptor = [](RnnDataDescriptor to, DataType type, RnnLayout layout, int steps, int batch, int width,
                                 const int* lengths, void*) {
    for (int i = 0; i < batch; ++i) {  // the longest first, and none empty
      if (lengths[i] < 1 || lengths[i] > (i ? lengths[i - 1] : steps)) return kWrong;
    }
    *to = {type, width, {lengths, lengths + batch}};
    return layout == kPackedBySteps ? kSuccess : kWrong;
  };
}

RnnApi Make() {
  RnnApi api;
  TakeDescriptors(&api);
  api.GetRNNTempSpaceSizes = [](Handle, RnnDescriptor n, RnnPass pass, RnnDataDescriptor x, size_t* workspace,
                                size_t* reserve) {
    *workspace = kWorkspace, *reserve = pass == kTraining ? ReserveOf(n, x) : 0;
    return kSuccess;
  };
  api.GetRNNWeightSpaceSize = [](Handle, RnnDescriptor n, size_t* bytes) {
    *bytes = SpotOf(*n, 0, 0).end;
    return kSuccess;
  };
  api.GetRNNWeightParams = [](Handle, RnnDescriptor n, int32_t place, size_t, const void* weights, int32_t product,
                              TensorDescriptor matrix, void** matrix_at, TensorDescriptor bias, void** bias_at) {
    const Spot spot = SpotOf(*n, place, product);
    if (spot.matrix < 0) return kWrong;
    char* const space = static_cast<char*>(const_cast<void*>(weights));
    const int width = product < n->Gates() ? n->InputsOf(place) : n->units;
    *matrix = {n->type, {1, n->units, width}, {n->units * width, width, 1}};
    *bias = {n->type, {1, n->units, 1}, {n->units, 1, 1}};
    *matrix_at = space + spot.matrix, *bias_at = spot.bias < 0 ? nullptr : space + spot.bias;
    return kSuccess;
  };
  api.RNNForward = &Forward;
  api.RNNBackwardData = &BackwardData;
  api.RNNBackwardWeights = &BackwardWeights;
  return api;
}

}  // namespace

const RnnApi& RnnFunctions() {
  static const auto* api = new RnnApi(Make());
  return *api;
}

}  // namespace dragon::cudnn
