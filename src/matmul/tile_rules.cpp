// The rule for the tiles of each kernel of the ladder, as a message for callers who ask for another
// tile: the run-time twins of the kernels' static_asserts, called by plan.cpp.
#include "tile_rules.hpp"

#include <algorithm>

#include "tessera/core/config.hpp"
#include "tessera/core/text.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::detail {

namespace {

/// 12345678 as "12,345,678".
std::string grouped(index_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string too_many_threads(index_t threads) {
  if (threads <= kMaxBlockThreads) return {};
  return cat(grouped(threads), " threads in a block, at most ", grouped(kMaxBlockThreads));
}

/// The number of elements that a block stages.
std::string too_many_elements(index_t elements, int element_bytes) {
  constexpr auto most = static_cast<index_t>(kMaxSharedBytes);
  if (elements <= most / element_bytes) return {};
  return cat(grouped(elements), " elements of ", element_bytes, " bytes in shared storage of ",
             grouped(most), " bytes");
}

/// A block stages (BM,BK) of A and (BK,BN) of B.
std::string too_much_storage(const TileShape& t, int element_bytes) {
  return too_many_elements((index_t{t.bm} + t.bn) * t.bk, element_bytes);
}

/// The threads of a block divide rows of a tile among themselves, four elements or one each.
std::string too_few_threads(index_t threads, index_t wanted, const char* row) {
  if (threads >= wanted) return {};
  return cat(grouped(threads), " threads share out a row of ", row, ", at least ", grouped(wanted));
}

std::string first_of(std::string a, const std::string& b) { return a.empty() ? b : a; }

std::string staged(const TileShape& t, index_t threads, int element_bytes) {
  return first_of(too_many_threads(threads), too_much_storage(t, element_bytes));
}

}  // namespace

std::string elementwise_tile(const TileShape& t, int) {
  if (t.bk > 0 || t.tm > 0) return "its tiles are BMxBN: a thread computes one element";
  return too_many_threads(index_t{t.bm} * t.bn);
}

std::string row_tile(const TileShape& t, int) {
  if (t.bk > 0 || t.tm > 0 || t.bm != 1) return "its tiles are 1xBN: one row of threads";
  return too_many_threads(t.bn);
}

std::string staged_tile(const TileShape& t, int element_bytes) {
  if (t.bk == 0 || t.tm > 0) return "its tiles are BMxBNxBK";
  return staged(t, index_t{t.bm} * t.bn, element_bytes);
}

std::string cube_tile(const TileShape& t, int element_bytes) {
  if (t.bm != t.bn || t.bm != t.bk || t.tm > 0)
    return "its tiles are BMxBNxBK with three equal extents";
  return staged(t, index_t{t.bm} * t.bn, element_bytes);
}

std::string column_tile(const TileShape& t, int element_bytes) {
  if (t.bk == 0 || t.tm == 0 || t.tn > 1)
    return "its tiles are BMxBNxBK/TMx1: a thread owns TM elements of one column";
  if (t.bm % t.tm != 0) return cat("TM = ", t.tm, " does not divide BM = ", t.bm);
  return staged(t, index_t{t.bm / t.tm} * t.bn, element_bytes);
}

std::string register_tile(const TileShape& t, int element_bytes) {
  if (t.bk == 0 || t.tm == 0) return "its tiles are BMxBNxBK/TMxTN: a thread owns TM x TN elements";
  if (t.bm % t.tm != 0) return cat("TM = ", t.tm, " does not divide BM = ", t.bm);
  if (t.bn % t.tn != 0) return cat("TN = ", t.tn, " does not divide BN = ", t.bn);
  return staged(t, index_t{t.bm / t.tm} * (t.bn / t.tn), element_bytes);
}

std::string wide_register_tile(const TileShape& t, int element_bytes) {
  if (const auto why = register_tile(t, element_bytes); !why.empty()) return why;
  if (t.bk % 4 != 0) return cat("BK = ", t.bk, " is no multiple of the width 4");
  if (t.bn % 4 != 0) return cat("BN = ", t.bn, " is no multiple of the width 4");
  return {};
}

std::string pipelined_tile(const TileShape& t, int element_bytes) {
  if (const auto why = register_tile(t, element_bytes); !why.empty()) return why;
  const int width = 16 / element_bytes;
  const bool along_k = element_bytes < 4;
  if (t.bk % 2 != 0) return cat("BK = ", t.bk, " is odd");
  if (along_k && t.bk % width != 0) return cat("BK = ", t.bk, " is no multiple of ", width);
  if (t.tm % 4 != 0) return cat("TM = ", t.tm, " is no multiple of 4");
  if (t.tn % 4 != 0) return cat("TN = ", t.tn, " is no multiple of 4");
  if (t.bm / t.tm % 8 != 0) return cat("8 TM = ", 8 * t.tm, " does not divide BM = ", t.bm);
  if (t.bn / t.tn % 4 != 0) return cat("4 TN = ", 4 * t.tn, " does not divide BN = ", t.bn);
  const index_t threads = index_t{t.bm / t.tm} * (t.bn / t.tn);
  if (const auto why = first_of(too_few_threads(threads, t.bk, "A"),
                                too_few_threads(threads, t.bn / std::min(4, width), "B"));
      !why.empty())
    return why;
  const index_t a = along_k ? index_t{t.bm} * (t.bk + width) : (index_t{t.bm} + 4) * t.bk;
  return too_many_elements(3 * (a + index_t{t.bk} * t.bn), element_bytes);
}

std::string bulk_tile(const TileShape& t, int element_bytes) {
  if (const auto why = register_tile(t, element_bytes); !why.empty()) return why;
  if (t.bk != 32) return cat("BK = ", t.bk, " is not 32");
  if (t.tm % 4 != 0 || t.tm > 16) return cat("TM = ", t.tm, " is not 4, 8, 12 or 16");
  if (t.tn % 4 != 0 || t.tn > 8) return cat("TN = ", t.tn, " is neither 4 nor 8");
  if (t.bm / t.tm % 8 != 0) return cat("8 TM = ", 8 * t.tm, " does not divide BM = ", t.bm);
  if (t.bn / t.tn % 4 != 0) return cat("4 TN = ", 4 * t.tn, " does not divide BN = ", t.bn);
  if (t.bm > 256 || t.bn > 256) return "a bulk copy moves at most 256 rows or columns";
  const int threads = t.bm / t.tm * (t.bn / t.tn);
  if (2 * t.bm % threads != 0 || 2 * t.bn % threads != 0)
    return cat(threads, " threads cannot share out 4 x 4 blocks of ", t.bm, " or ", t.bn, " x 32");
  if (2 * threads < std::max(t.bm, t.bn))
    return cat(threads, " threads transpose more than four 4 x 4 blocks each");
  // Two stages, and both operands transposed twice.
  const index_t bytes = index_t{element_bytes} * t.bk * (4 * (t.bm + t.bn) + 16);
  const index_t resident = threads >= 256 ? 1 : 2, most = 226 * 1024 / resident - 1024;
  if (bytes <= most) return {};
  return cat("two stages take ", grouped(bytes), " bytes, at most ", grouped(most), " where ",
             resident, resident == 1 ? " block is" : " blocks are", " on a multiprocessor");
}

std::string warp_tile(const TileShape& t, int element_bytes) {
  if (t.bk == 0 || t.wm == 0) return "its tiles are BMxBNxBK/WMxWN: a warp owns WM x WN elements";
  if (t.bm % t.wm != 0) return cat("WM = ", t.wm, " does not divide BM = ", t.bm);
  if (t.bn % t.wn != 0) return cat("WN = ", t.wn, " does not divide BN = ", t.bn);
  const int step = element_bytes == 8 ? 16 : element_bytes == 1 ? 64 : 32;
  if (t.wm % 16 != 0 || t.wn % 8 != 0 || t.bk % step != 0)
    return cat("WM is a multiple of 16, WN of 8, the extents of a matrix instruction, and BK of ",
               step);
  const index_t threads = index_t{t.bm / t.wm} * (t.bn / t.wn) * kWarpSize;
  if (const auto why =
          first_of(too_many_threads(threads), first_of(too_few_threads(threads, t.bk / 4, "A"),
                                                       too_few_threads(threads, t.bn / 4, "B")));
      !why.empty())
    return why;
  const int apart_a = element_bytes == 8 ? 4 : 16 / element_bytes;
  const index_t a = index_t{t.bm} * (t.bk + apart_a);
  const index_t b = element_bytes == 1 ? index_t{t.bn} * (t.bk + apart_a)
                                       : t.bk * (index_t{t.bn} + (element_bytes == 8 ? 4 : 8));
  return too_many_elements((element_bytes == 4 ? 2 : 3) * (a + b), element_bytes);
}

std::string warpgroup_tile(const TileShape& t, int) {
  if (t.bk > 0 || t.wm == 0 || t.wn != t.bn)
    return "its tiles are BMxBN/WMxBN: a warpgroup owns WM rows, and BK is 128 bytes";
  if (t.wm != t.bm && 2 * t.wm != t.bm)
    return "two warpgroups share a tile by its rows, BM = 2 WM, or own tiles by turns, BM = WM";
  if (t.wm % 64 != 0 || t.bn % 8 != 0 || t.bn > 256)
    return "WM is a multiple of 64, BN of 8 up to 256, the extents of a warpgroup's instruction";
  if (index_t{t.wm} * t.bn > index_t{192} * 128)
    return cat("a thread has ", index_t{t.wm} * t.bn / 128, " sums, at most 192");
  if ((index_t{t.bm} + t.bn) * 128 * 2 > 194 * 1024)
    return "two stages of its tiles do not fit into shared memory";
  if (t.cm * t.cn > kMostClusterBlocks)
    return cat("a cluster of ", t.cm * t.cn, " blocks, at most ", kMostClusterBlocks);
  if ((t.cn > 1 && t.bm % (64 * t.cn) != 0) || (t.cm > 1 && t.bn % (64 * t.cm) != 0))
    return "blocks of a cluster load multiples of 64 rows of A each, or of 64 columns of B";
  return {};
}

std::string three_bf16_tile(const TileShape& t, int element_bytes) {
  if (const std::string why = warpgroup_tile(t, element_bytes); !why.empty()) return why;
  if (index_t{t.wm} * t.bn > index_t{128} * 128)
    return cat("a thread has ", index_t{t.wm} * t.bn / 128,
               " sums, and those of two products, at most 128");
  return {};
}

std::string thin_tile(const TileShape& t, int) {
  if (t.bk > 0 || t.wm > 0 || t.tm > 0) return "its tiles are BMxBN, and BK is 128 bytes";
  if ((t.bm != 64 && t.bm != 32) || t.bn % 8 != 0 || t.bn > 256)
    return "BM is 64 or 32, and BN a multiple of 8 up to 256, the columns of a unit's instruction";
  return {};
}

std::string no_tile(const TileShape&, int) {
  return "it takes no tile: it does its own cache blocking";
}

std::string initializer_text(const TileShape& t) {
  std::string out;
  for (const auto& [name, value] : {std::pair{"bm", t.bm},
                                    {"bn", t.bn},
                                    {"bk", t.bk},
                                    {"wm", t.wm},
                                    {"wn", t.wn},
                                    {"tm", t.tm},
                                    {"tn", t.tn},
                                    {"cm", t.cm},
                                    {"cn", t.cn}}) {
    if (value > 0) out += cat(out.empty() ? "." : ", .", name, " = ", value);
  }
  return "{" + out + "}";
}

}  // namespace tessera::detail
