// One product by the matrix unit of a warpgroup, of any types it has: a tile of A and one of B come
// by bulk copies, the sums go to memory element by element. For the CPU engine and for a GPU.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera::testing {

/// C (64,N) = A (64,K) * B^T (N,K), with K of 128 bytes; C is row-major.
template <class Acc, class InA, class InB, int N, Major A = Major::k, Major B = Major::k>
struct UnitProduct {
  static constexpr const char* name = "unit_product";
  static constexpr Dim3 block{kWarpgroupThreads};
  static constexpr bool needs_sm_90a = true;
  static constexpr int K = 128 / static_cast<int>(sizeof(InA));
  using TileA = UnitTile<InA, unit_layout<InA>(A, 64, K)>;
  using TileB = UnitTile<InB, unit_layout<InB>(B, N, K)>;
  struct Shared {
    TileA a;
    TileB b;
    Gate full;
  };

  TESSERA_KERNEL void operator()(auto t, const BulkMatrix<TileA>& gA, const BulkMatrix<TileB>& gB,
                                 Acc* C) const {
    using Unit = WarpgroupUnit<Acc, InA, InB, 64, N>;
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      open_gate(t, s.full, 1);
      publish_gates(t);
    }
    t.barrier();
    if (t.thread == 0) {
      expect(t, s.full, bytes_of(s.a, s.b));
      copy_bulk(t, tile<64, K>(gA, 0, 0), s.a, s.full);
      copy_bulk(t, tile<N, K>(gB, 0, 0), s.b, s.full);
    }
    wait(t, s.full, 0);
    typename Unit::Fragment acc;
    Unit::mma(t, acc, whole(s.a), whole(s.b), false);
    wait_mma<0>(t);
    TESSERA_UNROLL_REGISTERS
    for (int v = 0; v < N / 2; ++v) {
      const int at = Unit::position(t.thread, v);
      C[at % 64 * N + at / 64] = acc.value[0][v];
    }
  }
};

/// The operands of one: `make` makes the maps. The memory at a and b is (64,K) and (N,K), dense
/// along the mode that is contiguous.
template <class Kernel, class InA, class InB, int N, class Make>
auto unit_operands(const Make& make, const InA* a, const InB* b) {
  const auto of = [&]<class Tile>(const void* data, int rows, Tile*) {
    const bool k = Tile::major == Major::k;
    return BulkMatrix<Tile>{
        make(bulk_fields<Tile>(data, rows, Kernel::K, k ? Kernel::K : 1, k ? 1 : rows)), rows,
        Kernel::K};
  };
  return std::pair{of(a, 64, static_cast<typename Kernel::TileA*>(nullptr)),
                   of(b, N, static_cast<typename Kernel::TileB*>(nullptr))};
}

/// Small whole numbers, which every type holds and whose sums are exact.
template <class T>
std::vector<T> unit_numbers(int count, int seed) {
  std::vector<T> out(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    out[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<float>((i * 7 + seed + i / 64) % 5));
  return out;
}

/// body.operator()<Acc, InA, InB, N, MajorA, MajorB>() for every kind of instruction.
template <class Body>
void for_each_unit(const Body& body) {
  using enum Major;
  body.template operator()<float, bf16, bf16, 8, k, k>();
  body.template operator()<float, bf16, bf16, 40, k, k>();
  body.template operator()<float, bf16, bf16, 256, k, k>();
  body.template operator()<float, bf16, bf16, 64, mn, k>();
  body.template operator()<float, bf16, bf16, 128, k, mn>();
  body.template operator()<float, f16, f16, 192, mn, mn>();
  body.template operator()<float, f16, f16, 24, k, k>();
  body.template operator()<float, float, float, 16, k, k>();
  body.template operator()<float, float, float, 248, k, k>();
  body.template operator()<float, f8e4m3, f8e4m3, 128, k, k>();
  body.template operator()<float, f8e5m2, f8e5m2, 32, k, k>();
  body.template operator()<std::int32_t, std::int8_t, std::int8_t, 256, k, k>();
  body.template operator()<std::int32_t, std::uint8_t, std::uint8_t, 24, k, k>();
  body.template operator()<std::int32_t, std::int8_t, std::uint8_t, 16, k, k>();
  body.template operator()<std::int32_t, std::uint8_t, std::int8_t, 48, k, k>();
}

/// The product of unit_numbers: checks each element of C.
template <class InA, class InB, class Acc>
int wrong_elements(const std::vector<InA>& a, const std::vector<InB>& b, const std::vector<Acc>& c,
                   int N, int K, Major A, Major B) {
  int wrong = 0;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) {
        const int at = A == Major::k ? i * K + k : k * 64 + i;
        const int bt = B == Major::k ? j * K + k : k * N + j;
        sum += static_cast<float>(a[static_cast<std::size_t>(at)]) *
               static_cast<float>(b[static_cast<std::size_t>(bt)]);
      }
      wrong += static_cast<float>(c[static_cast<std::size_t>(i * N + j)]) != sum;
    }
  }
  return wrong;
}

}  // namespace tessera::testing
