// A fake device: it multiplies on this machine and reports the seconds that a test sets.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/device.hpp"
#include "tessera/core/error.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::bench::testing {

/// Contestants are known by their names; a kernel with a tile as "naive 8x8x8".
class FakeDevice : public BenchDevice {
 public:
  static constexpr index_t kSets = 3;
  std::map<std::string, double> flops_per_second;  ///< of whom other than 1e9 is expected
  /// The same for all, if it is set.
  std::function<double(const std::string& name, const BenchCase& now)> modelled;
  std::map<std::string_view, double> peaks = {{kCores, 4e9}, {kMatrixUnits, 16e9}};
  std::string wrong_everywhere, wrong_in_one_set;  ///< whose results are spoiled
  std::string never_ends;                          ///< whose run blocks the device
  std::string crashes;                             ///< whose run ends the process
  int loads = 0;
  bool loaded = false;
  std::vector<std::string> run_names;  ///< who ran, run by run
  std::vector<index_t> used;           ///< each call's set
  std::vector<double> run_seconds;

  std::string name() const override { return "cuda:7"; }
  nlohmann::ordered_json description() const override {
    return {{"summary", "Test GPU, 4 SMs"}, {"name", "Test GPU"}};
  }
  std::vector<Peer> there;
  std::vector<Peer> peers() const override { return there; }
  std::string missing_peers() const override { return "no library"; }

  void load(const BenchCase& now, const SharedOperands& shared) override {
    if (loaded && case_ == now) return;
    ++loads, loaded = true;
    case_ = now;
    products_.clear();
    places_ = OperandPlaces(now);
    memory_.assign(kSets * places_.end, 0);
    for (std::size_t i = 0; i < kSets; ++i)
      std::memcpy(memory_.data() + i * places_.end, shared.A(0).data, places_.c);
  }
  void unload() override { loaded = false; }
  index_t sets() const override { return kSets; }
  void spoil_results() override {
    for (std::size_t i = 0; i < kSets; ++i)
      std::memset(memory_.data() + i * places_.end + places_.c, 0xff, places_.end - places_.c);
  }
  void copy_results_to(const SharedOperands& shared) override {
    const std::size_t bytes = places_.end - places_.c;
    for (std::size_t i = 1; i < kSets; ++i) {
      if (std::memcmp(C(0), C(i), bytes) != 0) throw Error(Category::failed, "sets differ");
    }
    std::memcpy(shared.C(0).data, C(0), bytes);
  }
  Call kernel(const Candidate& who) override {
    return call(to_string(Candidate{who.algorithm, who.tile, std::max(who.parts, 1)}));
  }
  Call peer(const std::string& name) override { return call(name); }
  double run(const Call& call, index_t count) override {
    if (hangs_) throw Error(Category::unavailable, "the device is blocked");
    for (index_t i = 0; i < count; ++i) {
      // Of many calls a few are made: the seconds are those of all.
      if (i < kSets) call(next_);
      used.push_back(next_);
      next_ = (next_ + 1) % kSets;
    }
    if (running_ == crashes) std::abort();
    if (running_ == never_ends) {
      hangs_ = true;
      throw Error(Category::kernel, "a kernel did not end within 10 s");
    }
    const auto at = flops_per_second.find(running_);
    const double rate = modelled                       ? modelled(running_, case_)
                        : at == flops_per_second.end() ? 1e9
                                                       : at->second;
    run_names.push_back(running_);
    run_seconds.push_back(static_cast<double>(count) * case_.flops() / rate);
    return run_seconds.back();
  }
  bool hangs() const override { return hangs_; }
  DeviceState state() const override { return {1980e6, 650.5, 4}; }
  double peak_flops(std::string_view units, const shell::Types&) override {
    const auto at = peaks.find(units);
    if (at == peaks.end()) throw Error(Category::unavailable, "its peak is not known");
    return at->second;
  }

 private:
  char* C(std::size_t set) { return memory_.data() + set * places_.end + places_.c; }
  Call call(const std::string& name) {
    if (name == "cublas-tf32" && case_.types.in != DType::f32)
      throw Error(Category::type, "no such product");
    return [this, name](index_t set) {
      running_ = name;
      char* const base = memory_.data() + static_cast<std::size_t>(set) * places_.end;
      const std::string& product = product_by(name.starts_with("tensor_core") ? "tensor_core"
                                              : size_of(case_.types.in) == 1  ? "auto"
                                                                              : "naive",
                                              base);
      std::memcpy(base + places_.c, product.data(), product.size());
      if (name == wrong_everywhere || (name == wrong_in_one_set && set == 1))
        base[places_.c + static_cast<std::size_t>(size_of(case_.types.out)) - 1] ^= 0x40;
    };
  }

  /// The results of an algorithm, which are multiplied once for all contestants and sets.
  const std::string& product_by(const std::string& algorithm, char* base) {
    std::string& out = products_[algorithm];
    if (!out.empty()) return out;
    const Problem p = problem_of(case_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(case_.shape.batch); ++i)
      matmul({base + places_.a + i * places_.a_step, p.in, p.M, p.K, p.a.row, p.a.col},
             {base + places_.b + i * places_.b_step, p.in, p.K, p.N, p.b.row, p.b.col},
             {base + places_.c + i * places_.c_step, p.out, p.M, p.N, p.c.row, p.c.col}, 1, 0,
             {.algorithm = algorithm, .threads = 1});
    return out.assign(base + places_.c, places_.end - places_.c);
  }

  BenchCase case_;
  std::map<std::string, std::string> products_;
  OperandPlaces places_{case_};
  std::vector<char> memory_;
  index_t next_ = 0;
  std::string running_;
  bool hangs_ = false;
};

}  // namespace tessera::bench::testing
