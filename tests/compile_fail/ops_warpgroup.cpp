// expect: rows<R>: R is a multiple of 8 rows
// expect: rows<R> of an MN-major tile: whole panels
// expect: a warpgroup's instruction takes 64 rows, and columns in multiples of 8 up to 256
// expect: of whole numbers an instruction has 8, 16 or 24 columns, or multiples of 16
// expect: both operands have elements of as many bytes
// expect: both operands have the same depth
// expect: only 16-bit operands may be MN-major
// expect: the unit is one of these types
// expect: whole parts of 64 rows
// expect: an operand's instructions begin at equal distances: rows of up to 128 bytes
#include "tessera/core/small_float.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/simt/launch.hpp"

using namespace tessera;

using KMajor = UnitTile<bf16, row_major(128, 64)>;
using MnMajor = UnitTile<bf16, unit_layout<bf16>(Major::mn, 128, 64)>;
KMajor a;
MnMajor b;
const auto use_1 = rows<12>(a, 0);                                                  // refused
const auto use_2 = rows<32>(b, 1);                                                  // refused
constexpr auto use_3 = sizeof(WarpgroupUnit<float, bf16, bf16, 32, 64>::Fragment);  // refused
constexpr auto use_4 =
    sizeof(WarpgroupUnit<int, std::int8_t, std::int8_t, 64, 40>::Fragment);          // refused
constexpr auto use_5 = sizeof(WarpgroupUnit<float, bf16, float, 64, 64>::Fragment);  // refused

using Thread = CpuThread<Dim3{128}, 32>;
template <class Unit, class A, class B>
void multiply(Thread& t, A& x, B& y) {
  typename Unit::Fragment sums;
  Unit::mma(t, sums, whole(x), whole(y), false);
}
UnitTile<bf16, row_major(64, 64)> wide;
UnitTile<bf16, row_major(64, 32), SwizzleMode::bytes_64> narrow;
UnitTile<float, Layout{tuple(64, 32), tuple(32, 1)}> floats;
UnitTile<float, Layout{tuple(tuple(32, 2), 32), tuple(tuple(1, 1024), 32)}> across;
UnitTile<bf16, Layout{tuple(64, tuple(64, 2)), tuple(64, tuple(1, 4096))}> panels;
void use_6(Thread& t) {
  multiply<WarpgroupUnit<float, bf16, bf16, 64, 64>>(t, wide, narrow);      // refused
  multiply<WarpgroupUnit<float, float, float, 64, 64>>(t, floats, across);  // refused
  multiply<WarpgroupUnit<float, f16, f16, 64, 64>>(t, wide, wide);          // refused
  multiply<WarpgroupUnit<float, bf16, bf16, 64, 64>>(t, panels, panels);    // refused
}
using Sums = WarpgroupUnit<float, bf16, bf16, 64, 64>;
void use_7(Sums::Fragment& sums, WarpgroupUnit<float, bf16, bf16, 64, 48>::Fragment& more) {
  Sums::add<WarpgroupUnit<float, bf16, bf16, 64, 48>>(sums, more, 0, 0);  // refused
}
