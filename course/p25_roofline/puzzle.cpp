// Puzzle 25: the roofline.
// What is the most that a kernel can reach? A100: 19500 Gflop/s of float, 1555 Gbyte/s.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr double peak = 19500, bandwidth = 1555;

// An n x n product of floats: n*n*n multiply-adds of two operations each.
constexpr double operations(double n) {
  //> FILL ME IN (1 line)
  return 2 * n * n * n;
  //> instead
  return 0 * n;
  //> end
}
// The bytes that must move at least: A and B once, C once, 4 bytes each.
constexpr double bytes(double n) {
  //> FILL ME IN (1 line)
  return 3 * n * n * 4;
  //> instead
  return 0 * n;
  //> end
}
// The most Gflop/s for so many operations for each byte.
constexpr double attainable(double intensity) {
  //> FILL ME IN (1 line): memory gives bandwidth * intensity, and nothing gives more than the peak
  return bandwidth * intensity < peak ? bandwidth * intensity : peak;
  //> instead
  return 0 * intensity;
  //> end
}
