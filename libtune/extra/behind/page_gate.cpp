// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/page_gate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/log.hpp"
#include "libtune/child/gate_of_parent.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/recorded_time.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

std::chrono::nanoseconds computed(::clockid_t by) noexcept {
  timespec time{};
  ::clock_gettime(by, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

/// A small fill whose time shows other work on the device.
class page_gate::sentinel {
 public:
  explicit sentinel(const context& of)
      : context_(of),
        bytes_(of.device().kind() == device_kind::cpu ? std::size_t{1} << 20
                                                      : std::size_t{32} << 20),
        queue_(of.create_tuning_command_queue()),
        buffer_(of.create_buffer(bytes_)) {}

  double measure() {
    queue_.start_recording();
    queue_.zero(buffer_, bytes_);
    const auto times = queue_.stop_recording();
    return times.empty() ? 0 : static_cast<double>(times.back().count());
  }
  bool is_of(const context& other) const { return context_ == other; }

 private:
  context context_;
  std::size_t bytes_;
  tuning_command_queue queue_;
  buffer buffer_;
};

page_gate::page_gate(gate_page& page, std::function<bool()> stop)
    : page_(page), stop_(std::move(stop)) {}

page_gate::~page_gate() = default;

double page_gate::share() const noexcept {
  return std::clamp(1e-6 * page_.share_ppm.load(), 1e-6, 1.0);
}

double page_gate::slowdown() const noexcept {
  return std::max(1.0, 1e-2 * page_.slowdown_percent.load());
}

double page_gate::rate() const noexcept { return share() / slowdown(); }

double page_gate::stretch() const noexcept { return 1 / share(); }

std::chrono::nanoseconds page_gate::slice() const noexcept {
  return std::chrono::nanoseconds(page_.slice_ns.load());
}

// A frame is delayed by the length of the work in between, so that is reduced at once, too.
std::chrono::nanoseconds page_gate::visit() const noexcept {
  constexpr double most = 4;
  const auto visit = static_cast<double>(page_.visit_ns.load());
  return std::chrono::nanoseconds(std::llround(visit / std::min(slowdown(), most)));
}

bool page_gate::is_cold() const noexcept { return page_.least_ns.load() > 0; }

bool page_gate::is_due() const noexcept {
  return step_ && page_.windows.load() == 0 && clock::now() - step_->begin >= slice();
}

bool page_gate::is_too_long(run_time one_run) const noexcept {
  return one_run.count() > static_cast<double>(page_.slice_ns.load());
}

bool page_gate::has_windows() const noexcept { return page_.windows_seen.load() > 0; }

void page_gate::note_deferred() noexcept { page_.deferred.fetch_add(1); }

std::chrono::nanoseconds page_gate::until_next(bool needs_window) const noexcept {
  if (page_.windows.load() > 0) return std::chrono::nanoseconds(0);
  if (needs_window) return std::chrono::seconds(1);
  const auto next = cycle_.next(rate());
  const std::chrono::nanoseconds pause = next - clock::now();
  return pause.count() > 0 ? pause : until_quiet(std::max(next, entered_));
}

// The application must avoid a system call at the end of each frame, so this side polls often.
std::chrono::nanoseconds page_gate::until_quiet(clock::time_point due) const noexcept {
  constexpr std::chrono::microseconds between_looks{50};
  constexpr std::chrono::milliseconds most_wait{50};
  const auto now = clock::now();
  const bool is_possible = page_.quiet.usual() >= visit() && now - due < most_wait;
  const bool waits = is_possible && page_.quiet.left(now.time_since_epoch()) < visit();
  return waits ? between_looks : std::chrono::nanoseconds(0);
}

bool page_gate::may_pass(bool needs_window) const noexcept {
  return page_.holds.load() == 0 && until_next(needs_window).count() <= 0;
}

void page_gate::enter(bool needs_window, const std::function<std::shared_ptr<void>()>& waits) {
  constexpr std::chrono::nanoseconds between_looks = std::chrono::milliseconds(10);
  leave(step_kind::generate);
  const auto begin = clock::now();
  entered_ = begin;
  std::chrono::nanoseconds held{0};
  std::shared_ptr<void> waiting;
  while (true) {
    const std::uint32_t seen = page_.version.load();
    if (stop_ && stop_()) {
      throw tuning_stopped_error(
          "the tuning behind the application was ended before it had a "
          "result; a later one continues it");
    }
    if (may_pass(needs_window)) {
      page_.inside.store(1);
      // The thread that holds the page checks afterwards if a step is under way.
      if (page_.holds.load() == 0) break;
      page_.inside.store(0);
    }
    if (!waiting) waiting = waits();
    const bool is_held = page_.holds.load() > 0;
    std::chrono::nanoseconds longest = until_next(needs_window);
    if (is_held) longest = std::chrono::seconds(1);
    if (stop_) longest = std::min(longest, between_looks);
    const auto look = clock::now();
    wait_for_change(page_, seen, longest);
    if (is_held || needs_window) held += clock::now() - look;
  }
  note_wait(clock::now() - begin, held);
  if (waiting) {
    // Released resources are taken again before the step; that may wait for others.
    page_.inside.store(0);
    waiting.reset();
    page_.inside.store(1);
    if (page_.holds.load() > 0) {
      page_.inside.store(0);
      return enter(needs_window, waits);
    }
  }
  step_ = passage::now();
}

void page_gate::note_wait(std::chrono::nanoseconds waited, std::chrono::nanoseconds held) noexcept {
  const auto paused = std::max(std::chrono::nanoseconds(0), waited - held);
  const auto planned =
      std::chrono::nanoseconds(std::llround(static_cast<double>(paused.count()) / slowdown()));
  page_.spend(behind_part::held, held);
  page_.spend(behind_part::pausing, planned);
  page_.spend(behind_part::slowing, paused - planned);
}

page_gate::passage page_gate::passage::now() noexcept {
  return {.begin = clock::now(),
          .by_thread = computed(CLOCK_THREAD_CPUTIME_ID),
          .by_process = computed(CLOCK_PROCESS_CPUTIME_ID),
          .recorded = recorded_time()};
}

// Recorded times are times of the device. For other steps the GPU's working time is unknown; the
// host's own computing is excluded, although some drivers wait by computing. A CPU is used by the
// threads of its driver, which may wait for others. In the tuner's own process, without other
// threads, the device time is the computing time of all other threads.
std::chrono::nanoseconds page_gate::use_of(step_kind kind, const passage& begin,
                                           const passage& end) const noexcept {
  using std::chrono::nanoseconds;
  constexpr nanoseconds none{0};
  const nanoseconds elapsed = end.begin - begin.begin;
  const nanoseconds recorded = std::min(elapsed, end.recorded - begin.recorded);
  const bool is_timed = kind == step_kind::samples;
  if (is_timed && recorded == none) return elapsed;  // the measure times itself
  const nanoseconds by_thread = end.by_thread - begin.by_thread;
  const nanoseconds least(page_.least_ns.load());
  if (least == none && !stop_) {
    const nanoseconds beside = end.by_process - begin.by_process - by_thread;
    const nanoseconds use = beside / std::max(1U, std::thread::hardware_concurrency());
    return std::clamp(use, none, is_timed ? recorded : elapsed);
  }
  if (is_timed) return recorded;
  // No driver has been observed to work longer, but a kernel of the check may be compiled
  // meanwhile.
  const nanoseconds waited = std::clamp(elapsed - by_thread, none, std::min(elapsed, 4 * slice()));
  if (least == none) return std::max(recorded, std::clamp(elapsed - by_thread, none, elapsed));
  if (kind == step_kind::generate) return std::max(recorded, std::min(elapsed, least));
  return std::max({recorded, waited, std::min(elapsed, least)});
}

void page_gate::leave(step_kind kind) noexcept {
  const auto step = std::exchange(step_, std::nullopt);
  if (!step) return;
  const passage end = passage::now();
  const std::chrono::nanoseconds elapsed = end.begin - step->begin;
  const std::chrono::nanoseconds used = use_of(kind, *step, end);
  const bool is_free = page_.windows.load() > 0;
  cycle_.used(is_free ? std::chrono::nanoseconds(0) : used, end.begin, rate());
  const auto ns = static_cast<std::uint64_t>(used.count());
  page_.used_ns.fetch_add(ns);
  page_.longest_ns.store(std::max(page_.longest_ns.load(), ns));
  page_.slices.fetch_add(1);
  behind_part part = behind_part::checking;
  if (kind == step_kind::generate) part = behind_part::preparing;
  if (kind == step_kind::samples) part = behind_part::measuring;
  if (step->is_repeated) part = behind_part::repeating;
  page_.spend(part, elapsed);
  page_.inside.store(0);
}

void page_gate::measure_on(const context& searched) {
  if (sentinel_ && sentinel_->is_of(searched)) return;
  sentinel_.reset();
  enter(false, [] { return std::make_shared<int>(0); });
  try {
    sentinel_ = std::make_unique<sentinel>(searched);
    static_cast<void>(sentinel_->measure());
  } catch (const std::exception& failure) {
    sentinel_.reset();
    log(log_level::debug,
        std::string("no sentinel for measurements beside the application: ") + failure.what());
  }
  leave(step_kind::samples);
}

bool page_gate::are_samples_good() {
  if (!sentinel_) return true;
  const bool good = judge_.is_good(sentinel_->measure());
  if (!good) page_.repeated.fetch_add(1);
  if (step_) step_->is_repeated = !good;
  return good;
}

namespace {

gate_page* map_page(const char* path) noexcept {
  const file_descriptor file(::open(path, O_RDWR | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return nullptr;
  if (found.st_size < static_cast<::off_t>(sizeof(gate_page))) return nullptr;
  void* memory =
      ::mmap(nullptr, sizeof(gate_page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<gate_page*>(memory);
}

}  // namespace

step_gate* find_gate_of_parent() {
  static const char* const path = ::secure_getenv(gate_variable_name);
  if (path == nullptr) return nullptr;
  static step_gate* const gate = []() -> step_gate* {
    constexpr int lowest = 19;
    ::setpriority(PRIO_PROCESS, 0, lowest);
    ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns, because quiet moments are short
    gate_page* const page = map_page(path);
    if (page == nullptr) return nullptr;
    page->inside.store(0);  // the previous child may have left a step open
    return new page_gate(*page);
  }();
  if (gate == nullptr) {
    throw error("the memory with the pace of the application cannot be used");
  }
  return gate;
}

}  // namespace tune::detail
