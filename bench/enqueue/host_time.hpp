// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

/// Returns the median, the greater of the middle two; 0 without values.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the mean time of one of several calls, in nanoseconds on the host's clock.
template <class Call>
double nanoseconds_each(int count, Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) call();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / count;
}

/// Calls two functions, in alternating order, and returns both results.
class alternation {
 public:
  template <class One, class Other>
  auto operator()(One&& one, Other&& other) {
    std::pair<decltype(one()), decltype(other())> made;
    if (one_first_) made.first = one();
    made.second = other();
    if (!one_first_) made.first = one();
    one_first_ = !one_first_;
    return made;
  }

 private:
  bool one_first_ = false;
};

}  // namespace bench
