// The pointwise half of recurrent cells, one row of units at a time, forward and backward.
#pragma once

#include "core/kernels/libm.h"
#include "core/kernels/recurrent.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
DRAGON_FN T Sigmoid(T x) {
  return T(1) / (T(1) + libm::Exp(-x));
}

/// c = forget * c + input * candidate; h = output * tanh(c). Gates stand in the order i, f, g, o.
template <typename T>
void LstmRow(int64_t n, const T* x, const T* hidden, T* c, T* h, T* gates, T* cells) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T i = Sigmoid(x[j] + hidden[j]), f = Sigmoid(x[n + j] + hidden[n + j]);
    const T g = libm::Tanh(x[2 * n + j] + hidden[2 * n + j]), o = Sigmoid(x[3 * n + j] + hidden[3 * n + j]);
    const T cell = f * c[j] + i * g;
    gates[j] = i, gates[n + j] = f, gates[2 * n + j] = g, gates[3 * n + j] = o;
    c[j] = cells[j] = cell;
    h[j] = o * libm::Tanh(cell);
  }
}

/// `c_before` and the gradients of h and c give those of the gates before their activations, and of c_before in dc.
template <typename T>
void LstmRowBackward(int64_t n, const T* gates, const T* cells, const T* c_before, const T* dh, T* dc, T* dgates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T i = gates[j], f = gates[n + j], g = gates[2 * n + j], o = gates[3 * n + j];
    const T t = libm::Tanh(cells[j]), dcell = dc[j] + dh[j] * o * (T(1) - t * t);
    dgates[j] = dcell * g * i * (T(1) - i);
    dgates[n + j] = dcell * c_before[j] * f * (T(1) - f);
    dgates[2 * n + j] = dcell * i * (T(1) - g * g);
    dgates[3 * n + j] = dh[j] * t * o * (T(1) - o);
    dc[j] = dcell * f;
  }
}

/// h = (1 - update) * candidate + update * h. Gates stand in the order r, z, n; the fourth saved is n's hidden part.
template <typename T>
void GruRow(int64_t n, const T* x, const T* hidden, T* h, T* gates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T r = Sigmoid(x[j] + hidden[j]), z = Sigmoid(x[n + j] + hidden[n + j]);
    const T candidate = libm::Tanh(x[2 * n + j] + r * hidden[2 * n + j]);
    gates[j] = r, gates[n + j] = z, gates[2 * n + j] = candidate, gates[3 * n + j] = hidden[2 * n + j];
    h[j] = candidate + z * (h[j] - candidate);
  }
}

/// dh comes in as the gradient of the new h, and leaves as what flows to the old h past the gates.
template <typename T>
void GruRowBackward(int64_t n, const T* gates, const T* h_before, T* dh, T* dx, T* dhidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T r = gates[j], z = gates[n + j], candidate = gates[2 * n + j], hidden = gates[3 * n + j];
    const T dcandidate = dh[j] * (T(1) - z) * (T(1) - candidate * candidate);
    const T dr = dcandidate * hidden * r * (T(1) - r), dz = dh[j] * (h_before[j] - candidate) * z * (T(1) - z);
    dx[j] = dhidden[j] = dr;
    dx[n + j] = dhidden[n + j] = dz;
    dx[2 * n + j] = dcandidate;
    dhidden[2 * n + j] = dcandidate * r;
    dh[j] *= z;
  }
}

template <typename T>
void PlainRow(int64_t n, bool relu, const T* x, const T* hidden, T* h) {
  if (relu) {
    for (int64_t j = 0; j < n; ++j) {
      const T sum = x[j] + hidden[j];
      h[j] = sum < T(0) ? T(0) : sum;
    }
    return;
  }
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) h[j] = libm::Tanh(x[j] + hidden[j]);
}

template <typename T>
void PlainRowBackward(int64_t n, bool relu, const T* h, const T* dh, T* dgates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) dgates[j] = relu ? (h[j] > T(0) ? dh[j] : T(0)) : dh[j] * (T(1) - h[j] * h[j]);
}

}  // namespace dragon::DRAGON_DEVICE
