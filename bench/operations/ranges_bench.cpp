// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what do portfolios for ranges of sizes lose against a tuning for each size?
//
// For each operation an ordinary search of the exact template and the construction of a portfolio
// are timed, without a database and with empty caches of compiled programs: their ratio is the
// cost. Then random sizes are drawn, uniformly on the logarithmic scale of the ranges. At each, all
// configurations of the space race: all run twice, then the nearly fastest ones repeatedly, until
// eight are left. These and the portfolio's choice are timed in turn, by markers on the device, to
// find the best. Then the best and the choice are timed again, in turn, until their ratio is
// certain within half a percent or --pairs rounds are made, because the least of many noisy times
// may be a lucky one. The best's time over the choice's time, each the mean of the middle half, is
// the size's figure: 1 is as good as tuning at that size. If the two are the same configuration it
// is 1 without a measurement.
//
// --check runs the portfolio's choices at many random sizes, on poisoned memory, and compares all
// their output with the test default's output, on the device. --asked makes the portfolio a second
// time, after a program has requested the first of the sizes. --matrix only records the times of
// all configurations, for studies of the choice.
//
// The time of a choice is measured on the host. Reported are the geometric mean and the least
// figure, and the share of sizes with a loss within the portfolio's bound for nine of ten
// (facts().worst_loss).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bench/operations/race_summary.hpp"
#include "bench/operations/ranges_check.hpp"
#include "bench/operations/ranges_contest.hpp"
#include "bench/operations/ranges_subjects.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/search/space/random_source.hpp"

namespace {

using bench::bench_device;
using bench::contest;
using bench::maker;
using bench::subject;
using clock = std::chrono::steady_clock;
using tune::size_list;

struct settings {
  std::size_t sizes = 200;
  std::size_t limit = 0;
  std::size_t largest = 0;
  std::size_t device = 0;
  std::uint64_t seed = 1;
  int rounds = 20;
  int pairs = 100;
  std::string matrix;
  std::size_t asked = 0;
  std::size_t spread = 0;
  double seconds = 45;
  bool each = false;
  std::size_t checks = 0;
  std::vector<std::string> only;
};

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

std::filesystem::path own_folder() {
  return std::filesystem::temp_directory_path() /
         fmt::format("libtune_ranges_bench_{}", ::getpid());
}

/// A folder for compiled programs, used from its construction and removed at the end.
class own_cache {
 public:
  own_cache() : path_(own_folder()) {
    std::filesystem::create_directories(path_);
    ::setenv("LIBTUNE_CACHE", path_.c_str(), 1);
  }
  ~own_cache() {
    ::setenv("LIBTUNE_CACHE", "off", 1);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  own_cache(const own_cache&) = delete;
  own_cache& operator=(const own_cache&) = delete;

 private:
  std::filesystem::path path_;
};

/// Compiles all configurations on as many threads as there are processors; empty for failures.
template <class Tuning>
std::vector<maker> compile_all(const subject<Tuning>& of, const std::vector<Tuning>& all) {
  std::vector<maker> made(all.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      try {
        made[i] = of.compile(all[i]);
      } catch (const tune::error&) {  // for example over a limit of the device
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& each : threads) each.join();
  return made;
}

/// A file of comma-separated values: the first line has the configurations, each other line a size
/// and their times in us, 0 for a failure.
class matrix_file {
 public:
  template <class Tuning>
  matrix_file(const std::string& path, const std::vector<Tuning>& all) : file_(path) {
    if (!file_) throw std::runtime_error("cannot write '" + path + "'");
    file_ << "size";
    for (const Tuning& each : all) {
      std::string text = tune::to_string(tune::to_values(each));
      std::ranges::replace(text, ',', ';');
      file_ << ',' << text;
    }
    file_ << '\n';
  }

  void add(const size_list& at, const std::vector<double>& times) {
    file_ << fmt::format("{}", fmt::join(at, "x"));
    for (const double time : times) file_ << fmt::format(",{:.5g}", time);
    file_ << '\n';
  }

 private:
  std::ofstream file_;
};

/// Sizes drawn uniformly on the scales of the ranges.
size_list random_sizes(const std::vector<tune::size_range>& ranges, tune::random_source& random) {
  size_list at;
  for (const tune::size_range& range : ranges) at.push_back(range.at(random.unit()));
  return at;
}

/// Records the times of all configurations: at sizes spread as in a portfolio's construction, at
/// the corners of the ranges, and at random ones; twice at each.
template <class Tuning>
void record(bench_device& on, const subject<Tuning>& of, const settings& given) {
  const std::vector<Tuning> all(of.space.begin(), of.space.end());
  const std::vector<maker> makers = compile_all(of, all);
  bench::device_timer timer(on);
  const auto scratch = std::make_shared<bench::scratch_allocator>(on.context);
  std::vector<size_list> sizes = tune::spread_sizes(of.ranges, given.spread);
  for (size_list& each : tune::corner_sizes(of.ranges)) sizes.push_back(std::move(each));
  tune::random_source random(given.seed);
  for (std::size_t i = 0; i < given.sizes; ++i) {
    sizes.push_back(random_sizes(of.ranges, random));
  }
  matrix_file matrix(given.matrix + "." + of.name + ".csv", all);
  const auto start = clock::now();
  std::size_t done = 0;
  for (const size_list& at : sizes) {
    if (seconds_since(start) > given.seconds) break;
    contest race(timer, scratch, makers, at, of.fill);
    for (int twice = 0; twice < 2; ++twice) matrix.add(at, race.times(all.size()));
    ++done;
  }
  fmt::print("{}: {} configurations at {} of {} sizes in {:.1f} s\n", of.name, all.size(), done,
             sizes.size(), seconds_since(start));
  std::fflush(stdout);
}

/// The time of a choice in ns, averaged over random sizes, after warm-up rounds with them.
template <class Tuning>
double time_of_choice(const tune::portfolio<Tuning>& portfolio, const subject<Tuning>& of,
                      std::size_t count, int rounds_before) {
  tune::random_source random(count);
  std::vector<size_list> sizes(count);
  for (size_list& at : sizes) at = random_sizes(of.ranges, random);
  std::size_t sum = 0;
  double seconds = 0;
  for (int round = 0; round <= rounds_before; ++round) {
    const auto start = clock::now();
    for (const size_list& at : sizes) sum += portfolio.choose(at);
    seconds = seconds_since(start);
  }
  if (sum == 0) std::fputs("the first tuning is chosen everywhere\n", stdout);
  return 1e9 * seconds / static_cast<double>(count);
}

/// Runs the portfolio's choices at random sizes, and compares the results.
template <class Tuning>
void check_sizes(bench_device& on, const subject<Tuning>& of,
                 const tune::portfolio<Tuning>& portfolio, const settings& given) {
  if (of.inputs.empty()) return;
  std::vector<Tuning> all = portfolio.tunings();
  if (of.trusted) all.push_back(*of.trusted);
  const std::vector<maker> makers = compile_all(of, all);
  bench::size_checker checker(on, of.result, of.absolute, of.relative, of.inputs,
                              [&](tune::operation& op) { of.fill(op, {}); });
  tune::random_source random(given.seed + 1);
  std::size_t refused = 0;
  std::string first;
  const auto start = clock::now();
  for (std::size_t i = 0; i < given.checks; ++i) {
    const size_list at = random_sizes(of.ranges, random);
    try {
      const auto chosen = makers[portfolio.choose(at)](at);
      const auto trusted = makers.back()(at);
      checker.check(*chosen, *trusted);
    } catch (const tune::error& failure) {
      if (refused++ == 0) first = fmt::format("{}: {}", fmt::join(at, " x "), failure.what());
    }
    if (i % 1024 == 0) on.queue.finish();
  }
  fmt::print("{}: {} random sizes in {:.0f} s: {} launches refused, {} elements wrong {}\n",
             of.name, given.checks, seconds_since(start), refused, checker.wrong(), first);
  std::fflush(stdout);
}

// The portfolio, once more after lookups of the given number of random sizes.
template <class Tuning>
tune::portfolio<Tuning> make_portfolio(const subject<Tuning>& of, const settings& given,
                                       double& making) {
  auto before = clock::now();
  tune::portfolio<Tuning> portfolio = of.portfolio();
  if (given.asked > 0) {
    tune::random_source random(given.seed);
    for (std::size_t i = 0; i < given.asked; ++i) {
      static_cast<void>(portfolio.choose(random_sizes(of.ranges, random)));
    }
    portfolio.note_sizes();
    before = clock::now();
    portfolio = of.portfolio();
  }
  making = seconds_since(before);
  return portfolio;
}

// The speed of the portfolio's choices in comparison to the best of all, at random sizes.
template <class Tuning>
std::vector<double> race(bench_device& on, const subject<Tuning>& of,
                         const tune::portfolio<Tuning>& portfolio, const std::vector<maker>& makers,
                         const std::vector<std::size_t>& places, const settings& given) {
  tune::random_source random(given.seed);
  const auto racing = clock::now();
  std::vector<double> ratios;
  bench::device_timer timer(on);
  const auto scratch = std::make_shared<bench::scratch_allocator>(on.context);
  for (std::size_t i = 0; i < given.sizes && seconds_since(racing) < given.seconds; ++i) {
    const size_list at = random_sizes(of.ranges, random);
    const std::size_t place = portfolio.choose(at);
    contest race(timer, scratch, makers, at, of.fill);
    ratios.push_back(race.ratio(places[place], given.rounds, given.pairs));
    if (!given.each) continue;
    fmt::print("  {:>18} {:.3f}  {}\n", fmt::format("{}", fmt::join(at, " x ")), ratios.back(),
               tune::to_string(tune::to_values(portfolio.tunings()[place])));
  }
  return ratios;
}

struct run_times {
  double search = 0;
  double making = 0;
  double compiling = 0;
  double racing = 0;
};

template <class Tuning>
void report(const subject<Tuning>& of, const tune::portfolio<Tuning>& portfolio,
            const std::vector<double>& ratios, std::size_t configurations,
            const run_times& seconds) {
  const bench::race_summary found(ratios, portfolio.facts().worst_loss);
  fmt::print(
      "{}: {} sizes, {} configurations: geometric mean {:.3f} (goal 0.98), least {:.3f} (goal "
      "0.92), one in ten below {:.3f}\n"
      "{}: stated: {:.1f} % slower on average, {:.1f} % at most at nine of ten; {:.2f} of the "
      "sizes lose no more (goal 0.9)\n"
      "{}: a search {:.1f} s, the portfolio {:.1f} s: {:.2f} searches (goal 4); compiling {:.1f} "
      "s, racing {:.1f} s\n",
      of.name, ratios.size(), configurations, found.mean, found.at_share(0), found.at_share(0.1),
      of.name, 100 * portfolio.facts().expected_loss, 100 * portfolio.facts().worst_loss,
      found.within_loss, of.name, seconds.search, seconds.making, seconds.making / seconds.search,
      seconds.compiling, seconds.racing);
  std::fflush(stdout);
}

template <class Tuning>
void run(bench_device& on, const subject<Tuning>& of, const settings& given) {
  ::setenv("LIBTUNE_CACHE", "off", 1);
  if (!given.matrix.empty()) return record(on, of, given);
  run_times seconds;
  const auto start = clock::now();
  of.search();
  seconds.search = seconds_since(start);
  const own_cache cache;
  const tune::portfolio<Tuning> portfolio = make_portfolio(of, given, seconds.making);
  fmt::print("{}: {} tunings in {} leaves, of {} compared at {} sizes, for {}\n", of.name,
             portfolio.tunings().size(), portfolio.facts().leaves, portfolio.facts().compared,
             portfolio.facts().sizes, [&] {
               std::string text;
               for (const auto& each : of.ranges) text += (text.empty() ? "" : " x ") + each.text();
               return text;
             }());
  std::fflush(stdout);
  if (given.checks > 0) check_sizes(on, of, portfolio, given);

  std::vector<Tuning> all = bench::compared_tunings(of.space, given.limit, given.seed);
  const std::vector<std::size_t> places = bench::places_of(portfolio.tunings(), all);
  const auto compile_start = clock::now();
  const std::vector<maker> makers = compile_all(of, all);
  seconds.compiling = seconds_since(compile_start);
  const auto racing = clock::now();
  const std::vector<double> ratios = race(on, of, portfolio, makers, places, given);
  const double again = time_of_choice(portfolio, of, 100, 50);
  fmt::print("{}: a choice takes {:.0f} ns for new sizes, {:.0f} ns for the last ones again\n",
             of.name, time_of_choice(portfolio, of, 100'000, 0), again);
  seconds.racing = seconds_since(racing);
  report(of, portfolio, ratios, all.size(), seconds);
}

void run_all(bench_device on, const settings& given) {
  tune::tuning_options options{
      .database = "", .mode = tune::tuning_mode::force, .given_by = tune::option_source::command};
  // The requests of a program are written beside the database.
  if (given.asked > 0) options.database = (own_folder() / "tuning.db").string();
  if (given.limit != 0) {
    options.strategy = "random";
    options.search.max_count = given.limit;
  }
  tune::set_tuning_options(on.context, options);
  const auto wanted = [&](const char* name) {
    return given.only.empty() || std::ranges::find(given.only, name) != given.only.end();
  };
  fmt::print("{} {}\n", on.device.info().backend, on.device.name());
  if (wanted("hreduce")) run(on, bench::hreduce_subject(on, given.largest), given);
  if (wanted("transpose")) run(on, bench::transpose_subject(on, given.largest), given);
  if (wanted("maskedsum")) run(on, bench::maskedsum_subject(on, given.largest), given);
  if (wanted("fft")) run(on, bench::fft_subject(on, given.largest), given);
  if (wanted("pfb")) run(on, bench::pfb_subject(on, given.largest), given);
  if (wanted("gemm")) run(on, bench::gemm_subject(on, given.largest, tune::dtype::float32), given);
  if (wanted("gemm_half"))
    run(on, bench::gemm_subject(on, given.largest, tune::dtype::float16), given);
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app(
      "Compares the choices of portfolios with the best configuration of each size; see the head "
      "of the source for the method.");
  app.add_option("--sizes", given.sizes, "random sizes of each operation");
  app.add_option("--limit", given.limit,
                 "search and race so many configurations, chosen at random; 0: all");
  app.add_option("--largest", given.largest, "the end of each range; 0: as in the source");
  app.add_option("--rounds", given.rounds, "how often the last eight are timed, twice");
  app.add_option("--pairs", given.pairs, "how often the best and the choice are timed at most");
  app.add_option("--asked", given.asked, "so many of the sizes have been asked for before");
  app.add_option("--matrix", given.matrix,
                 "only record all times, in files that begin with this: FILE.hreduce.csv");
  app.add_option("--spread", given.spread,
                 "record so many sizes as well that are spread as a portfolio's samples are");
  app.add_option("--seconds", given.seconds, "begin no size after so long, for each operation");
  app.add_option("--seed", given.seed, "of the sizes");
  app.add_flag("--each", given.each, "print each size");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_option(
      "--check", given.checks,
      "run what is chosen at so many random sizes, and compare it with the test default");
  app.add_option("--only", given.only,
                 "hreduce, transpose, maskedsum, fft, pfb, gemm or gemm_half");
  CLI11_PARSE(app, argc, argv);
  run_all({.device = tune::all_devices().at(given.device)}, given);
}
