// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/tuning_behind.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/forked_process.hpp"
#include "libtune/extra/behind/background_tuner.hpp"
#include "libtune/extra/behind/gate_page.hpp"

namespace tune {
namespace {

// A forked process shares the page with its parent.
template <class Change>
void change_page(const Change& change) noexcept {
  if (detail::is_forked()) return;
  detail::gate_page& page = detail::own_gate_page();
  change(page);
  detail::wake(page);
}

}  // namespace

idle_window::idle_window() noexcept {
  change_page([](detail::gate_page& page) {
    page.windows_seen.fetch_add(1);
    page.windows.fetch_add(1);
  });
}

idle_window::~idle_window() {
  change_page([](detail::gate_page& page) { page.windows.fetch_sub(1); });
}

behind_pause::behind_pause() noexcept {
  change_page([](detail::gate_page& page) { page.holds.fetch_add(1); });
}

behind_pause::~behind_pause() {
  change_page([](detail::gate_page& page) { page.holds.fetch_sub(1); });
}

bool behind_pause::wait(std::chrono::milliseconds longest) const {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (detail::own_gate_page().inside.load() != 0) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

std::string to_string(const behind_times& times) {
  using part = std::pair<std::chrono::nanoseconds, const char*>;
  std::vector<part> parts{{times.preparing, "preparing"},
                          {times.checking, "checking"},
                          {times.measuring, "measuring"},
                          {times.repeating, "measuring again"},
                          {times.pausing, "pauses for the share"},
                          {times.slowing, "longer pauses for late frames"},
                          {times.held, "held"},
                          {times.other, "waiting for programs, and the host"}};
  std::ranges::stable_sort(parts, std::ranges::greater{}, &part::first);
  std::string text;
  for (const auto& [time, name] : parts) {
    if (time.count() == 0) continue;
    text += fmt::format("{}{} {:.2f} s", text.empty() ? "" : ", ", name,
                        1e-9 * static_cast<double>(time.count()));
  }
  return text.empty() ? "none" : text;
}

behind_summary behind_report() { return detail::background_tuner::shared().report(); }

bool wait_for_tuning_behind(std::chrono::milliseconds longest) {
  return detail::background_tuner::shared().wait(longest);
}

}  // namespace tune
