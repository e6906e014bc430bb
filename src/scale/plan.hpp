// What a product C = A * B takes that outgrows one memory or one machine: which rank computes which
// box of multiply-adds, in which blocks and slices a rank works, and the memory, bytes, messages
// and time of it, beside the lower bounds. Pure code: no file, no thread, no clock; `tessera plan`
// prints it, and an out-of-core product runs it and nothing else. A is (M,K), B is (K,N), C is
// (M,N). For src/scale, src/product and src/cli.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tessera/core/dtype.hpp"

namespace tessera::scale {

struct Shape {
  index_t M = 0, N = 0, K = 0;
  bool operator==(const Shape&) const = default;
};

/// Element types: of the files of A, B and C0, of what the kernels read, of the sums, of C.
struct Types {
  DType a = DType::f32, b = DType::f32, c0 = DType::f32;
  DType in_a = DType::f32, in_b = DType::f32, sum = DType::f32, out = DType::f32;
};
/// The types of a product whose files are of the type `in`.
Types types_of(DType in);

/// Half-open ranges of positions: rows [m0, m1), columns [n0, n1), and [k0, k1) along K.
struct Box {
  index_t m0 = 0, m1 = 0, n0 = 0, n1 = 0, k0 = 0, k1 = 0;
  index_t m() const { return m1 - m0; }
  index_t n() const { return n1 - n0; }
  index_t k() const { return k1 - k0; }
  bool operator==(const Box&) const = default;
};

/// What stays in memory while the rest streams past it.
enum class Resident {
  rows_of_a,     ///< block_m rows of A with all of K; columns of B stream
  columns_of_b,  ///< block_n columns of B with all of K; rows of A stream
  sums,          ///< block_m x block_n sums; slices of A and B stream along K
};
std::string_view name(Resident resident);

/// How one memory works through a box: blocks of block_m x block_n elements of C, row by row of
/// blocks (column by column for columns_of_b), each in slices of `depth` along K, in order of k.
struct Schedule {
  Resident resident = Resident::sums;
  Shape shape;
  index_t block_m = 0, block_n = 0, depth = 0;
  index_t memory = 0;  ///< bytes of all buffers
  /// Bytes of the files, all in all.
  double read_a = 0, read_b = 0, read_c0 = 0, written = 0;
  double bound = 0;  ///< bytes that no schedule with this memory goes below: see bounds.hpp
  /// C is symmetric: columns left of the diagonal are copies of the rows above it.
  bool symmetric = false;

  index_t blocks_down() const { return block_m > 0 ? (shape.M + block_m - 1) / block_m : 0; }
  index_t blocks_across() const { return block_n > 0 ? (shape.N + block_n - 1) / block_n : 0; }
  index_t slices() const { return depth > 0 ? (shape.K + depth - 1) / depth : 0; }
  double read() const { return read_a + read_b + read_c0; }
  double moved() const { return read() + written; }
  /// Blocks of sums in memory: finished ones are written while the next are computed, unless a
  /// block is as large as possible.
  index_t buffers_of_sums() const { return resident == Resident::sums ? 1 : 2; }
  /// Columns of a symmetric C whose rows are computed down to the diagonal together.
  index_t strip() const;
  /// The part of the multiply-adds of a whole product that is computed.
  double work() const;
  /// How often each element of A and of B is loaded: each block is, unless the one before has it.
  index_t loads_of_a() const;
  index_t loads_of_b() const;
  bool operator==(const Schedule&) const = default;
};

/// May the sums of an element be cut along K? Kernels that cannot begin with earlier sums keep
/// whole chains in one call.
enum class Chains { may_be_cut, whole };

struct ScheduleRequest {
  Shape shape;
  Types types;
  index_t memory = 0;  ///< bytes for all buffers
  bool reads_c0 = false;
  Chains chains = Chains::may_be_cut;
  bool symmetric = false;  ///< B is A transposed, without C0
};

/// The schedule that moves the fewest bytes in this memory; the first of them where several do.
/// Throws Error(resource) that names the least memory where none fits.
Schedule plan_schedule(const ScheduleRequest& request);

/// One rank's part. Sums that are cut along K continue on the rank with the next range of K, which
/// receives them: each chain of multiply-adds stays whole.
struct RankPart {
  Box box;
  Schedule schedule;              ///< of the box
  double sent = 0, received = 0;  ///< bytes, to and from other ranks
  index_t messages = 0;           ///< received
  index_t held = 0;               ///< bytes of its shares of A and B, and of sums that pass on
  index_t memory = 0;             ///< all bytes
};

/// What the machines do in a second. 0: unknown, no time is forecast from it.
struct Speeds {
  double flops = 0;            ///< of a rank
  double network = 0;          ///< bytes that a rank receives
  double message_seconds = 0;  ///< of one message
  double disk = 0;             ///< bytes of files that a rank reads
  double writing = 0;          ///< bytes of files that a rank writes; 0: as it reads
  double memory = 0;           ///< bytes of new memory that a rank gets; 0: any
};

struct Request {
  Shape shape;
  Types types;
  int ranks = 1;
  index_t memory = 0;  ///< bytes of each rank
  bool reads_c0 = false;
  Chains chains = Chains::may_be_cut;
  bool symmetric = false;  ///< B is A transposed, without C0: one rank computes half of C
  Speeds speeds;
};

struct ScalePlan {
  Request request;
  std::vector<RankPart> ranks;
  Schedule schedule;  ///< of the rank with the largest part

  double sent = 0;               ///< bytes between ranks, all together
  double sent_bound = 0;         ///< which no division among P ranks goes below
  double worst_received = 0;     ///< bytes that the busiest rank receives
  double worst_moved = 0;        ///< half of the bytes that the busiest rank sends and receives
  index_t messages = 0;          ///< all ranks together
  index_t memory = 0;            ///< bytes of the rank that needs most
  double read = 0, written = 0;  ///< bytes of files, all ranks together

  struct Time {
    double arithmetic = 0, network = 0, disk = 0, total = 0;  ///< seconds; 0: not known
  } time;
  std::string limit;  ///< what the time goes to: "arithmetic", "network", "disk"; else "memory"

  double flops() const;  ///< that are computed
  /// sent / sent_bound, 1 where nothing must be sent.
  double ratio_to_bound() const;
  /// The same of the rank that sends and receives most.
  double worst_ratio() const;
};

/// Throws Error(argument) for extents or ranks out of range, Error(resource) as plan_schedule does.
ScalePlan make_scale_plan(const Request& request);

/// For people: six lines or so.
std::string to_string(const ScalePlan& plan);
/// The boxes as an SVG picture, M downwards, N to the right, K into the depth.
std::string picture(const ScalePlan& plan);

}  // namespace tessera::scale
