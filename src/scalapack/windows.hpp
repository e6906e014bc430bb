// Windows of block-cyclic matrices, as the arguments of a PBLAS function describe them, and the
// grid of processes that have them.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "scale/distributed_parts.hpp"

namespace tessera::scale {

/// A block-cyclic distribution: blocks of `block` indices, the first one of `begin`, to processes
/// from `first` on.
struct Cyclic {
  int begin, block, first;
};

struct Descriptor {
  bool is_known = false;
  int context, rows, cols, leading;
  Cyclic down, across;
};

/// The two kinds of ScaLAPACK's descriptors: 1, and that of the PBLAS with a first block of its
/// own.
inline Descriptor descriptor(const int* d) {
  if (d[0] == 1) return {true, d[1], d[2], d[3], d[8], {d[4], d[4], d[6]}, {d[5], d[5], d[7]}};
  if (d[0] == 2) return {true, d[1], d[2], d[3], d[10], {d[4], d[6], d[8]}, {d[5], d[7], d[9]}};
  return {};
}

struct Grid {
  int down = 0, across = 0, row = -1, col = -1;
};

template <class Function>
Function* symbol(void* where, const char* name) {
  return reinterpret_cast<Function*>(dlsym(where, name));
}

/// One extent of a product along one extent of a matrix: for each index its owner among the rows
/// (or columns) of the grid, and its place in the owner's memory.
struct Axis {
  std::vector<int> owner, place;
};

inline Axis axis_of(int from, int count, const Cyclic& dealt, int processes) {
  Axis out;
  for (int at = from; at < from + count; ++at) {
    const int later = at - dealt.begin;  // after the first block
    const int number = later < 0 ? 0 : 1 + later / dealt.block;
    const int before = number / processes;  // blocks of the same owner
    const bool has_first = number % processes == 0 && number > 0;
    out.owner.push_back((number + dealt.first) % processes);
    out.place.push_back(before * dealt.block + (has_first ? dealt.begin - dealt.block : 0) +
                        (later < 0 ? at : later % dealt.block));
  }
  return out;
}

/// A run of indices of one owner, in the order of the product: [begin, end).
struct Run {
  index_t begin, end;
  int owner, place;
};

inline std::vector<Run> runs_of(const Axis& axis, const std::vector<int>& order) {
  std::vector<Run> out;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto at = static_cast<std::size_t>(order[n]);
    const auto position = static_cast<index_t>(n);
    const bool goes_on = !out.empty() && out.back().owner == axis.owner[at] &&
                         out.back().place + (position - out.back().begin) == axis.place[at];
    if (goes_on) out.back().end = position + 1;
    else out.push_back({position, position + 1, axis.owner[at], axis.place[at]});
  }
  return out;
}

/// Indices by their owners.
inline std::vector<int> grouped(const Axis& axis) {
  std::vector<int> order(axis.owner.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return axis.owner[static_cast<std::size_t>(a)] < axis.owner[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The part of a matrix that a product uses.
template <class T>
struct Window {
  T* data;
  Descriptor d;
  int row, col;  ///< of its first element, from 0
  bool transposed = false, conjugate = false;

  bool is_plain(const Grid& grid, int rows, int cols) const {
    if (transposed) std::swap(rows, cols);
    const auto is_dealt = [](const Cyclic& c, int processes) {
      return c.begin > 0 && c.block > 0 && c.first >= 0 && c.first < processes;
    };
    return d.is_known && row >= 0 && col >= 0 && row + rows <= d.rows && col + cols <= d.cols &&
           is_dealt(d.down, grid.down) && is_dealt(d.across, grid.across);
  }
  /// Is there memory for this process's rows? Others may have fewer.
  bool has_room(const Grid& grid) const {
    const Axis all = axis_of(0, d.rows, d.down, grid.down);
    int own = 0;
    for (const int owner : all.owner) own += owner == grid.row ? 1 : 0;
    return d.leading >= std::max(1, own);
  }
  Axis axis(bool rows_of_product, int count, const Grid& grid) const {
    return rows_of_product != transposed ? axis_of(row, count, d.down, grid.down)
                                         : axis_of(col, count, d.across, grid.across);
  }
};

/// Calls found(rows, columns, first element) for the parts of a window on this process, in the
/// order of the product, and names those of all. `reals`: how many rows and columns of the product
/// an element is.
struct Reals {
  index_t down = 1, across = 1;
};
template <class T, class Found>
void each_part(const Window<T>& window, const std::vector<Run>& rows, const std::vector<Run>& cols,
               const Grid& grid, Reals reals, std::vector<Named>& all, const Found& found) {
  for (const Run& i : rows) {
    for (const Run& j : cols) {
      const Run &row = window.transposed ? j : i, &col = window.transposed ? i : j;
      all.push_back(
          {{reals.down * i.begin, reals.down * i.end, reals.across * j.begin, reals.across * j.end},
           row.owner * grid.across + col.owner});
      if (row.owner == grid.row && col.owner == grid.col)
        found(i, j, window.data + row.place + static_cast<index_t>(col.place) * window.d.leading);
    }
  }
}

/// The owners of a factor's rows or columns of the product, its lines, and along K.
struct FactorAxes {
  Axis lines, k;
  bool k_is_across;  ///< along the rows of the grid
};

/// The least number of elements that are sent if a factor stays in place and sums of C are added
/// across the grid, which reorders k. ScaLAPACK does so where C is small. If the axes of k differ
/// it overestimates this number; kMargin allows for that.
inline double elements_sent_with(const FactorAxes& stays, const FactorAxes& moves,
                                 const Grid& grid) {
  const auto count = [](const std::vector<int>& owners, int owner) {
    return static_cast<double>(std::count(owners.begin(), owners.end(), owner));
  };
  constexpr double kMargin = 1.3;
  double sent = 0, parts_of_k = 0;
  for (int k = 0; k < (stays.k_is_across ? grid.across : grid.down); ++k)
    parts_of_k += count(stays.k.owner, k) > 0 ? 1 : 0;
  for (int row = 0; row < grid.down; ++row) {
    for (int col = 0; col < grid.across; ++col) {
      const int own = stays.k_is_across ? col : row;
      const int k = moves.k_is_across ? col : row, line = moves.k_is_across ? row : col;
      double both = 0;
      for (std::size_t n = 0; n < stays.k.owner.size(); ++n)
        both += stays.k.owner[n] == own && moves.k.owner[n] == k ? 1 : 0;
      sent += count(stays.k.owner, own) * static_cast<double>(moves.lines.owner.size()) -
              both * count(moves.lines.owner, line);
    }
  }
  sent += (parts_of_k - 1) * static_cast<double>(stays.lines.owner.size()) *
          static_cast<double>(moves.lines.owner.size());
  return stays.k_is_across == moves.k_is_across ? sent : kMargin * sent;
}

/// The grid of a context, and its communicator, whose ranks are the grid's processes row by row.
inline bool find_grid(int context, Grid& grid, MPI_Comm& communicator) {
  static auto* const info =
      symbol<void(int, int*, int*, int*, int*)>(RTLD_DEFAULT, "Cblacs_gridinfo");
  static auto* const get = symbol<void(int, int, int*)>(RTLD_DEFAULT, "Cblacs_get");
  static auto* const handle = symbol<MPI_Comm(int)>(RTLD_DEFAULT, "Cblacs2sys_handle");
  if (info == nullptr || get == nullptr || handle == nullptr || context < 0) return false;
  info(context, &grid.down, &grid.across, &grid.row, &grid.col);
  if (grid.row < 0 || grid.col < 0) return false;
  constexpr int kSystemContext = 10;
  int number = -1;
  get(context, kSystemContext, &number);
  communicator = handle(number);
  int rank = -1, ranks = 0;
  return MPI_Comm_rank(communicator, &rank) == MPI_SUCCESS &&
         MPI_Comm_size(communicator, &ranks) == MPI_SUCCESS && ranks == grid.down * grid.across &&
         rank == grid.row * grid.across + grid.col;
}

}  // namespace tessera::scale
