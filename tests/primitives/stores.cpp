// What P9 is expected to leave, and what mistakes would: see stores.hpp.
#include "stores.hpp"

#include "readings.hpp"
#include "tessera/core/text.hpp"

namespace tessera::primitives {

namespace {

constexpr std::size_t kF16Words = StoreSlice<f16>::room * StoreSlice<f16>::pitch / 2;

/// C where (m, n) of the slice holds the number of from(m, n), a pair. `clips`: at C's edges.
template <class T, class From>
void add_stores(Dump& out, const From& from, bool clips) {
  using Kernel = StoreSlice<T>;
  std::vector<T> c(Kernel::room * Kernel::pitch);
  const Dump untouched(c.size() * sizeof(T) / 4, kUntouched);
  std::memcpy(static_cast<void*>(c.data()), untouched.data(), c.size() * sizeof(T));
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < Kernel::columns; ++n) {
      const int row = Kernel::row + m, col = Kernel::col + n;
      if (clips && (row >= Kernel::rows || col >= Kernel::cols)) continue;
      if (row >= Kernel::room || col >= Kernel::pitch) continue;
      const auto [i, j] = from(m, n);
      c[static_cast<std::size_t>(row * Kernel::pitch + col)] = T(Kernel::number(i, j));
    }
  }
  const std::size_t at = out.size();
  out.resize(at + untouched.size());
  std::memcpy(out.data() + at, c.data(), c.size() * sizeof(T));
}

using At = std::pair<int, int>;

template <class Half, class Full>
Dump stored(const Half& of_f16, const Full& of_f32, bool clips = true) {
  Dump out;
  add_stores<f16>(out, of_f16, clips);
  add_stores<float>(out, of_f32, clips);
  return out;
}

}  // namespace

std::vector<Reading> p9_readings() {
  CpuMachine machine;
  const auto plain = [](int m, int n) { return At{m, n}; };
  const auto chunks = [](int wide, int mask) {  // of 16 bytes, exchanged within a row
    return [=](int m, int n) { return At{m, ((n / wide) ^ (m % 8 & mask)) * wide + n % wide}; };
  };
  return {
      {"as the engine stores", record_p9(machine)},
      {"the store does not undo the swizzle", stored(chunks(8, 7), chunks(4, 7))},
      {"the store undoes the swizzle of 64-byte rows", stored(chunks(8, 4), chunks(4, 4))},
      {"stmatrix: the second and third matrix are exchanged",
       stored(
           [](int m, int n) {
             return At{m / 16 * 16 + n % 16 / 8 * 8 + m % 8, n / 16 * 16 + m % 16 / 8 * 8 + n % 8};
           },
           plain)},
      {"stmatrix: each matrix of 8 x 8 is transposed",
       stored(
           [](int m, int n) {
             return At{m / 8 * 8 + n % 8, n / 8 * 8 + m % 8};
           },
           plain)},
      {"elements outside C are stored", stored(plain, plain, false)},
      {"nothing is stored",
       Dump(kF16Words + StoreSlice<float>::room * StoreSlice<float>::pitch, kUntouched)}};
}

std::string p9_place(std::size_t word) {
  const bool half = word < kF16Words;
  const std::size_t pitch = half ? StoreSlice<f16>::pitch / 2 : StoreSlice<float>::pitch;
  const std::size_t at = half ? word : word - kF16Words;
  return cat("row ", at / pitch, ", column ", at % pitch * (half ? 2 : 1), " of ",
             half ? "f16" : "f32");
}

}  // namespace tessera::primitives
