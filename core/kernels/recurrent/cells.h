// The pointwise half of recurrent cells, forward and backward: one unit for all devices, and rows of them for the CPU.
#pragma once

#include "core/kernels/libm.h"
#include "core/kernels/recurrent.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
DRAGON_FN T Sigmoid(T x) {
  return T(1) / (T(1) + libm::Exp(-x));
}

/// One unit of an LSTM after a step: its gates in the order i, f, g, o, its cell and what it gives.
template <typename T>
struct LstmUnit {
  T i, f, g, o, cell, h;
};

/// c = forget * c + input * candidate; h = output * tanh(c), from the sums before the gates' activations.
template <typename T>
DRAGON_FN LstmUnit<T> LstmStep(T sum_i, T sum_f, T sum_g, T sum_o, T c) {
  const T i = Sigmoid(sum_i), f = Sigmoid(sum_f), g = libm::Tanh(sum_g), o = Sigmoid(sum_o), cell = f * c + i * g;
  return {i, f, g, o, cell, o * libm::Tanh(cell)};
}

/// The gradients of the sums before the gates' activations, and of the cell before the step.
template <typename T>
struct LstmSlopes {
  T i, f, g, o, c_before;
};

template <typename T>
DRAGON_FN LstmSlopes<T> LstmStepBackward(const LstmUnit<T>& u, T c_before, T dh, T dc) {
  const T t = libm::Tanh(u.cell), dcell = dc + dh * u.o * (T(1) - t * t);
  return {dcell * u.g * u.i * (T(1) - u.i), dcell * c_before * u.f * (T(1) - u.f), dcell * u.i * (T(1) - u.g * u.g),
          dh * t * u.o * (T(1) - u.o), dcell * u.f};
}

/// One unit of a GRU after a step: its gates in the order r, z, n, the hidden part of n, and what it gives.
template <typename T>
struct GruUnit {
  T r, z, candidate, hidden, h;
};

/// h = (1 - update) * candidate + update * h.
template <typename T>
DRAGON_FN GruUnit<T> GruStep(T sum_r, T sum_z, T x, T hidden, T h) {
  const T r = Sigmoid(sum_r), z = Sigmoid(sum_z), candidate = libm::Tanh(x + r * hidden);
  return {r, z, candidate, hidden, candidate + z * (h - candidate)};
}

/// The gradients of the sums before r, z and n, of the hidden part of n, and what flows to the old h past the gates.
template <typename T>
struct GruSlopes {
  T r, z, x, hidden, h_before;
};

template <typename T>
DRAGON_FN GruSlopes<T> GruStepBackward(const GruUnit<T>& u, T h_before, T dh) {
  const T dcandidate = dh * (T(1) - u.z) * (T(1) - u.candidate * u.candidate);
  return {dcandidate * u.hidden * u.r * (T(1) - u.r), dh * (h_before - u.candidate) * u.z * (T(1) - u.z), dcandidate,
          dcandidate * u.r, dh * u.z};
}

/// What a plain unit gives, and the gradient of the sum before it.
template <typename T>
DRAGON_FN T PlainStep(bool relu, T sum) {
  if (relu) return sum < T(0) ? T(0) : sum;
  return libm::Tanh(sum);
}
template <typename T>
DRAGON_FN T PlainStepBackward(bool relu, T h, T dh) {
  return relu ? (h > T(0) ? dh : T(0)) : dh * (T(1) - h * h);
}

// --- rows of units, which the CPU's compiler makes into vectors

template <typename T>
void LstmRow(int64_t n, const T* x, const T* hidden, T* c, T* h, T* gates, T* cells) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const LstmUnit<T> u = LstmStep(x[j] + hidden[j], x[n + j] + hidden[n + j], x[2 * n + j] + hidden[2 * n + j],
                                   x[3 * n + j] + hidden[3 * n + j], c[j]);
    gates[j] = u.i, gates[n + j] = u.f, gates[2 * n + j] = u.g, gates[3 * n + j] = u.o;
    c[j] = cells[j] = u.cell;
    h[j] = u.h;
  }
}

/// `c_before` and the gradients of h and c give those of the gates before their activations, and of c_before in dc.
template <typename T>
void LstmRowBackward(int64_t n, const T* gates, const T* cells, const T* c_before, const T* dh, T* dc, T* dgates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const LstmUnit<T> u{gates[j], gates[n + j], gates[2 * n + j], gates[3 * n + j], cells[j], T(0)};
    const LstmSlopes<T> d = LstmStepBackward(u, c_before[j], dh[j], dc[j]);
    dgates[j] = d.i, dgates[n + j] = d.f, dgates[2 * n + j] = d.g, dgates[3 * n + j] = d.o;
    dc[j] = d.c_before;
  }
}

/// Gates stand in the order r, z, n; the fourth saved is n's hidden part.
template <typename T>
void GruRow(int64_t n, const T* x, const T* hidden, T* h, T* gates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const GruUnit<T> u = GruStep(x[j] + hidden[j], x[n + j] + hidden[n + j], x[2 * n + j], hidden[2 * n + j], h[j]);
    gates[j] = u.r, gates[n + j] = u.z, gates[2 * n + j] = u.candidate, gates[3 * n + j] = u.hidden;
    h[j] = u.h;
  }
}

/// dh comes in as the gradient of the new h, and leaves as what flows to the old h past the gates.
template <typename T>
void GruRowBackward(int64_t n, const T* gates, const T* h_before, T* dh, T* dx, T* dhidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const GruUnit<T> u{gates[j], gates[n + j], gates[2 * n + j], gates[3 * n + j], T(0)};
    const GruSlopes<T> d = GruStepBackward(u, h_before[j], dh[j]);
    dx[j] = dhidden[j] = d.r;
    dx[n + j] = dhidden[n + j] = d.z;
    dx[2 * n + j] = d.x;
    dhidden[2 * n + j] = d.hidden;
    dh[j] = d.h_before;
  }
}

template <typename T>
void PlainRow(int64_t n, bool relu, const T* x, const T* hidden, T* h) {
  if (relu) {
    for (int64_t j = 0; j < n; ++j) h[j] = PlainStep(true, x[j] + hidden[j]);
    return;
  }
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) h[j] = PlainStep(false, x[j] + hidden[j]);
}

template <typename T>
void PlainRowBackward(int64_t n, bool relu, const T* h, const T* dh, T* dgates) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) dgates[j] = PlainStepBackward(relu, h[j], dh[j]);
}

}  // namespace dragon::DRAGON_DEVICE
