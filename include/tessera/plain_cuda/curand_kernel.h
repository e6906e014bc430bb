// Random numbers in kernels: cuRAND, "Device API". Each state is a generator of its own (a counter
// that is mixed, Philox 4x32 of 10 rounds: Salmon et al., 2011); values differ from cuRAND's, their
// distribution does not.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "cuda_runtime.h"

namespace tessera::plain_cuda {
struct RandomState {
  std::uint64_t seed, sequence, counter;
  unsigned block[4];
  int used;  ///< of the block
  float spare;
  double spare_double;
  int spares;  ///< bit 0: spare holds a value, bit 1: spare_double does
};

TESSERA_AT_CALL void refill(RandomState& s) {
  unsigned c[4] = {static_cast<unsigned>(s.counter), static_cast<unsigned>(s.counter >> 32),
                   static_cast<unsigned>(s.sequence), static_cast<unsigned>(s.sequence >> 32)};
  unsigned key[2] = {static_cast<unsigned>(s.seed), static_cast<unsigned>(s.seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c[0], b = std::uint64_t{0xcd9e8d57} * c[2];
    const unsigned next[4] = {
        static_cast<unsigned>(b >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(b),
        static_cast<unsigned>(a >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(a)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    key[0] += 0x9e3779b9u, key[1] += 0xbb67ae85u;
  }
  for (int i = 0; i < 4; ++i) s.block[i] = c[i];
  ++s.counter;
  s.used = 0;
}
}  // namespace tessera::plain_cuda

#define TESSERA_STATE(name)                          \
  struct name : tessera::plain_cuda::RandomState {}; \
  using name##_t = name;
TESSERA_STATE(curandStateXORWOW)
TESSERA_STATE(curandStatePhilox4_32_10)
TESSERA_STATE(curandStateMRG32k3a)
#undef TESSERA_STATE
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

template <class State>
TESSERA_AT_CALL void curand_init(unsigned long long seed, unsigned long long sequence,
                                 unsigned long long offset, State* state) {
  State s{};
  s.seed = seed, s.sequence = sequence, s.counter = offset / 4;
  tessera::plain_cuda::refill(s);
  s.used = static_cast<int>(offset % 4);
  *state = s;
}
template <class State>
TESSERA_AT_CALL unsigned curand(State* state) {
  if (state->used == 4) {
    State s = *state;
    tessera::plain_cuda::refill(s);
    *state = s;
  }
  return state->block[state->used++];
}
template <class State>
TESSERA_AT_CALL uint4 curand4(State* state) {
  uint4 out;
  out.x = curand(state), out.y = curand(state), out.z = curand(state), out.w = curand(state);
  return out;
}
template <class State>
TESSERA_AT_CALL void skipahead(unsigned long long count, State* state) {
  for (; count > 0; --count) curand(state);
}

/// In (0, 1].
template <class State>
TESSERA_AT_CALL float curand_uniform(State* state) {
  return (static_cast<float>(curand(state) >> 8) + 1.0f) * 5.9604645e-8f;
}
template <class State>
TESSERA_AT_CALL double curand_uniform_double(State* state) {
  const std::uint64_t high = curand(state), low = curand(state);
  return (static_cast<double>((high << 32 | low) >> 11) + 1.0) * 1.1102230246251565e-16;
}
template <class State>
TESSERA_AT_CALL float4 curand_uniform4(State* state) {
  float4 out;
  out.x = curand_uniform(state), out.y = curand_uniform(state);
  out.z = curand_uniform(state), out.w = curand_uniform(state);
  return out;
}

/// Box and Muller: two numbers from two.
template <class State>
TESSERA_AT_CALL double2 curand_normal2_double(State* state) {
  const double radius = std::sqrt(-2.0 * std::log(curand_uniform_double(state)));
  const double angle = 2.0 * M_PI * curand_uniform_double(state);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
template <class State>
TESSERA_AT_CALL float2 curand_normal2(State* state) {
  const float radius = std::sqrt(-2.0f * std::log(curand_uniform(state)));
  const float angle = 6.2831853f * curand_uniform(state);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
template <class State>
TESSERA_AT_CALL float curand_normal(State* state) {
  if ((state->spares & 1) != 0) {
    state->spares &= ~1;
    return state->spare;
  }
  const float2 both = curand_normal2(state);
  state->spare = both.y, state->spares |= 1;
  return both.x;
}
template <class State>
TESSERA_AT_CALL double curand_normal_double(State* state) {
  if ((state->spares & 2) != 0) {
    state->spares &= ~2;
    return state->spare_double;
  }
  const double2 both = curand_normal2_double(state);
  state->spare_double = both.y, state->spares |= 2;
  return both.x;
}
template <class State>
TESSERA_AT_CALL float4 curand_normal4(State* state) {
  const float2 a = curand_normal2(state), b = curand_normal2(state);
  return {a.x, a.y, b.x, b.y};
}
template <class State>
TESSERA_AT_CALL float curand_log_normal(State* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
template <class State>
TESSERA_AT_CALL double curand_log_normal_double(State* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}
/// Knuth's product for small means, a rounded normal number for large ones.
template <class State>
TESSERA_AT_CALL unsigned curand_poisson(State* state, double mean) {
  if (mean > 64) {
    const double value = std::floor(mean + std::sqrt(mean) * curand_normal_double(state) + 0.5);
    return value < 0 ? 0u : static_cast<unsigned>(value);
  }
  const double least = std::exp(-mean);
  unsigned count = 0;
  for (double product = curand_uniform_double(state); product > least;
       product *= curand_uniform_double(state))
    ++count;
  return count;
}
#include "parts/letters_end.h"
