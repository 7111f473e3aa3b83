// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how close does gemm come to the device's peak of multiplications, and to cuBLAS?
//
// For each shape, products of random matrices between -1 and 1 are timed in turn, round by round,
// by markers on the device, behind fills that hide the host's launches, each directly after another
// run of its own: gemm with each of the given tunings, or, without any, with the choice of the
// portfolio for the ranges from 16 to 8192; and cublasGemmEx, if the program was built with cuBLAS,
// with float sums, without TF32, in default and pedantic mode. Reported are medians; "of cuBLAS" is
// the time of the faster mode over ours, the median over the rounds. Results are compared with
// cuBLAS's: all elements, or the first and the last million. The last line has the geometric mean
// over the shapes, for the best of the tunings of each.
//
// --held-out draws sizes, searches each by itself, and compares the portfolio's choice with the
// result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/console/reports.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/workload.hpp"
#ifdef LIBTUNE_BENCH_CUBLAS
#include "bench/operations/gemm_peer.hpp"
#endif

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::bench_device;
using tune::dtype;

struct settings {
  int rounds = 10;
  std::size_t limit = 0;
  std::size_t device = 0;
  std::string types = "float";
  std::string layouts = "rr";
  std::vector<std::size_t> shapes;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> tuning;
  std::size_t held_out = 0;
  bool table = false;
};

struct sizes {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

constexpr std::array<sizes, 16> all_sizes{{{4096, 4096, 4096},
                                           {1024, 1024, 1024},
                                           {64, 4096, 4096},
                                           {2048, 2048, 2048},
                                           {512, 512, 512},
                                           {256, 256, 256},
                                           {8192, 8192, 8192},
                                           {16, 8192, 8192},
                                           {4096, 64, 4096},
                                           {8192, 16, 1024},
                                           {64, 64, 65536},
                                           {4096, 4096, 64},
                                           {32, 2048, 8192},
                                           {1536, 1536, 1536},
                                           {3000, 3000, 3000},
                                           {1024, 8192, 256}}};

gemm_key key_of(const settings& given) {
  gemm_key key;
  key.input = given.types == "float" ? dtype::float32 : dtype::float16;
  key.output = given.types == "half" ? dtype::float16 : dtype::float32;
  if (given.layouts.at(0) == 'c') key.a = gemm_layout::column_major;
  if (given.layouts.at(1) == 'c') key.b = gemm_layout::column_major;
  return key;
}

constexpr std::size_t numbers_of_tuning = 10;

std::vector<gemm_tuning> given_tunings(const settings& given) {
  std::vector<gemm_tuning> tunings;
  for (std::size_t i = 0; i + numbers_of_tuning <= given.tuning.size(); i += numbers_of_tuning) {
    const auto t = std::span(given.tuning).subspan(i, numbers_of_tuning);
    tunings.push_back({static_cast<gemm_instruction>(t[0]), t[1], t[2], t[3], t[4], t[5], t[6],
                       t[7], t[8], t[9]});
  }
  return tunings;
}

/// Programs for all tunings, compiled at once; failures are skipped, with the reason.
std::vector<gemm_template> compile_all(const bench_device& on, const gemm_key& key,
                                       const std::vector<gemm_tuning>& tunings) {
  std::vector<std::optional<gemm_template>> made(tunings.size());
  std::vector<std::string> faults(tunings.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < tunings.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          made[i].emplace(on.context, key, tunings[i]);
        } catch (const std::exception& failure) {
          faults[i] = failure.what();
        }
      });
    }
  }
  std::vector<gemm_template> all;
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    if (made[i]) {
      all.push_back(std::move(*made[i]));
    } else {
      fmt::print("{} does not compile: {}\n", tune::to_string(tune::to_values(tunings[i])),
                 faults[i]);
    }
  }
  return all;
}

template <class T>
void set_random(tune::command_queue& queue, const tune::device_array& array, std::uint32_t seed) {
  const std::size_t bytes = array.layout().bytes();
  std::vector<T> numbers(std::min<std::size_t>(bytes / sizeof(T), std::size_t{1} << 22));
  for (T& number : numbers) {
    const std::uint32_t drawn = tune::operations::next_number(seed) >> 8;
    number = static_cast<T>(static_cast<float>(drawn) * 0x1p-23F - 1.0F);
  }
  tune::operations::write_again(queue, array.buffer(), bytes, std::as_bytes(std::span(numbers)));
}

void set_random(tune::command_queue& queue, const tune::device_array& array, std::uint32_t seed) {
  if (array.type().dtype() == dtype::float16) {
    set_random<tune::float16>(queue, array, seed);
  } else {
    set_random<float>(queue, array, seed);
  }
}

/// The rows of a result, or the first and the last million elements of many.
template <class T>
std::vector<float> numbers_of(tune::command_queue& queue, const tune::device_array& array) {
  constexpr std::size_t million = std::size_t{1} << 20;
  const std::size_t rows = array.layout().size()[0];
  const std::size_t columns = array.layout().size()[1];
  const std::size_t stride = array.layout().padded()[1];
  const std::size_t part = std::min(rows, std::max<std::size_t>(1, million / columns));
  std::vector<T> read(part * stride);
  std::vector<float> numbers;
  for (const std::size_t first : {std::size_t{0}, rows - part}) {
    queue.read(array.buffer(), read.data(), read.size() * sizeof(T), first * stride * sizeof(T));
    for (std::size_t i = 0; i < part; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        numbers.push_back(static_cast<float>(read[i * stride + j]));
      }
    }
  }
  return numbers;
}

std::vector<float> numbers_of(tune::command_queue& queue, const tune::device_array& array) {
  if (array.type().dtype() == dtype::float16) return numbers_of<tune::float16>(queue, array);
  return numbers_of<float>(queue, array);
}

/// The largest difference of two results; infinite if one is NaN.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    most = std::isnan(distance) ? HUGE_VAL : std::max(most, distance);
  }
  return most;
}

/// Fills an array with NaN.
void poison(tune::command_queue& queue, const tune::device_array& array) {
  if (array.type().dtype() == dtype::float16) {
    array.fill(queue, tune::float16(NAN));
  } else {
    array.fill(queue, NAN);
  }
}

/// The operations of a shape, and cuBLAS with the same A and B.
struct contest {
  contest(bench_device& device, const gemm_key& its_key, const sizes& its_sizes)
      : on(device), key(its_key), of(its_sizes) {}

  void add(const gemm_template& made) {
    auto op = std::make_shared<gemm>(made.instantiate(on.queue, of.m, of.n, of.k));
    if (ops.empty()) {
      op->ensure_bound("a");
      op->ensure_bound("b");
      set_random(on.queue, op->buffer("a"), 1);
      set_random(on.queue, op->buffer("b"), 2);
    } else {
      for (const char* name : {"a", "b", "c"}) op->bind(name, ops.front()->buffer(name));
    }
    op->ensure_all_bound();
    ops.push_back(op);
    tunings.push_back(made.tuning_for(of.m, of.n, of.k));
    timed.push_back({[op] { op->run(); }});
  }

  void add_peers() {
#ifdef LIBTUNE_BENCH_CUBLAS
    if (on.device.info().backend != "CUDA" || ops.empty()) return;
    const tune::device_array c(on.context, ops.front()->buffer("c").layout());
    for (const bool is_pedantic : {false, true}) {
      const auto run = peers::cublas_gemm(on.queue, key, of.m, of.n, of.k, ops.front()->buffer("a"),
                                          ops.front()->buffer("b"), c, is_pedantic);
      if (!run) continue;
      poison(on.queue, c);
      run();
      if (right.empty()) right = numbers_of(on.queue, c);
      timed.push_back({run});
    }
#endif
  }

  /// Runs everything; prints a line for each tuning, and returns the best fraction of cuBLAS's
  /// speed.
  double report(int rounds) {
    add_peers();
    std::vector<double> differences;
    for (const auto& op : ops) {
      poison(on.queue, op->buffer("c"));
      op->run();
      if (!right.empty()) {
        differences.push_back(difference(numbers_of(on.queue, op->buffer("c")), right));
      }
    }
    bench::time_behind_fills(on, timed, rounds);
    const bench::contender* peer = nullptr;
    for (std::size_t i = ops.size(); i < timed.size(); ++i) {
      if (peer == nullptr || timed[i].median() < peer->median()) peer = &timed[i];
    }
    const double flops = work_of(key, of.m, of.n, of.k).flops;
    if (peer != nullptr) {
      fmt::print("{:>5} x {:>5} x {:>5} {:>9.1f} us {:>7.2f} TFLOP/s  cuBLAS{}\n", of.m, of.n, of.k,
                 peer->median() * 1e6, flops / peer->median() / 1e12,
                 peer == &timed.back() ? ", pedantic" : "");
    }
    double best = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const double part = peer == nullptr ? 0 : bench::ratio(*peer, timed[i]);
      best = std::max(best, part);
      fmt::print(
          "{:>5} x {:>5} x {:>5} {:>9.1f} us {:>7.2f} TFLOP/s {:>6.3f} of cuBLAS, {:>2} "
          "parts, clusters of {}, differs by {:.2g}  {}\n",
          of.m, of.n, of.k, timed[i].median() * 1e6, flops / timed[i].median() / 1e12, part,
          ops[i]->parts(), ops[i]->cluster(), differences.empty() ? 0 : differences[i],
          tune::to_string(tune::to_values(tunings[i])));
    }
    std::fflush(stdout);
    return best;
  }

  bench_device& on;
  gemm_key key;
  sizes of;
  std::vector<std::shared_ptr<gemm>> ops{};
  std::vector<gemm_tuning> tunings{};
  std::vector<bench::contender> timed{};
  std::vector<float> right{};
};

std::vector<sizes> chosen_sizes(const settings& given) {
  if (!given.shape.empty()) return {{given.shape.at(0), given.shape.at(1), given.shape.at(2)}};
  if (given.shapes.empty()) return {all_sizes.begin(), all_sizes.end()};
  std::vector<sizes> chosen;
  for (const std::size_t index : given.shapes) chosen.push_back(all_sizes.at(index));
  return chosen;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Compares the choice of a portfolio with a search at random sizes.
void bench_held_out(bench_device& on, const settings& given, const gemm_template& tuned) {
  std::mt19937 engine(99);
  const gemm_key key = key_of(given);
  double sum = 0;
  double worst = 0;
  for (std::size_t i = 0; i < given.held_out; ++i) {
    const auto draw = [&](const tune::size_range& range) {
      return range.at(std::generate_canonical<double, 32>(engine));
    };
    const sizes of{draw(key.m), draw(key.n), draw(key.k)};
    gemm_key exact = key;
    exact.m = {of.m, of.m};
    exact.n = {of.n, of.n};
    exact.k = {of.k, of.k};
    const gemm_template searched(on.context, exact);
    contest both(on, key, of);
    both.add(tuned);
    both.add(searched);
    both.report(given.rounds);
    const double loss = bench::ratio(both.timed[0], both.timed[1]) - 1;
    sum += loss;
    worst = std::max(worst, loss);
    fmt::print("  the choice is {:.1f} % slower than a search of these sizes\n", 100 * loss);
  }
  fmt::print("{} sizes held out: {:.1f} % slower on average, {:.1f} % at worst\n", given.held_out,
             100 * sum / static_cast<double>(given.held_out), 100 * worst);
}

void run(bench_device on, const settings& given) {
  bench::search_afresh(on.context, given.limit);
  if (given.table) {
    tune::tuning_options options = *tune::tuning_options_of(on.context);
    options.observers.push_back(std::make_shared<tune::table_reporter>(std::cout));
    tune::set_tuning_options(on.context, options);
  }
  const gemm_key key = key_of(given);
  fmt::print("{} {}, {}, layouts {}\n", on.device.info().backend, on.device.name(), given.types,
             given.layouts);
  const auto start = std::chrono::steady_clock::now();
  std::vector<gemm_template> templates;
  if (given.tuning.empty()) {
    templates.emplace_back(on.context, key);
    const auto& facts = templates.front().choice()->facts();
    fmt::print("tuned in {:.1f} s: {} tunings, {} leaves, expected loss {:.1f} %\n",
               seconds_since(start), templates.front().tunings().size(), facts.leaves,
               100 * facts.expected_loss);
  } else {
    templates = compile_all(on, key, given_tunings(given));
    fmt::print("compiled {} programs in {:.1f} s\n", templates.size(), seconds_since(start));
  }
  double logarithms = 0;
  const std::vector<sizes> shapes = chosen_sizes(given);
  for (const sizes& of : shapes) {
    contest all(on, key, of);
    for (const gemm_template& each : templates) all.add(each);
    logarithms += std::log(std::max(all.report(given.rounds), 1e-9));
  }
  if (logarithms > -10)
    fmt::print("geometric mean of the best of each: {:.3f} of cuBLAS\n",
               std::exp(logarithms / static_cast<double>(shapes.size())));
  if (given.held_out > 0 && given.tuning.empty()) bench_held_out(on, given, templates.front());
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Measures products of matrices; see the head of the source for the method.");
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations in each search, at random");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_option("--types", given.types, "float, half, or mixed: halves to floats")
      ->check(CLI::IsMember({"float", "half", "mixed"}));
  app.add_option("--layouts", given.layouts, "of A and B: r for rows, c for columns")
      ->check(CLI::IsMember({"rr", "rc", "cr", "cc"}));
  app.add_option("--shapes", given.shapes, "the indices of shapes, from 0 to 15; all by default");
  app.add_option("--shape", given.shape, "another one: m, n, k")->expected(3);
  app.add_option("--held-out", given.held_out, "search so many other sizes");
  app.add_flag("--table", given.table, "show every configuration of a search");
  app.add_option("--tuning", given.tuning,
                 "instead of a search, one or several: instruction (0 to 2), tile_m, tile_n, "
                 "part_m, part_n, depth, stages, resident, price, band");
  CLI11_PARSE(app, argc, argv);
  if (given.tuning.size() % numbers_of_tuning != 0) {
    fmt::print(stderr, "a tuning has {} numbers\n", numbers_of_tuning);
    return 1;
  }
  ::setenv("LIBTUNE_CACHE", "off", 1);
  run({.device = tune::all_devices().at(given.device)}, given);
}
