// What P10 and P11 are expected to measure: see clocks.hpp.
#include "clocks.hpp"

#include "readings.hpp"

namespace tessera::primitives {

std::vector<Reading> p10_readings() {
  // Of the machine code that nvcc 13.0 makes of clocks.cu: clocks_test.py computes them again.
  return {{"the port model: two banks, and operands that are kept", {1152, 1510, 1432, 1854}},
          {"ports are no limit: a clock for each", {1047, 1047, 1047, 1047}},
          {"no operand is kept", {1924, 1572, 1562, 1854}}};
}

std::string p10_place(std::size_t word) {
  constexpr const char* orders[] = {"rows", "columns", "serpentine", "diagonals"};
  return std::string("clocks of 1000 multiply-adds by ") + orders[word];
}

std::vector<Reading> p11_readings() {
  // As in src/matmul/gpu_time.cpp; of an H200 as measured (bench/results/gpu), of an H100 as
  // published. The clock is that of products of zeros, which no power limits.
  return {{"the constants for an H200", {7900, 3970, 2500, 1750}},
          {"the constants for an H100", {7900, 2840, 2500, 1750}}};
}

std::string p11_place(std::size_t word) {
  constexpr const char* rates[] = {"reads from L2, GB/s", "a copy in memory, GB/s",
                                   "from launch to launch, ns", "clock under HGMMA, MHz"};
  return rates[word];
}

}  // namespace tessera::primitives
