// The fastest kernel for Hopper (sm_90a): consumer warpgroups multiply by wgmma with operands in
// shared memory, and a producer warp keeps bulk copies in flight. A block computes tile after tile
// of C (persistent). It loads the next tile while the sums of the previous one are stored. Where a
// warpgroup owns whole tiles (WM = BM), two of them take turns: one stores while the other
// multiplies; else they share each tile by its rows.
//
// The blocks of a cluster compute tiles of C that are neighbours: `down` rows of tiles by `across`
// columns. Each of the `across` blocks that need the same tile of A loads a part of it into all of
// them (multicast); so do the `down` blocks that need the same tile of B. Sums are the same bits as
// without a cluster.
//
// A is (M,K) and B^T is (N,K) as BulkMatrix, either mode contiguous; C is (M,N), any strides, with
// its epilogue; `slices` is C again, for bulk stores, where C has no epilogue
// (ops/warpgroup_store.hpp). f32 inputs are rounded to TF32. Units keep only 13 bits of sums of f8,
// so the threads add the unit's sums of each tile along K in f32; in large tiles they add 64
// columns while the unit multiplies the next 64.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

/// The operands of a product: what the kernel takes of one, as values in a group.
template <class A, class B, class Slices, class C>
struct GroupMember {
  A a;            ///< (M,K)
  B b;            ///< (N,K)
  Slices slices;  ///< (M,N), or empty
  C c;            ///< (M,N)
};

/// Products of any extents in one launch: batches, groups, or the parts of a split K, which
/// SumParts adds up. All of it is an argument of the kernel, so that a launch needs no other
/// memory.
inline constexpr int kMostInGroup = 32;
template <class Member>
struct ProductGroup {
  using element = ElementOf<decltype(Member::a)>;
  using member_type = Member;
  int count = 0;
  Member of[kMostInGroup] = {};
};

/// three_planes: A and B are three planes of K each, of f32 as three bf16 (pack_operand.hpp). Six
/// of their nine products are summed, the smallest first.
enum class Products { one, group, three_planes };

/// Who adds up the products of several tiles along K: the unit, or the threads, in f32, where the
/// unit's sums are too coarse.
enum class Adds { unit, threads };
template <class T>
inline constexpr Adds kAddsOf = sizeof(T) == 1 && !std::is_integral_v<T> ? Adds::threads
                                                                         : Adds::unit;

/// Stages: tiles in flight; 0: as many as fit.
template <TileShape S, ClusterShape Together = cluster_of(S), int Stages = 0,
          Products How = Products::one, Adds Who = Adds::unit>
struct WarpgroupTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.wm > 0 && S.wn == S.bn && S.wm % 64 == 0,
                "warpgroup: WN = BN, and WM is a multiple of 64");
  static_assert(S.bn % 8 == 0 && S.bn <= 256 && S.wm * S.bn <= 192 * kWarpgroupThreads,
                "warpgroup: BN is a multiple of 8 up to 256, and a thread has at most 192 sums");
  static_assert(S.wm == S.bm || 2 * S.wm == S.bm,
                "warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns");
  static_assert(Together.down >= 1 && Together.across >= 1 &&
                    (Together.across == 1 || S.bm % (64 * Together.across) == 0) &&
                    (Together.down == 1 || S.bn % (64 * Together.down) == 0),
                "warpgroup: blocks of a cluster load 64 rows of A each, or 64 columns of B, or "
                "multiples");
  static constexpr bool by_turns = S.wm == S.bm;
  static constexpr int warpgroups = 2, loader = warpgroups;
  static constexpr const char* name = How == Products::three_planes ? "three_bf16" : "warpgroup";
  /// Where the threads add: the columns of one product of 64 rows, and how many products a
  /// warpgroup has of its tile. Two of several are in flight.
  static constexpr bool promotes = Who == Adds::threads;
  static constexpr bool has_room = S.wm * S.wn <= 64 * kWarpgroupThreads;  ///< for all sums twice
  static constexpr int wide = !promotes || has_room || S.wn % 64 != 0 ? S.wn : 64;
  static constexpr int slabs = S.wm / 64, across_tile = S.wn / wide, parts = slabs * across_tile;
  static constexpr int in_flight = !promotes ? 0 : parts > 1 ? 2 : 1;
  static constexpr int sums = S.wm * S.wn + in_flight * 64 * wide;
  static_assert(sums <= 192 * kWarpgroupThreads,
                "warpgroup: where threads add, they have at most 192 sums with those of two parts");
  /// With very many sums there are four producer warps, which release registers to the consumers.
  static constexpr bool lends = sums > 128 * kWarpgroupThreads;
  static constexpr int loaders = lends ? kWarpgroupThreads : kWarpSize;
  static constexpr int few = 40, many = 232;  ///< together those of a multiprocessor
  static constexpr Dim3 block{warpgroups * kWarpgroupThreads + loaders};
  static constexpr bool needs_sm_90a = true, starts_early = true;
  static constexpr int down = Together.down, across = Together.across, blocks = down * across;
  static constexpr Dim3 cluster{blocks};
  /// One block per multiprocessor, in clusters, at most one per tile.
  static constexpr Dim3 grid(index_t M, index_t N, int multiprocessors = 132) {
    return grid_for(clusters_of(M, N), multiprocessors);
  }
  /// The clusters that compute C, and a grid for the clusters of all products of a group.
  static constexpr index_t clusters_of(index_t M, index_t N) {
    return ceil_div(M, S.bm * down) * ceil_div(N, S.bn * across);
  }
  static constexpr Dim3 grid_for(index_t clusters, int multiprocessors) {
    const index_t most = multiprocessors < blocks ? 1 : multiprocessors / blocks;
    return grid_of(name, (clusters < most ? clusters : most) * blocks);
  }
  template <class T>
  static constexpr int depth = 128 / static_cast<int>(sizeof(T));  ///< BK: rows of 128 bytes
  template <class T>
  using TileA = OperandTile<T, S.bm, depth<T>>;
  template <class T>
  using TileB = OperandTile<T, S.bn, depth<T>>;
  /// The part of a tile that one block loads: of A for the blocks in its row of the cluster, of B
  /// for those in its column.
  template <class T>
  using LoadA = OperandTile<T, S.bm / across, depth<T>>;
  template <class T>
  using LoadB = OperandTile<T, S.bn / down, depth<T>>;
  /// As many as fit into the 227 KiB of a block, besides the slices and the gates.
  static constexpr int fitting =
      (226 * 1024 - warpgroups * 2 * kSliceBytes) / ((S.bm + S.bn) * 128);
  static constexpr int stages = Stages > 0 ? Stages : fitting < 8 ? fitting : 8;
  static_assert(stages >= 2 && stages <= fitting,
                "warpgroup: from two stages to as many as fit into 226 KiB");
  template <class T>
  struct Shared {
    TileA<T> a[stages];
    TileB<T> b[stages];
    Slice slices[warpgroups][2];
    Gate full[stages], free[stages], turns[warpgroups];
  };

  TESSERA_KERNEL void operator()(auto t, const auto& gA, const auto& gB, const auto& slices,
                                 const auto& C) const {
    static_assert(How != Products::group, "warpgroup: a group is one argument");
    multiply(t,
             Alone<decltype(gA), decltype(gB), decltype(slices), decltype(C)>{gA, gB, slices, C});
  }
  template <class Member>
  TESSERA_KERNEL void operator()(auto t, const ProductGroup<Member>& group) const {
    static_assert(How == Products::group, "warpgroup: Products::group takes a group");
    multiply(t, group);
  }

 private:
  /// A single product, as if it were a group.
  template <class A, class B, class Slices, class C>
  struct Alone {
    using element = ElementOf<A>;
    using member_type = GroupMember<A, B, Slices, C>;
    struct {
      member_type one;
      TESSERA_KERNEL constexpr const member_type& operator[](int) const { return one; }
    } of;
    static constexpr int count = 1;
    TESSERA_KERNEL constexpr Alone(A a, B b, Slices slices, C c) : of{{a, b, slices, c}} {}
  };

  TESSERA_KERNEL static void multiply(auto& t, const auto& group) {
    using Member = typename std::remove_cvref_t<decltype(group)>::member_type;
    using T = typename std::remove_cvref_t<decltype(group)>::element;
    using Unit = WarpgroupUnit<AccumulatorFor<decltype(Member::c)>, T, T, S.wm, S.wn>;
    using Part = WarpgroupUnit<AccumulatorFor<decltype(Member::c)>, T, T, 64, wide>;
    static_assert(promotes || kAddsOf<T> == Adds::unit,
                  "warpgroup: of f8 the threads add: Adds::threads");
    auto& s = shared<Shared<T>>(t);
    const int warpgroup = t.warpgroup();
    open_gates(t, s.full, s.free, (by_turns ? 1 : warpgroups) * (down + across - 1));
    if (t.thread == 0) {
      for (auto& turn : s.turns) open_gate(t, turn, 1);
      publish_gates(t);
    }
    let_next_start(t);
    meet_all(t);  // all gates are open
    const int rank = blocks > 1 ? t.cluster_rank() : 0;
    // This block's tile among those that a cluster computes at the same time.
    const int row_of = rank / across, col_of = rank % across;
    const unsigned beside = ((1u << across) - 1) << row_of * across, below = first_column << col_of;
    const int step = t.grid_dim.x / blocks, first = t.block.x / blocks;
    const Work all(group);
    const auto tile_at = [&](const Work& work) {
      const TileAt at = grouped_block(Position{0, 0, 0, work.own}, work.clusters);
      return TileAt{at.row * down + row_of, at.col * across + col_of};
    };
    Turn<stages> turn;
    if (warpgroup == loader) {
      if constexpr (lends) fewer_registers<few>(t);
      if (t.thread == warpgroups * kWarpgroupThreads) {
        wait_for_previous(t);
        for (Work work = all.after(group, first); work.is_left(group);
             work = work.after(group, step)) {
          const TileAt at = tile_at(work);
          const int k_tiles = work.k_tiles(group);
          const auto& gA = group.of[work.which].a;
          const auto& gB = group.of[work.which].b;
          TESSERA_NO_UNROLL
          for (int k = 0; k < k_tiles; ++k, turn.next()) {
            wait(t, s.free[turn.stage], turn.before());  // this stage has been read
            Gate& full = s.full[turn.stage];
            expect(t, full, TileA<T>::bytes + TileB<T>::bytes);
            int of_a = k, of_b = k;  // tiles along K
            if constexpr (How == Products::three_planes) {
              const int of_plane = k_tiles / kPlanePairs, pair = k / of_plane;
              of_a += ((kPlanesOfA >> 4 * pair & 3) - pair) * of_plane;
              of_b += ((kPlanesOfB >> 4 * pair & 3) - pair) * of_plane;
            }
            load<across>(t, gA, at.row * S.bm, of_a * depth<T>, s.a[turn.stage], full, col_of,
                         beside);  // (BM,BK)
            load<down>(t, gB, at.col * S.bn, of_b * depth<T>, s.b[turn.stage], full, row_of,
                       below);  // (BN,BK)
          }
        }
      }
      leave(t);
      return;
    }
    if constexpr (lends) more_registers<many>(t);
    const bool leads = t.thread % kWarpgroupThreads == 0;
    const int mine = by_turns ? 0 : warpgroup;  // the rows of a tile
    if (by_turns && warpgroup == 0 && leads) arrive(t, s.turns[0]);
    unsigned phase = 0;  // of this warpgroup's turns
    bool is_first = true;
    bool is_others = by_turns && warpgroup == 1;  // the other warpgroup's tile
    for (Work work = all.after(group, first); work.is_left(group);
         work = work.after(group, step), is_others = by_turns && !is_others) {
      const int k_tiles = work.k_tiles(group);
      if (is_others) {
        turn.skip(k_tiles);
        continue;
      }
      const TileAt at = tile_at(work);
      const Member& product = group.of[work.which];
      typename Unit::Fragment acc;  // (WM,BN)
      if (by_turns)
        wait(t, s.turns[warpgroup], phase);  // the other one has started its last product
      phase ^= 1;
      int before = 0;  // the stage of the previous tile
      if constexpr (promotes) {
        typename Part::Fragment some[in_flight];  // (64,wide): sums of one tile along K
        acc = {};
        TESSERA_NO_UNROLL
        for (int k = 0; k < k_tiles; ++k, turn.next()) {
          wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
          TESSERA_UNROLL_REGISTERS
          for (int i = 0; i < parts; ++i) {
            Part::mma(t, some[i % 2],
                      operand<64>(s.a[turn.stage], product.a, mine * slabs + i / across_tile),
                      operand<wide>(s.b[turn.stage], product.b, i % across_tile), false);
            if (i == 0) continue;
            const int last = i - 1;
            wait_mma<1>(t);  // the last part is complete
            Unit::template add<Part>(acc, some[last % 2], last / across_tile, last % across_tile);
          }
          wait_mma<0>(t);  // all are: the stage is free
          give_back(t, s.free[turn.stage], row_of, col_of);
          Unit::template add<Part>(acc, some[(parts - 1) % 2], slabs - 1, across_tile - 1);
        }
      } else {
        TESSERA_NO_UNROLL
        for (int k = 0; k < k_tiles; ++k) {
          wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
          Unit::mma(t, acc, part<S.wm>(s.a[turn.stage], product.a.major, mine),
                    part<S.bn>(s.b[turn.stage], product.b.major), k > 0);
          wait_mma<1>(t);  // the previous product is done: its stage is free
          if (k > 0) give_back(t, s.free[before], row_of, col_of);
          before = turn.stage;
          turn.next();
        }
        wait_mma<0>(t);
        if (k_tiles > 0) give_back(t, s.free[before], row_of, col_of);
      }
      // acc is complete
      if (by_turns && leads) arrive(t, s.turns[1 - warpgroup]);
      if (is_first) wait_for_previous(t);
      is_first = false;
      store_sums<Unit>(t, acc, s.slices[warpgroup], product.slices, product.c,
                       at.row * (S.bm / S.wm) + mine, at.col,
                       k_tiles > 0 ? Sums::of_unit : Sums::none);
    }
    if (leads) wait_bulk<0>(t);  // all is stored
    leave(t);
  }

  /// The ranks in the first column of a cluster, a bit for each.
  static constexpr unsigned first_column = [] {
    unsigned ranks = 0;
    for (int row = 0; row < down; ++row) ranks |= 1u << row * across;
    return ranks;
  }();

  /// The six products of planes, the smallest first: the plane of A, and of B.
  static constexpr int kPlanePairs = 6, kPlanesOfA = 0x001012, kPlanesOfB = 0x010210;

  /// A cluster's tiles of C: which product's, and the number among those of that product.
  struct Work {
    Dim3 clusters;  ///< of the product
    int which = 0, own = 0;

    TESSERA_KERNEL explicit Work(const auto& group) : clusters(of(group, 0)) {}
    TESSERA_KERNEL bool is_left(const auto& group) const {
      return How == Products::group ? which < group.count : own < volume(clusters);
    }
    /// Those that are `step` further on.
    TESSERA_KERNEL Work after(const auto& group, int step) const {
      Work to = *this;
      to.own += step;
      if constexpr (How == Products::group) {
        while (to.which < group.count && to.own >= static_cast<int>(volume(to.clusters))) {
          to.own -= static_cast<int>(volume(to.clusters));
          if (++to.which < group.count) to.clusters = of(group, to.which);
        }
      }
      return to;
    }
    TESSERA_KERNEL int k_tiles(const auto& group) const {
      using T = typename std::remove_cvref_t<decltype(group)>::element;
      if (How == Products::group && which >= group.count) return 0;
      const int tiles = (static_cast<int>(valid<1>(group.of[which].a)) + depth<T> - 1) / depth<T>;
      return How == Products::three_planes ? tiles / 3 * kPlanePairs : tiles;
    }

   private:
    TESSERA_KERNEL static Dim3 of(const auto& group, int which) {
      const auto& C = group.of[which].c;
      return {static_cast<int>(ceil_div(valid<1>(C), S.bn * across)),
              static_cast<int>(ceil_div(valid<0>(C), S.bm * down))};
    }
  };

  /// Rows number `at` of a staged tile, in either major; planes are K-major.
  template <int Rows, class Tile>
  TESSERA_KERNEL static auto operand(Tile& tile, const auto& from, int at) {
    if constexpr (How == Products::three_planes) return rows<Rows>(tile.k_major, at);
    else return part<Rows>(tile, from.major, at);
  }

  TESSERA_KERNEL static void meet_all(auto& t) {
    if constexpr (blocks > 1) cluster_barrier(t);
    else t.barrier();
  }
  /// No block may end while others copy into it or arrive at its gates.
  TESSERA_KERNEL static void leave(auto& t) {
    if constexpr (blocks > 1) {
      t.warp_barrier();
      cluster_barrier(t);
    }
  }
  /// Loads the tile from (row, k) on of an operand; of a tile that blocks share, one part, into all
  /// blocks of the mask.
  template <int Parts, class Tile>
  TESSERA_KERNEL static void load(auto& t, const auto& from, int row, int k, Tile& to, Gate& full,
                                  int part, unsigned mask) {
    if constexpr (Parts == 1) {
      copy_bulk(t, tile_from(from, row, k), to, full);
    } else {
      constexpr int rows = Tile::rows / Parts;
      copy_bulk(t, tile_from(from, row + part * rows, k), share<rows>(to, part), full, mask);
    }
  }
  /// This warpgroup has read a stage: arrives at the gate of each block that loads into it.
  TESSERA_KERNEL static void give_back(auto& t, Gate& free, int row_of, int col_of) {
    const int to = t.thread % kWarpgroupThreads;
    if constexpr (blocks == 1) {
      if (to == 0) arrive(t, free);
    } else {
      if (to < blocks && (to / across == row_of || to % across == col_of)) arrive(t, free, to);
    }
  }
};

/// C = the sum of the parts of a split K, one (M,N) after another, in their order.
struct SumParts {
  static constexpr const char* name = "sum_parts";
  static constexpr Dim3 block{256};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(M * N, index_t{block.x}));
  }
  int parts;

  TESSERA_KERNEL void operator()(auto t, const auto* from, const auto& C) const {
    using Acc = AccumulatorFor<std::remove_cvref_t<decltype(C)>>;
    const index_t N = valid<1>(C), count = valid<0>(C) * N;
    const index_t at = index_t{t.block.x} * block.x + t.thread.x;
    if (at >= count) return;
    Acc sum{0};
    for (int part = 0; part < parts; ++part) sum += from[part * count + at];
    store(C, at / N, at % N, sum);
  }
};

}  // namespace tessera
