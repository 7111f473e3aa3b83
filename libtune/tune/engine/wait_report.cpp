// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/wait_report.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/store/files/lock_holder.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

constexpr std::chrono::milliseconds until_told{500};
constexpr std::chrono::minutes longest_interval{1};
// A process that computes, or drives a device, has used processor time within this interval.
constexpr std::chrono::seconds suspicious_rest{10};

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string_view what_it_does(wait_cause cause) {
  switch (cause) {
    case wait_cause::search: return "tunes the same";
    case wait_cause::device: return "measures on the device";
    case wait_cause::database: break;
  }
  return "locks the database";
}

std::string who(const waiting_event& event) {
  if (!event.holder) return "another process";
  if (event.holder->process == ::getpid()) return "another thread";
  std::string text = describe(*event.holder);
  if (event.holder->stopped) return text + ",";
  if (event.idle < suspicious_rest) return text;
  return text +
         fmt::format(", which has used no processor time for {:.0f} s,", seconds(event.idle));
}

}  // namespace

std::string describe(const waiting_event& event) {
  return fmt::format("{} {}", who(event), what_it_does(event.cause));
}

wait_report::wait_report(wait_cause cause, const tuning_subject& subject,
                         std::span<const std::shared_ptr<observer>> observers,
                         std::chrono::milliseconds limit)
    : subject_(subject), observers_(observers), next_(until_told) {
  event_.cause = cause;
  event_.limit = limit;
}

wait_report::~wait_report() { end(); }

void wait_report::look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder) {
  detail::require_not_stopped();
  if (!begun_) {
    begun_ = true;
    if (const auto* listener = detail::current_listener()) {
      (*listener)(wait_begin{event_.limit});
    }
  }
  if (waited < next_) return;
  next_ = waited + std::min<std::chrono::nanoseconds>(waited, longest_interval);
  event_.waited = waited;
  note_holder(waited, holder);
  tell();
}

void wait_report::look_for(wait_cause cause, std::chrono::nanoseconds waited,
                           std::optional<::pid_t> holder) {
  if (event_.cause != cause) {
    end();
    event_.cause = cause;
  }
  look(waited, holder);
}

void wait_report::note_holder(std::chrono::nanoseconds waited, std::optional<::pid_t> holder) {
  std::optional<lock_holder> now;
  if (holder) now = look_at_holder(*holder);
  const bool rests = now && event_.holder && now->process == event_.holder->process &&
                     now->used_ticks == event_.holder->used_ticks;
  if (!rests) busy_until_ = waited;
  event_.idle = waited - busy_until_;
  event_.holder = std::move(now);
}

void wait_report::tell() {
  told_ = true;
  const bool is_odd = event_.holder && (event_.holder->stopped || event_.idle >= suspicious_rest);
  log(is_odd ? log_level::warning : log_level::info,
      fmt::format("{}: {}; waiting for {:.1f} s, for {:.0f} s at most (LIBTUNE_WAIT)",
                  describe(subject_), describe(event_), seconds(event_.waited),
                  seconds(event_.limit)));
  hand_on();
}

// In a child, the listener passes the event to the parent, which calls the observers.
void wait_report::hand_on() {
  event_.subject = subject_;
  if (const auto* listener = detail::current_listener()) return (*listener)(event_);
  auto all = detail::current_observers();
  for (const auto& one : observers_) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
  detail::notify(all, event_);
}

void wait_report::end() {
  const auto* const listener = detail::current_listener();
  if (begun_ && listener != nullptr) (*listener)(wait_end{});
  if (told_) {
    event_.over = true;
    hand_on();
  }
  begun_ = told_ = event_.over = false;
  next_ = until_told;
  busy_until_ = {};
  event_.holder.reset();
}

key_wait::key_wait(const std::string& name, const tuning_subject& subject,
                   const tuning_options& options, std::chrono::milliseconds limit)
    : name_(name), report_(wait_cause::search, subject, options.observers, limit) {}

void key_wait::look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder,
                    const std::string& folder) {
  report_.look_for(wait_cause::search, waited, holder);
  if (!mark_) {
    std::vector<std::uint64_t> had;
    for (const std::string& scope : detail::scopes()) had.push_back(key_lock::hash(scope));
    if (had.empty()) return;
    mark_.emplace(folder, std::move(had), key_lock::hash(name_));
  }
  if (mark_->has_to_give_way()) throw deadlock_found{};
}

void key_wait::look_for_database(std::chrono::nanoseconds waited, const std::string& path) {
  report_.look_for(wait_cause::database, waited, find_lock_holder(path));
}

}  // namespace tune
