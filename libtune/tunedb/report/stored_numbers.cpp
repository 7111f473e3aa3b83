// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/stored_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace tune::cli {

std::optional<double> seconds_of(const std::string& utc) {
  std::tm date{};
  char end = 0;
  if (utc.size() != 20 ||
      std::sscanf(utc.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &date.tm_year, &date.tm_mon,
                  &date.tm_mday, &date.tm_hour, &date.tm_min, &date.tm_sec, &end) != 7 ||
      end != 'Z') {
    return std::nullopt;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  return static_cast<double>(::timegm(&date));
}

number_sum sum_of_numbers(const std::string& array) {
  number_sum result;
  const char* at = array.data();
  const char* const end = at + array.size();
  while (at < end) {
    double number = 0;
    const auto [stop, failure] = std::from_chars(at, end, number);
    if (failure != std::errc{}) {
      ++at;
      continue;
    }
    ++result.count;
    result.sum += number;
    at = stop;
  }
  return result;
}

std::vector<std::optional<double>> spread_seconds(std::vector<std::optional<double>> stored) {
  // A trial that was refined later was stored again then, although it was made before later ones.
  std::optional<double> least;
  for (std::size_t i = stored.size(); i-- > 0;) {
    if (!stored[i]) continue;
    if (least && *least < *stored[i]) stored[i] = least;
    least = stored[i];
  }
  double before = 0;
  for (auto first = stored.begin(); first != stored.end();) {
    const std::optional<double> second = *first;
    const auto last = std::find_if(
        first, stored.end(), [&](const std::optional<double>& other) { return other != second; });
    if (second) {
      before = std::max(before, *second);
      const double until = *second + 1;
      const double step = (until - before) / static_cast<double>(last - first);
      std::generate(first, last, [&, place = 0]() mutable { return before + step * ++place; });
      before = until;
    }
    first = last;
  }
  return stored;
}

}  // namespace tune::cli
