// The progress bar. Its own thread redraws it, so that the time advances even if work rarely
// reports.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "context.hpp"
#include "process/clock.hpp"
#include "process/signals.hpp"

namespace tessera::shell {

namespace {
constexpr auto kFirstDrawing = std::chrono::milliseconds(700);
constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kPlainLine = std::chrono::seconds(5);
constexpr int kBarWidth = 24;
/// The weight of an expected time in the estimate of the speed.
constexpr double kTrust = 0.1;
/// The largest part of a running step that counts as done.
constexpr double kMostOfStep = 0.95;
}  // namespace

void Pace::update(double done, double next, double now) {
  done_ = done, next_ = std::max(0.0, std::min(next, total_ - done)), updated_ = now;
}

double Pace::speed() const {
  const double trusted = unit_ == Unit::seconds ? kTrust * total_ : 0;
  const double seconds = updated_ + trusted;
  return seconds > 0 ? (done_ + trusted) / seconds : 0;
}

Pace::Estimate Pace::at(double now) const {
  if (!(total_ > 0)) return {};
  const double walked = std::min((now - updated_) * speed(), kMostOfStep * next_);
  const double share = std::clamp((done_ + walked) / total_, 0.0, 1.0);
  // Too little work is done to estimate the speed.
  if (speed() <= 0 || (unit_ == Unit::any && done_ < 0.01 * total_)) return {share, -1};
  return {share, total_ * (1 - share) / speed()};
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
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
  Pace pace;
  bool bar;
  bool drawn = false, stopping = false;
  process::Clock::time_point start = process::Clock::now();
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;

  State(std::string command_, std::string label_, Pace pace_, bool bar_)
      : command(std::move(command_)), label(std::move(label_)), pace(pace_), bar(bar_) {}

  static void put(const std::string& text) {
    if (const process::Drawing may; may) {
      [[maybe_unused]] const auto written =
          write(2, text.data(), text.size());  // one write, so that no other output splits the line
    }
  }

  void draw() {
    try {
      draw_now();
    } catch (const std::bad_alloc&) {
      // Ignore a failure: the bar is only missing.
    }
  }

  void draw_now() {
    const double elapsed = process::seconds_since(start);
    const auto [share, seconds] = pace.at(elapsed);
    const std::string left = seconds < 0 ? duration_text(elapsed) + " so far"
                                         : "about " + duration_text(seconds) + " left";
    if (bar) {
      const int filled = static_cast<int>(share * kBarWidth);
      std::string line = fmt::format("{} [{}{}] {:3.0f} %  {}", label, std::string(filled, '#'),
                                     std::string(kBarWidth - filled, '.'), share * 100, left);
      // A longer line would wrap, and the second line would not be cleared.
      if (const std::size_t columns = terminal_columns(Stream::err); columns > 1)
        line = line.substr(0, columns - 1);
      put("\r\033[K" + line);
      drawn = true;
    } else {
      put(fmt::format("{}: {}: {:.0f} %, {}\n", command, label, share * 100, left));
    }
  }

  void loop() {
    std::unique_lock lock(mutex);
    auto next = start + (bar ? process::Clock::duration(kFirstDrawing)
                             : process::Clock::duration(kPlainLine));
    while (!stopping) {
      if (wake.wait_until(lock, next) == std::cv_status::timeout || process::Clock::now() >= next) {
        if (stopping) break;
        draw();
        next = process::Clock::now() +
               (bar ? process::Clock::duration(kRedraw) : process::Clock::duration(kPlainLine));
      }
    }
    if (drawn) put("\r\033[K");
  }
};

Progress::Progress(const Context& context, std::string label, double total, Pace::Unit unit) {
  if (context.quiet || context.json) return;
  state_ = std::make_unique<State>(context.command, std::move(label), Pace(total, unit),
                                   is_terminal(Stream::err));
  try {
    state_->thread = std::thread([state = state_.get()] {
      process::no_signals_here();
      state->loop();
    });
  } catch (const std::exception&) {
    state_.reset();  // without a thread, work continues without a bar
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

void Progress::update(double done, double next) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->pace.update(done, next, process::seconds_since(state_->start));
}

void Progress::label(std::string text) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->label = std::move(text);
}

}  // namespace tessera::shell
