// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/background_tuner.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/end_of_program.hpp"
#include "libtune/base/environment.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/extra/behind/application_pace.hpp"
#include "libtune/extra/behind/behind_progress.hpp"
#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/page_gate.hpp"
#include "libtune/extra/behind/tuned_behind.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/behind/usage_queue.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

using clock = std::chrono::steady_clock;

interval_summary summary_of(const interval_tally::snapshot& all) {
  return {.count = all.total(), .longest = all.longest, .p999 = all.quantile(0.999)};
}

// With a small share of the device fewer programs are needed at a time; helpers have the lowest
// priority.
unsigned helper_count() {
  constexpr unsigned most = 4;
  return std::clamp(std::thread::hardware_concurrency() / 4, 1U, most);
}

// True for a key with a result that is searched once more.
bool is_again(const behind_request& of) noexcept { return of.options.mode == tuning_mode::force; }

}  // namespace

struct background_tuner::state {
  std::mutex mutex;
  std::condition_variable changed;
  usage_queue queue;
  std::map<std::string, behind_request> wanted;  // requests in the queue
  std::set<std::string> given_up;
  std::string current;         // name of the current request
  bool current_again = false;  // a stored result does not end it
  std::string current_text;    // the text for messages
  clock::time_point current_since{};
  std::chrono::nanoseconds elapsed{0};  // the time of earlier keys
  std::size_t tuned = 0;
  std::size_t failed = 0;
  std::string failure;  // the last
  std::optional<std::thread> thread;
  clock::time_point not_before{};  // earliest start of another child

  std::atomic<bool> ending{false};
  std::atomic<bool> yields{false};  // the search must end now, and continue later

  std::atomic<bool> has_idle_child{false};
  std::optional<tune::device> reclaims_on;
  std::optional<memory_reclaimer> reclaimer;  // of the child between two searches

  // For the thread:
  kept_child child;
  application_pace pace{own_gate_page()};

  bool ask(behind_request&& wanted_now);
  void put(behind_request&& one);
  void start();
  void end() noexcept;
  void serve() noexcept;
  void run();
  void wait_for_beats() const;
  void tune(behind_request one);
  void tune_once(const behind_request& one);
  void put_back(behind_request&& one);
  void close() noexcept;
  void give_up(const behind_request& one, const char* why);
  bool has_to_stop();
  void offer_memory_of(const device& used);
  behind_summary report();
  behind_times spent() const;
};

background_tuner::background_tuner() : state_(*new state) {}

background_tuner& background_tuner::shared() {
  static never_destroyed<background_tuner> tuner;
  return *tuner;
}

bool background_tuner::ask(behind_request wanted) noexcept {
  try {
    return state_.ask(std::move(wanted));
  } catch (const std::exception& failure) {
    warn_once(std::string("nothing is tuned behind this program: ") + failure.what());
    return false;
  }
}

behind_summary background_tuner::report() { return state_.report(); }

bool background_tuner::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(state_.mutex);
  return state_.changed.wait_for(
      lock, longest, [&] { return state_.queue.size() == 0 && state_.current.empty(); });
}

void background_tuner::give_memory_back(std::chrono::milliseconds pause) noexcept {
  if (is_forked()) return;
  const std::lock_guard lock(state_.mutex);
  state_.not_before = std::max(state_.not_before, clock::now() + pause);
  state_.yields = true;
  state_.changed.notify_all();
}

bool background_tuner::state::ask(behind_request&& wanted_now) {
  const std::lock_guard lock(mutex);
  if (ending || given_up.contains(wanted_now.name)) return false;
  // The current search may end with a stored result.
  const bool is_under_way = wanted_now.name == current && (current_again || !is_again(wanted_now));
  if (is_under_way) return true;
  put(std::move(wanted_now));
  if (!thread) start();
  changed.notify_all();
  return true;
}

// Called under the lock. A key is queued once: for a new search if any request asks for one, with a
// live function.
void background_tuner::state::put(behind_request&& one) {
  queue.ask(one.name, one.gain);
  const auto known = wanted.find(one.name);
  if (known == wanted.end()) {
    std::string name = one.name;
    wanted.emplace(std::move(name), std::move(one));
    return;
  }
  behind_request& waiting = known->second;
  const bool again = is_again(waiting) || is_again(one);
  if (waiting.function.expired()) waiting = std::move(one);
  if (again) waiting.options.mode = tuning_mode::force;
}

// The tuner must end before the objects that it uses.
void background_tuner::state::start() {
  call_at_end([] { background_tuner::shared().state_.end(); });
  thread.emplace([this] { serve(); });
}

// A forked process has no such thread, and its locks may be held for ever.
void background_tuner::state::end() noexcept {
  if (is_forked()) return;
  ending = true;
  gate_page& page = own_gate_page();
  page.holds.fetch_add(1);
  wake(page);
  std::optional<std::thread> last;
  {
    const std::lock_guard lock(mutex);
    changed.notify_all();
    last.swap(thread);
  }
  if (!last) return;
  if (last->get_id() == std::this_thread::get_id()) {
    last->detach();  // a configuration in this process has ended the process
  } else {
    last->join();
  }
}

// No exception leaves the thread, even if the driver or memory fails at the end of the process.
void background_tuner::state::serve() noexcept {
  const unsealed_section own;
  try {
    run();
  } catch (const std::exception& failure) {
    log(log_level::error,
        std::string("the tuner behind this program has ended: ") + failure.what());
  } catch (...) {
    log(log_level::error, "the tuner behind this program has ended");
  }
  close();
}

void background_tuner::state::run() {
  wait_for_beats();
  std::unique_lock lock(mutex);
  while (!ending) {
    if (yields.exchange(false)) {
      lock.unlock();
      child.end();
      lock.lock();
      has_idle_child = false;
      changed.notify_all();
    }
    const auto now = clock::now();
    if (now < not_before) {
      changed.wait_until(lock, not_before);
      continue;
    }
    const auto name = queue.next();
    if (!name) {
      changed.wait(lock);
      continue;
    }
    behind_request one = std::move(wanted.extract(*name).mapped());
    current = *name;
    current_again = is_again(one);
    current_text = one.text;
    current_since = clock::now();
    lock.unlock();
    has_idle_child = false;
    tune(std::move(one));
    has_idle_child = child.id() > 0;
    lock.lock();
    elapsed += clock::now() - current_since;
    current.clear();
    current_text.clear();
    changed.notify_all();
  }
}

void background_tuner::state::close() noexcept {
  {
    const std::lock_guard lock(mutex);
    ending = true;
    queue = {};
    wanted.clear();
    current.clear();
    current_text.clear();
    has_idle_child = false;
    changed.notify_all();
  }
  reclaimer.reset();
  child.end();
}

// Earlier intervals are needed for the comparison.
void background_tuner::state::wait_for_beats() const {
  constexpr std::chrono::seconds longest{2};
  for (const auto until = clock::now() + longest; clock::now() < until && !ending;) {
    if (heartbeat_list::are_known()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void background_tuner::state::tune(behind_request one) {
  try {
    pace.set(one.options.behind, one.context.device().kind() == device_kind::cpu);
    offer_memory_of(one.context.device());
    tune_once(one);
  } catch (const tuning_stopped_error&) {
    put_back(std::move(one));
  } catch (const std::exception& failure) {
    give_up(one, failure.what());
  } catch (...) {
    give_up(one, "something that is not a std::exception was thrown");
  }
  own_gate_page().inside.store(0);
}

void background_tuner::state::put_back(behind_request&& one) {
  const std::lock_guard lock(mutex);
  if (!ending) put(std::move(one));
}

void background_tuner::state::give_up(const behind_request& one, const char* why) {
  const std::string text =
      fmt::format("{} is no longer tuned behind this program: {}", current_text, why);
  log(log_level::warning, text);
  const std::lock_guard lock(mutex);
  given_up.insert(one.name);
  ++failed;
  failure = text;
}

void background_tuner::state::tune_once(const behind_request& one) {
  const auto function = one.function.lock();
  if (!function) return;
  const behind_progress progress(report());
  page_gate here(own_gate_page(), [this] { return has_to_stop(); });
  background_task work{.gate = &here, .stop = [this] { return has_to_stop(); }, .child = &child};
  if (const std::string variable = gate_variable(); !variable.empty()) {
    work.variables.push_back(variable);
    if (!read_environment("LIBTUNE_WORKERS")) {
      work.variables.push_back(fmt::format("LIBTUNE_WORKERS={}", helper_count()));
    }
  }
  const bool is_stored = detail::tune_behind(*function, one.context, one.key, one.options, work);
  log(log_level::info,
      current_text + " has been tuned behind this program in " + progress.text(report()));
  const std::lock_guard lock(mutex);
  ++tuned;
  if (!is_stored) {
    failure = fmt::format(
        "{} has been tuned for this process alone: its result cannot be stored (see the log)",
        one.text);
  }
}

bool background_tuner::state::has_to_stop() {
  pace.look();
  return ending || yields;
}

// The search itself offers its memory; the child between two searches has a context.
void background_tuner::state::offer_memory_of(const device& used) {
  if (reclaims_on == used) return;
  reclaimer.reset();
  reclaims_on = used;
  const auto holds = [this] {
    return has_idle_child ? std::numeric_limits<std::size_t>::max() : std::size_t{0};
  };
  const auto give_back = [this](std::size_t) -> std::shared_ptr<const void> {
    constexpr std::chrono::seconds longest{2};
    background_tuner::shared().give_memory_back(std::chrono::seconds(1));
    std::unique_lock lock(mutex);
    changed.wait_for(lock, longest, [this] { return !has_idle_child; });
    return nullptr;
  };
  reclaimer.emplace(used, holds, give_back);
}

// Called under the lock.
behind_times background_tuner::state::spent() const {
  const gate_page& page = own_gate_page();
  behind_times made{.preparing = page.spent(behind_part::preparing),
                    .checking = page.spent(behind_part::checking),
                    .measuring = page.spent(behind_part::measuring),
                    .repeating = page.spent(behind_part::repeating),
                    .pausing = page.spent(behind_part::pausing),
                    .slowing = page.spent(behind_part::slowing),
                    .held = page.spent(behind_part::held)};
  const auto whole = current.empty() ? elapsed : elapsed + (clock::now() - current_since);
  made.other = std::max(std::chrono::nanoseconds(0), whole - total_of(made));
  return made;
}

behind_summary background_tuner::state::report() {
  const gate_page& page = own_gate_page();
  const heartbeat_intervals beats = heartbeat_list::read();
  const std::lock_guard lock(mutex);
  return {.waiting = queue.size(),
          .current = current_text,
          .tuned = tuned,
          .failed = failed,
          .failure = failure,
          .used = std::chrono::nanoseconds(page.used_ns.load()),
          .slices = page.slices.load(),
          .longest_slice = std::chrono::nanoseconds(page.longest_ns.load()),
          .repeated = page.repeated.load(),
          .deferred = page.deferred.load(),
          .slowdown = 1e-2 * page.slowdown_percent.load(),
          .spent = spent(),
          .alone = summary_of(beats.alone),
          .beside = summary_of(beats.beside)};
}

}  // namespace tune::detail
