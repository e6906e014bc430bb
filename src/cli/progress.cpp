// The progress bar: a thread of its own redraws it, so that work which reports rarely still shows
// its time.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "context.hpp"

namespace tessera::cli {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto kFirstDrawing = std::chrono::milliseconds(700);
constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kPlainLine = std::chrono::seconds(5);
constexpr int kBarWidth = 24;
}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

struct Progress::State {
  std::string command, label;
  double total, done = 0;
  bool bar;
  bool drawn = false, stopping = false;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;

  static void put(const std::string& text) {
    [[maybe_unused]] const auto written =
        write(2, text.data(), text.size());  // one write: no torn lines
  }

  void draw() {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    const double share = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0.0;
    const std::string left = share > 0.01
                                 ? "about " + duration_text(elapsed / share * (1 - share)) + " left"
                                 : duration_text(elapsed) + " so far";
    if (bar) {
      const int filled = static_cast<int>(share * kBarWidth);
      put(fmt::format("\r\033[K{} [{}{}] {:3.0f} %  {}", label, std::string(filled, '#'),
                      std::string(kBarWidth - filled, '.'), share * 100, left));
      drawn = true;
    } else {
      put(fmt::format("{}: {}: {:.0f} %, {}\n", command, label, share * 100, left));
    }
  }

  void loop() {
    std::unique_lock lock(mutex);
    auto next = start + (bar ? Clock::duration(kFirstDrawing) : Clock::duration(kPlainLine));
    while (!stopping) {
      if (wake.wait_until(lock, next) == std::cv_status::timeout || Clock::now() >= next) {
        if (stopping) break;
        draw();
        next = Clock::now() + (bar ? Clock::duration(kRedraw) : Clock::duration(kPlainLine));
      }
    }
    if (drawn) put("\r\033[K");
  }
};

Progress::Progress(const Context& context, std::string label, double total) {
  if (context.quiet || context.json) return;
  state_ = std::make_unique<State>();
  state_->command = context.command;
  state_->label = std::move(label);
  state_->total = total;
  state_->bar = is_terminal(Stream::err);
  try {
    state_->thread = std::thread([state = state_.get()] { state->loop(); });
  } catch (const std::exception&) {
    state_.reset();  // no thread to be had: work goes on without a bar
  }
}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  state_->thread.join();
  state_.reset();
}

void Progress::update(double done) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->done = done;
}

void Progress::label(std::string text) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->label = std::move(text);
}

}  // namespace tessera::cli
