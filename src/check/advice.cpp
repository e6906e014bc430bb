// One function for each kind of waste; each says what it found, with numbers, and what to try.
// Waste below a fiftieth of the busiest resource's time is not reported.
#include "advice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cuda_words.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

constexpr double kWorthSaying = 0.02;

double per(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

class Advisor {
 public:
  Advisor(const Report& report, const Explanation& e, double scale)
      : report_(report), e_(e), scale_(scale), c_(report.total) {
    for (const ResourceTime& r : e.resources) busiest_us_ = std::max(busiest_us_, r.least_us);
  }

  std::vector<Advice> all() {
    for (const LineCounters& line : report_.by_line) {
      coalescing(line);
      conflicts(line);
    }
    reuse();
    registers_instead_of_shared();
    wider_accesses();
    partial_warps();
    grid();
    occupancy();
    matrix_units();
    if (!report_.launches.empty()) {  // a program in plain CUDA
      for (Advice& each : out_) each.remedy = in_cuda(std::move(each.remedy));
    }
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Advice& a, const Advice& b) { return a.saved_us > b.saved_us; });
    return std::move(out_);
  }

 private:
  double stage_us(double cycles) const {
    return cycles * scale_ / (e_.device->clock_hz * e_.busy_sms) * 1e6;
  }
  void say(double saved_us, std::string problem, std::string remedy, Location location = {}) {
    if (saved_us > 0 && saved_us >= kWorthSaying * busiest_us_)
      out_.push_back({std::move(problem), std::move(remedy), std::move(location), saved_us});
  }

  /// The accesses of a line that need more than the minimum, worst first: " (A: 32 instead of 4)".
  std::string culprits(const Location& line, Memory memory, bool stores) const {
    std::string out;
    for (const AccessSample& s : report_.samples) {
      if (s.location.file != line.file || s.location.line != line.line || s.memory != memory ||
          s.is_store != stores || s.transfers <= s.ideal || s.tensor.empty())
        continue;
      out += cat(out.empty() ? " (" : "; ", s.tensor, ": ", s.transfers, " where ", s.ideal,
                 " would do");
    }
    return out.empty() ? out : out + ")";
  }

  void coalescing(const LineCounters& line) {
    const Counters& c = line.counters;
    const auto judge = [&](const char* what, bool stores, std::int64_t requests,
                           std::int64_t sectors, std::int64_t ideal) {
      if (requests == 0 || static_cast<double>(sectors) < 1.25 * static_cast<double>(ideal)) return;
      const double wasted = static_cast<double>(sectors - ideal);
      say(stage_us(wasted / kSectorsPerClock),
          cat("each ", what, " of a warp touches ", number_text(per(sectors, requests)),
              " sectors; their bytes would fit into ", number_text(per(ideal, requests)),
              culprits(line.location, Memory::global, stores)),
          "let neighbouring lanes touch neighbouring addresses: thread x along the contiguous "
          "dimension, or load the tile that way into shared memory and read it there in any order",
          line.location);
    };
    judge("load", false, c.global_load_requests, c.global_load_sectors,
          c.global_load_sectors_ideal);
    judge("store", true, c.global_store_requests, c.global_store_sectors,
          c.global_store_sectors_ideal);
  }

  void conflicts(const LineCounters& line) {
    const Counters& c = line.counters;
    const auto judge = [&](const char* what, bool stores, std::int64_t requests,
                           std::int64_t wavefronts, std::int64_t ideal) {
      if (requests == 0 || wavefronts <= ideal) return;
      say(stage_us(static_cast<double>(wavefronts - ideal)),
          cat("each ", what, stores ? " to" : " from", " shared memory takes ",
              number_text(per(wavefronts, requests)), " wavefronts instead of ",
              number_text(per(ideal, requests)), ": bank conflicts",
              culprits(line.location, Memory::shared, stores)),
          "pad the tile's rows or swizzle its layout, so that the lanes of one phase meet "
          "different banks; transpose the tile where a column is read",
          line.location);
    };
    judge("load", false, c.shared_load_requests, c.shared_load_wavefronts,
          c.shared_load_wavefronts_ideal);
    judge("store", true, c.shared_store_requests, c.shared_store_wavefronts,
          c.shared_store_wavefronts_ideal);
  }

  void reuse() {
    const double requested =
        static_cast<double>(c_.global_load_bytes + c_.async_copy_bytes) * scale_;
    const bool staged = c_.shared_load_requests > 0 || c_.async_copy_requests > 0;
    if (staged || e_.traffic.compulsory_bytes <= 0 || requested < 4 * e_.traffic.compulsory_bytes)
      return;
    // Savings by coalescing are not counted twice.
    const double coalesced =
        std::max(static_cast<double>(c_.global_load_requests),
                 static_cast<double>(c_.global_load_sectors_ideal) / kSectorsPerClock);
    say(stage_us(coalesced) * 0.9,
        cat("the lanes load ", si_text(requested), "B for ", si_text(e_.traffic.compulsory_bytes),
            "B of data: each byte ", number_text(requested / e_.traffic.compulsory_bytes),
            " times on average"),
        "let each block stage a tile in shared memory and read it there: every element is then "
        "loaded once for each block instead of once for each thread");
  }

  void registers_instead_of_shared() {
    const double loads = static_cast<double>(c_.shared_load_requests) * kWarpLanes,
                 fmas = static_cast<double>(c_.fma_threads);
    const double shared_us = stage_us(data_stage_cycles(c_, true, false));
    if (fmas == 0 || loads < 0.5 * fmas || shared_us < 0.5 * busiest_us_) return;
    say(shared_us / 2,
        cat("each multiply-add needs ", number_text(loads / fmas),
            " loads from shared memory, which serves one warp per clock while ",
            e_.device->f32_fma_per_sm_clock / kWarpLanes, " could multiply"),
        "let each thread compute several elements of C and keep its row of A and column of B in "
        "registers: a thread tile of 8x8 needs 16 loads for 64 multiply-adds");
  }

  void wider_accesses() {
    const auto judge = [&](const char* what, std::int64_t requests, std::int64_t bytes) {
      const double lane_bytes = per(bytes, requests) / kWarpLanes;
      if (requests == 0 || lane_bytes > 4.5 || lane_bytes < 3.5) return;
      say(stage_us(static_cast<double>(requests)) * 0.1,
          cat(what, " moves 4 bytes for each lane, ",
              count_text(static_cast<std::int64_t>(static_cast<double>(requests) * scale_)),
              " instructions in all"),
          "access four neighbouring elements as one vector of 16 bytes (vectorize<1, 4>): a "
          "quarter of the instructions for the same bytes");
    };
    judge("each load from global memory", c_.global_load_requests, c_.global_load_bytes);
    judge("each load from shared memory", c_.shared_load_requests, c_.shared_load_bytes);
  }

  void partial_warps() {
    const std::int64_t requests = c_.global_load_requests + c_.global_store_requests +
                                  c_.shared_load_requests + c_.shared_store_requests;
    const double share = per(c_.partial_requests, requests);
    if (share < 0.25) return;
    const auto threads = volume(report_.block);
    const bool ragged = threads % report_.warp_size != 0;
    say(share * busiest_us_ * 0.5,
        cat(number_text(100 * share),
            " % of the memory instructions are those of warps in which "
            "lanes are idle",
            ragged ? cat(": a block has ", threads, " threads, no multiple of ", report_.warp_size)
                   : ""),
        ragged ? "give the block a multiple of 32 threads"
               : "let whole warps take the same branch; at the edge, prefer extents that are "
                 "multiples of the tile");
  }

  void grid() {
    const DeviceModel& d = *e_.device;
    if (e_.blocks < d.sms) {
      say(busiest_us_ * (1 - e_.busy_sms / d.sms),
          cat("the grid has ", e_.blocks, e_.blocks == 1 ? " block" : " blocks", " for ", d.sms,
              " multiprocessors"),
          "take smaller tiles, or split K among several blocks, so that every multiprocessor has "
          "work; small products leave a large GPU idle whatever the kernel");
      return;
    }
    const double waves = static_cast<double>(e_.blocks) / std::max(1, e_.occupancy.blocks * d.sms);
    const double tail = std::ceil(waves) / waves;
    if (e_.occupancy.blocks > 0 && waves > 1 && tail > 1.25)
      say(busiest_us_ * (tail - 1),
          cat(e_.blocks, " blocks run in ", number_text(waves), " waves of ",
              e_.occupancy.blocks * d.sms, ": the last wave leaves multiprocessors idle"),
          "choose tiles for which the blocks fill whole waves");
  }

  void occupancy() {
    const Occupancy& o = e_.occupancy;
    if (o.blocks == 0) {
      out_.push_back({cat("a block does not fit on ", e_.device->full_name, ": too much of ",
                          to_string(o.limit)),
                      "take a smaller tile",
                      {},
                      10 * busiest_us_ + 1});
      return;
    }
    if (o.fraction() >= 0.25 || c_.bulk_copies > 0) return;  // bulk copies are ahead of the work
    say(busiest_us_ * 0.2,
        cat("only ", o.warps, " of ", o.most_warps, " warps fit on a multiprocessor, limited by ",
            to_string(o.limit)),
        "with few warps latency shows: take less of what limits, or overlap loads with work "
        "(asynchronous copies, double buffering)");
  }

  void matrix_units() {
    const double tensor = peak_flops(*e_.device, e_.dtype, Unit::tensor_cores);
    if (e_.on_tensor_cores || e_.resources[e_.busiest].name != "multiply-adds" ||
        tensor <= e_.peak_flops)
      return;
    say(busiest_us_ * (1 - e_.peak_flops / tensor) * 0.5,
        cat("the multiply-adds are the limit: ", si_text(e_.peak_flops), "flop/s"),
        cat("matrix units reach ", si_text(tensor), "flop/s",
            e_.dtype == DType::f32 ? " with operands rounded to TF32" : ""));
  }

  const Report& report_;
  const Explanation& e_;
  const double scale_;
  const Counters& c_;
  double busiest_us_ = 0;
  std::vector<Advice> out_;
};

}  // namespace

std::vector<Advice> advice_on(const Report& report, const Explanation& e, double scale) {
  return Advisor(report, e, scale).all();
}

}  // namespace tessera::check
