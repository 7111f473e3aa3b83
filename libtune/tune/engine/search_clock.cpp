// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_clock.hpp"

#include <algorithm>

namespace tune {
namespace {

constexpr std::chrono::milliseconds longest_wait{100};

}  // namespace

std::optional<std::chrono::nanoseconds> search_clock::left() const {
  if (!budget_.time) return std::nullopt;
  return std::max(std::chrono::nanoseconds(0), *budget_.time - elapsed());
}

std::optional<search_end> search_clock::why_end(std::size_t begun,
                                                std::optional<run_time> best) const {
  if (budget_.trials && begun >= *budget_.trials) return search_end::trials;
  if (!best) return std::nullopt;
  if (budget_.target && *best <= *budget_.target) return search_end::target;
  if (budget_.time && elapsed() >= *budget_.time / 10 * 9) return search_end::time;
  return std::nullopt;
}

bool search_clock::is_over(std::optional<run_time> best) const {
  return budget_.time && best && elapsed() >= *budget_.time;
}

search_clock::time_point search_clock::next_look() const {
  // The clock that is waited by is the real one, whatever clock measures.
  const auto patience = left() ? std::min<std::chrono::nanoseconds>(*left(), longest_wait)
                               : std::chrono::nanoseconds(longest_wait);
  return std::chrono::steady_clock::now() +
         std::max(patience, std::chrono::nanoseconds(std::chrono::milliseconds(1)));
}

}  // namespace tune
