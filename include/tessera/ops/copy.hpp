// Copies of whole tiles by all threads of a block, each copying its share. Elements past the edge
// of the source read as zero; elements past the edge of the destination are skipped. No barrier
// inside.
#pragma once

#include <type_traits>

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

namespace detail {

template <class T>
concept ThreadContext = requires(const T& t) {
  t.block_dim;
};

template <class Thread>
TESSERA_KERNEL int block_threads(const Thread& t) {
  return static_cast<int>(volume(t.block_dim));
}

template <class D, class S>
constexpr bool same_static_shape() {
  return D::pattern.shape == S::pattern.shape && D::pattern.shape.is_static() && D::rank == 2;
}

}  // namespace detail

/// dst = src, (R,C) to (R,C), element (r, c) by thread (r * C + c) mod threads: neighbouring
/// threads take neighbouring columns. Elements are converted where the types differ.
template <class Thread, AnyTensor Src, AnyTensor Dst>
TESSERA_KERNEL void copy(Thread& t, const Src& src, const Dst& dst, Here here = Here::current()) {
  static_assert(
      detail::same_static_shape<Dst, Src>(),
      "copy(t, src, dst) copies a tile into a tile of the same static shape (rows, columns)");
  constexpr index_t cols = Dst::pattern.shape.leaf(1);
  constexpr index_t count = Dst::pattern.shape.product();
  using To = std::remove_cv_t<typename Dst::element>;
  const int threads = detail::block_threads(t);
  if (src.is_full() && dst.is_full()) {  // decided once for each tile
    for (index_t i = t.thread; i < count; i += threads)
      dst(i / cols, i % cols, here) = convert<To>(src(i / cols, i % cols, here));
  } else {
    for (index_t i = t.thread; i < count; i += threads) {
      const index_t row = i / cols, col = i % cols;
      if (!dst.contains(row, col)) continue;
      if (src.contains(row, col)) dst(row, col, here) = convert<To>(src(row, col, here));
      else dst(row, col, here) = To{};
    }
  }
}

/// For arguments that are no tensors: a static_assert that says so.
template <detail::ThreadContext Thread, class Src, class Dst>
requires(!AnyTensor<Src> || !AnyTensor<Dst>) void copy(Thread&, const Src&, const Dst&,
                                                       Here = Here::current()) {
  static_assert(AnyTensor<Src> && AnyTensor<Dst>,
                "copy(t, src, dst) takes views: copy(t, tile, s.a.view()), not copy(t, tile, s.a)");
}

/// The same as an asynchronous copy: the destination may be read after commit(t), wait<N>(t) and a
/// barrier. On sm_80 and later `cp.async`; elsewhere a plain copy that is done at once.
template <class Thread, AnyTensor Src, AnyTensor Dst>
TESSERA_KERNEL void copy_async(Thread& t, const Src& src, const Dst& dst,
                               [[maybe_unused]] Here here = Here::current()) {
  if constexpr (requires { t.copy_async(src, dst); }) t.copy_async(src, dst);
  else {
    [[maybe_unused]] const detail::AsyncCopies async;
    copy(t, src, dst, here);
  }
}

/// Ends a group of asynchronous copies of this thread.
template <class Thread>
TESSERA_KERNEL void commit(Thread& t, Here here = Here::current()) {
  t.commit_async(here);
}

/// Waits until at most `Pending` of this thread's newest groups are still in flight.
template <int Pending, class Thread>
TESSERA_KERNEL void wait(Thread& t, Here here = Here::current()) {
  t.template wait_async<Pending>(here);
}

namespace detail {

template <class T, int N>
struct alignas(sizeof(T) * N) Packet {
  using element = T;
  T lane[N];
};

/// May N neighbours along mode Mode be read with one load, for every row of this tile? Decided once
/// for each tile.
template <int Mode, int N, class T>
TESSERA_KERNEL bool loads_as_packets(const T& tile) {
  using E = typename T::element;
  constexpr int other = 1 - Mode;
  return tile.is_full() && tile.template stride<Mode>() == 1 &&
         tile.template stride<other>() % N == 0 &&
         reinterpret_cast<std::uintptr_t>(tile.data()) % (sizeof(E) * N) == 0;
}

}  // namespace detail

/// dst = src as copy(), but N neighbours along a row move with one wide load where strides and
/// alignment allow it; the destination may have any layout (a transposed one scatters the packet).
template <int N, class Thread, AnyTensor Src, AnyTensor Dst>
TESSERA_KERNEL void copy_vectorized(Thread& t, const Src& src, const Dst& dst,
                                    Here here = Here::current()) {
  static_assert(detail::same_static_shape<Dst, Src>(),
                "copy_vectorized(t, src, dst) copies a tile into a tile of the same static shape "
                "(rows, columns)");
  constexpr index_t cols = Dst::pattern.shape.leaf(1);
  static_assert(
      cols % N == 0,
      "the columns of a tile that is copied in vectors are a multiple of the vector width");
  using To = std::remove_cv_t<typename Dst::element>;
  using From = std::remove_cv_t<typename Src::element>;
  if constexpr (std::is_pointer_v<typename Src::pointer> && sizeof(From) * N <= 16) {
    if (detail::loads_as_packets<1, N>(src)) {
      constexpr index_t packets = Dst::pattern.shape.product() / N;
      constexpr bool row_packets =
          Dst::pattern.stride.leaf(1) == 1 && Dst::pattern.stride.leaf(0) % N == 0 &&
          std::is_same_v<To, From> && std::is_pointer_v<typename Dst::pointer>;
      using Packet = detail::Packet<From, N>;
      for (index_t i = t.thread; i < packets; i += detail::block_threads(t)) {
        const index_t row = i / (cols / N), col = i % (cols / N) * N;
        const auto* from = reinterpret_cast<const Packet*>(src.data() + src.offset(row, col));
        const Packet packet = detail::touch(from, detail::Access::load, here) ? *from : Packet{};
        if constexpr (row_packets) {
          auto* to = reinterpret_cast<Packet*>(dst.data() + dst.offset(row, col));
          if (detail::may_store(to, packet, here)) *to = packet;
        } else {
          TESSERA_UNROLL
          for (int lane = 0; lane < N; ++lane)
            dst(row, col + lane, here) = convert<To>(packet.lane[lane]);
        }
      }
      return;
    }
  }
  copy(t, src, dst, here);
}

}  // namespace tessera
