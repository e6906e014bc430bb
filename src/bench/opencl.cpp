// See opencl.hpp. Each product is timed by the device; copies in both directions are not.
#include "opencl.hpp"

#include <cstring>
#include <optional>

#include "shell/json_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/matmul/on_device.hpp"

namespace tessera::bench {

namespace {

class OpenClBench : public BenchDevice {
 public:
  explicit OpenClBench(const std::string& name) : name_(name) {}

  std::string name() const override { return name_; }
  nlohmann::ordered_json description() const override {
    const DeviceInfo info = describe(Device::parse(name_));
    nlohmann::ordered_json out = shell::json_object();
    out["summary"] = info.name + ", " + name_;
    out["name"] = info.name;
    out["memory_bytes"] = info.memory_bytes;
    return out;
  }
  std::vector<Peer> peers() const override { return {}; }
  std::string missing_peers() const override { return "no library for this device is known"; }

  void load(const BenchCase& now, const SharedOperands& shared) override {
    if (copies_ && case_ == now && shared_ == &shared) return;
    copies_.emplace(name_);
    case_ = now;
    shared_ = &shared;
  }
  void unload() override { copies_.reset(); }
  index_t sets() const override { return 1; }
  void spoil_results() override {
    for (index_t i = 0; i < case_.shape.batch; ++i) {
      const Matrix C = shared_->C(i);
      std::memset(C.data, 0xff, static_cast<std::size_t>(C.rows * C.cols * size_of(C.dtype)));
    }
  }
  void copy_results_to(const SharedOperands&) override {}  // they are there

  Call kernel(const Candidate& who) override {
    Options options;
    options.algorithm = who.algorithm;
    options.tile = who.tile;
    options.device = name_;
    return [this, plan = make_plan(problem_of(case_), options)](index_t) {
      for (index_t i = 0; i < case_.shape.batch; ++i)
        seconds_ += copies_->run(plan, shared_->A(i), shared_->B(i), shared_->C(i));
    };
  }
  Call peer(const std::string& name) override {
    throw Error(Category::argument, cat("no peer '", name, "'"));
  }
  double run(const Call& call, index_t count) override {
    seconds_ = 0;
    for (index_t i = 0; i < count; ++i) call(0);
    return seconds_;
  }
  double peak_flops(std::string_view units, const shell::Types&) override {
    throw Error(Category::unavailable,
                cat("the peak of the ", units, " of ", name_, " is not known"));
  }

 private:
  std::string name_;
  std::optional<OnDevice> copies_;
  BenchCase case_;
  const SharedOperands* shared_ = nullptr;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<BenchDevice> open_opencl_bench(const std::string& device) {
  return std::make_unique<OpenClBench>(device);
}

}  // namespace tessera::bench
