#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a =
      puzzle::input("a", 1, 64, [](index_t, index_t i) { return double((i * 37 + 11) % 64) / 4; });
  const auto at = [](index_t i) { return double((i * 37 + 11) % 64) / 4; };
  const auto largest = [at](index_t first, index_t last) {
    double out = at(first);
    for (index_t i = first; i < last; ++i) out = at(i) > out ? at(i) : out;
    return out;
  };
  auto out = puzzle::output("out", 1, 64, [=](index_t, index_t i) {
    return largest(i / 32 * 32, i / 32 * 32 + 32) - at(i);
  });
  puzzle::expect_mistakes(
      out, {{"not-all",
             [=](index_t, index_t i) {
               double out = 0;
               for (index_t j = i / 32 * 32 + i % 2; j < i / 32 * 32 + 32; j += 2)
                 out = at(j) > out ? at(j) : out;
               return out - at(i);
             },
             "each lane has the maximum of every second lane: the last step, mask = 1, is missing",
             "the loop runs while mask > 0"},
            {"not-all", [=](index_t, index_t i) { return largest(i, i / 32 * 32 + 32) - at(i); },
             "each lane has the maximum of the lanes above it only",
             "both lanes of a pair exchange: t.shuffle_xor"}});
  run.launch("64 elements, two warps", Dim3{1}, Butterfly{}, puzzle::line(a), puzzle::line(out));
  run.goal(
      "requests to shared memory, and barriers",
      double(run.total().shared_load_requests + run.total().shared_store_requests +
             run.total().block_barriers),
      0,
      "the lanes of a warp exchange registers: t.shuffle_xor needs neither a tile nor a barrier");
}
