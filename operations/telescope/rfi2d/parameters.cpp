// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "libtune/base/error.hpp"

namespace tune::operations {
namespace {

/// The standard deviation of normal noise whose median absolute value is 1.
constexpr double deviation_of_median = 1.4826;
/// Wider than any band; the weights of wider Gaussians would take too long to compute.
constexpr double largest_sigma = 1e6;
/// More rounds than any observation needs; each needs memory and launches of its own.
constexpr std::size_t most_iterations = 1000;

void check(bool right, const char* name, const char* wanted) {
  if (right) return;
  throw argument_error(fmt::format("rfi2d_parameters: {} has to be {}", name, wanted));
}

void check_windows(const std::vector<std::size_t>& windows, const char* name) {
  check(std::ranges::find(windows, std::size_t{0}) == windows.end(), name,
        "a list of lengths of at least 1");
}

void check(const rfi2d_parameters& given) {
  check(given.background_iterations <= most_iterations, "background_iterations", "at most 1000");
  // The first of several rounds has a background wider by their number.
  const double widest = std::max(static_cast<double>(given.background_iterations), 1.0);
  const auto is_width = [&](double sigma) { return sigma >= 0 && sigma * widest <= largest_sigma; };
  const char* const width_range = "from 0 to 1e6, also times background_iterations";
  check(std::isfinite(given.outlier_nsigma), "outlier_nsigma", "finite");
  check(std::isfinite(given.background_reject), "background_reject", "finite");
  check(is_width(given.spike_width_time), "spike_width_time", width_range);
  check(is_width(given.spike_width_freq), "spike_width_freq", width_range);
  check(given.time_extend > 0, "time_extend", "at least 1");
  check(given.freq_extend > 0, "freq_extend", "at least 1");
  check(given.freq_chunks > 0, "freq_chunks", "at least 1");
  check(given.average_freq > 0, "average_freq", "at least 1");
  check(!std::isnan(given.flag_all_time_frac), "flag_all_time_frac", "a number");
  check(!std::isnan(given.flag_all_freq_frac), "flag_all_freq_frac", "a number");
  check(given.rho > 0 && std::isfinite(given.rho), "rho", "above 0 and finite");
  check_windows(given.windows_time, "windows_time");
  check_windows(given.windows_freq, "windows_freq");
}

/// Divides and rounds up without overflow.
std::size_t parts_of(std::size_t length, std::size_t each) {
  return length / each + (length % each != 0 ? 1 : 0);
}

std::vector<rfi2d_plan::window> windows_of(const rfi2d_parameters& given,
                                           std::vector<std::size_t> lengths, std::size_t average,
                                           std::size_t longest) {
  for (std::size_t& length : lengths) length = parts_of(length, average);
  std::ranges::sort(lengths);
  std::vector<rfi2d_plan::window> windows;
  for (const std::size_t length : lengths) {
    if (length > longest || (!windows.empty() && windows.back().length == length)) continue;
    const auto n = static_cast<double>(length);
    const double clamp =
        given.outlier_nsigma * deviation_of_median / std::pow(given.rho, std::log2(n));
    windows.push_back({length, static_cast<float>(clamp * n), static_cast<float>(clamp)});
  }
  return windows;
}

std::vector<std::size_t> ends_of_chunks(std::size_t channels, std::size_t chunks) {
  std::vector<std::size_t> ends;
  // If there are more chunks than channels, each chunk has one channel.
  chunks = std::min(chunks, std::max<std::size_t>(channels, 1));
  const double step = static_cast<double>(channels) / static_cast<double>(chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    ends.push_back(static_cast<std::size_t>(static_cast<double>(i) * step));
  }
  ends.push_back(channels);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace

rfi2d_plan::rfi2d_plan(const rfi2d_parameters& given, std::size_t its_times,
                       std::size_t its_channels)
    : parameters(given), times(its_times), channels(its_channels) {
  check(given);
  average = std::min(given.average_freq, std::max<std::size_t>(channels, 1));
  averaged = parts_of(channels, average);
  time_windows = windows_of(given, given.windows_time, 1, times);
  freq_windows = windows_of(given, given.windows_freq, given.average_freq, averaged);
  chunk_ends = ends_of_chunks(averaged, given.freq_chunks);
  reject = static_cast<float>(given.background_reject * deviation_of_median);
  for (std::size_t k = given.background_iterations + 1; k-- > 0;) {
    // k, ..., 1, and a final 1 for the background that is subtracted.
    const double scale = static_cast<double>(std::max<std::size_t>(k, 1));
    const double sigma_freq = given.spike_width_freq / static_cast<double>(given.average_freq);
    backgrounds.push_back({gaussian_taps(scale * given.spike_width_time, times),
                           gaussian_taps(scale * sigma_freq, averaged)});
  }
  time_extend = given.time_extend;
  freq_extend = given.freq_extend;
  most_flags_of_time = given.flag_all_freq_frac * static_cast<double>(channels);
  most_flags_of_channel = given.flag_all_time_frac * static_cast<double>(times);
}

}  // namespace tune::operations
