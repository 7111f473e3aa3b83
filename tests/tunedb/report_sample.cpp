// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// report_sample FILE TRIALS [SEARCHES]: makes a database for the tests of tunedb report, by the
// interface through which a search stores its trials: searches of two devices with so many trials
// each, with parameters, metrics, failures and texts that a page must not take for HTML. Equal
// arguments make equal trials.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"

namespace {

using tune::value_type;

const std::vector<std::int64_t> sizes{8, 16, 32, 64, 128, 256, 512, 1024};

/// A plain generator, so that all standard libraries make the same numbers.
class noise {
 public:
  explicit noise(std::uint64_t seed) : state_(seed * 2654435761U + 88172645463325252U) {}

  /// From 0 to 1.
  double operator()() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }
  std::size_t below(std::size_t end) {
    return std::min(end - 1, static_cast<std::size_t>((*this)() * static_cast<double>(end)));
  }

 private:
  std::uint64_t state_;
};

tune::function_identity sample_function() {
  return {.name = "sample.convolution.autotune",
          .version = 2,
          .key_fields = {{"rows", value_type::int32}, {"label", value_type::string}},
          .value_fields = {{"block_size_x", value_type::int32},
                           {"block_size_y", value_type::int32},
                           {"tile_size", value_type::int32},
                           {"unroll", value_type::int32},
                           {"vector", value_type::boolean},
                           {"layout", value_type::string}}};
}

tune::device_identity sample_device(int number) {
  return number % 2 == 0 ? tune::device_identity{"Sample GPU One", "Sample Platform", "535.104"}
                         : tune::device_identity{"<img src=x onerror=alert(1)>", "OpenCL", "12.8"};
}

struct model {
  double time_ns;
  std::string outcome;
  std::string message;
};

model judge(std::int64_t x, std::int64_t y, std::int64_t tile, std::int64_t unroll, bool vector,
            noise& random) {
  if (x * y > 1024) return {0, "over a device limit", "more than 1024 work items in a group"};
  if (unroll == 16 && random() < 0.5) {
    return {0, "compile failed",
            "kernel.cl:12: error: </script><script>alert(1)</script> & too many registers"};
  }
  if (random() < 0.004) return {0, "wrong result", "element 17 is 3.5 and should be 4"};
  const double occupancy = std::fabs(std::log2(static_cast<double>(x * y) / 192.0));
  const double shape = std::fabs(std::log2(static_cast<double>(x) / 64.0));
  const double rest = std::fabs(std::log2(static_cast<double>(tile) / 4.0)) + (vector ? 0.0 : 0.6);
  const double unrolled = 0.3 * std::fabs(std::log2(static_cast<double>(unroll) / 4.0));
  const double time = 41000 * std::exp2(0.35 * occupancy + 0.15 * shape + 0.3 * rest + unrolled);
  return {time * (1 + 0.08 * random()), "measured", {}};
}

tune::stored_trial make_trial(noise& random) {
  const std::int64_t x = sizes[random.below(8)];
  const std::int64_t y = sizes[random.below(6)] / 8;
  const std::int64_t tile = sizes[random.below(5)] / 8;
  const std::int64_t unroll = sizes[random.below(5)] / 8;
  const bool vector = random() < 0.5;
  const std::string layout = random() < 0.5 ? "rows" : "<b>columns</b>";
  const model found = judge(x, y, tile, unroll, vector, random);
  tune::stored_trial trial{.configuration = {{"block_size_x", x},
                                             {"block_size_y", y},
                                             {"tile_size", tile},
                                             {"unroll", unroll},
                                             {"vector", vector},
                                             {"layout", layout}},
                           .outcome = found.outcome,
                           .message = found.message};
  trial.preparation = std::chrono::nanoseconds(static_cast<std::int64_t>(4e7 + 1e8 * random()));
  if (found.time_ns == 0) return trial;
  const int count = found.time_ns < 60000 ? 60 : 6;
  for (int i = 0; i < count; ++i) {
    const double slow = random();
    trial.samples_ns.push_back(
        std::round(found.time_ns * (0.99 + 0.02 * random() + (slow > 0.97 ? 0.1 : 0))));
  }
  std::vector<double> sorted = trial.samples_ns;
  std::sort(sorted.begin(), sorted.end());
  trial.score_ns = sorted[sorted.size() / 2];
  trial.score_lower_ns = sorted[sorted.size() / 3];
  trial.score_upper_ns = sorted[sorted.size() - 1 - sorted.size() / 3];
  const double flops = 2.1e8;
  const double bytes = tile > 4 ? 4.0e7 : 5.2e7;
  trial.metrics = {{"flops", flops, "FLOP"},
                   {"bytes", bytes, "B"},
                   {"gflops", flops / *trial.score_ns, "GFLOP/s"},
                   {"gbs", bytes / *trial.score_ns, "GB/s"},
                   {"registers", 16.0 + 4.0 * static_cast<double>(unroll), ""}};
  return trial;
}

/// As a search that begins now would have stored them: so many in each second.
std::string date_after(std::size_t seconds) {
  const std::time_t now = std::time(nullptr) + static_cast<std::time_t>(seconds);
  std::tm date{};
  ::gmtime_r(&now, &date);
  char text[32];
  text[std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date)] = 0;
  return text;
}

void make_search(tune::tuning_database& database, int number, std::size_t trials) {
  const tune::record_key key{.arguments = {{"rows", std::int64_t{64} << (number / 2)},
                                           {"label", std::string("</script><i>name</i>")}},
                             .device = sample_device(number)};
  const tune::search_id search =
      database.begin_search(sample_function(), key, {.library_version = "0.1.0"}, "model");
  noise random(static_cast<std::uint64_t>(number) + 1);
  std::vector<tune::stored_trial> batch;
  for (std::size_t i = 0; i < trials; ++i) {
    batch.push_back(make_trial(random));
    batch.back().made_at = date_after(i / 30);
    if (batch.size() < 4096 && i + 1 < trials) continue;
    database.add_trials(search, batch);
    batch.clear();
  }
  database.finish_search(search, "found", {.strategy = "model", .ending = "time"});
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: report_sample FILE TRIALS [SEARCHES]\n");
    return 2;
  }
  try {
    tune::tuning_database database(arguments[1]);
    const int searches = count > 3 ? std::atoi(arguments[3]) : 1;
    for (int i = 0; i < searches; ++i)
      make_search(database, i, std::strtoull(arguments[2], nullptr, 10));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "report_sample: %s\n", failure.what());
    return 1;
  }
  return 0;
}
