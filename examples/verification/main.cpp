// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tunes a convolution with some wrong configurations, and a sum whose results cannot be compared
// with an array; shows the faults, and that the wrong ones do not win.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "examples/common/choose_device.hpp"
#include "examples/verification/convolution.hpp"
#include "examples/verification/partial_sums.hpp"
#include "libtune/child.hpp"
#include "libtune/console.hpp"

namespace {

using namespace verification;
using steady = std::chrono::steady_clock;

struct arguments {
  std::optional<std::size_t> size;
  std::optional<std::size_t> configurations;
  std::optional<std::size_t> device;
  bool planted_bug = true;
  bool finalists = false;
};

/// Prints the outcome of a search, and its first wrong result.
class wrong_result_reporter final : public tune::observer {
 public:
  void trial_finished(const tune::tuning_subject&, const tune::trial& done) override { show(done); }
  void trial_refined(const tune::tuning_subject&, const tune::trial& done) override { show(done); }

  void search_finished(const tune::search_finished_event& search) override {
    std::size_t right = 0;
    std::size_t wrong = 0;
    for (const tune::trial& item : search.trials) {
      right += item.outcome == tune::outcome::measured ? 1 : 0;
      wrong += item.outcome == tune::outcome::wrong_result ? 1 : 0;
    }
    std::cout << "  " << search.trials.size() << " configurations tried in "
              << tune::format_run_time(search.elapsed) << ": " << right << " measured, " << wrong
              << " wrong, " << search.trials.size() - right - wrong << " that do not run here\n";
    if (!search.best) return;
    const tune::trial& best = search.trials[*search.best];
    std::cout << "  best: " << tune::to_string(best.configuration) << ", "
              << tune::format_run_time(*best.score) << '\n';
    shown_ = false;
  }

 private:
  void show(const tune::trial& done) {
    if (done.outcome != tune::outcome::wrong_result || std::exchange(shown_, true)) return;
    std::cout << "  the first that is wrong: " << tune::to_string(done.configuration) << "\n    "
              << done.reason << '\n';
  }

  bool shown_ = false;
};

void declare(CLI::App& app, arguments& given) {
  app.add_option("--size", given.size,
                 "rows and columns of the image (default: 4096, on a CPU 128)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{16384}));
  app.add_option(
      "--configurations", given.configurations,
      "try so many of each space, by chance (default: as the search likes, on a CPU 12)");
  app.add_option("--device", given.device, "index of the device (default: the best)");
  app.add_flag("--planted-bug,!--no-planted-bug", given.planted_bug,
               "make the configurations with a tile_size_x of 4 wrong (default: yes)");
  app.add_flag("--finalists", given.finalists, "check only what would take the lead");
}

// Always tunes, so that there is always output.
void set_options(const tune::context& context, const arguments& given) {
  tune::tuning_options options{.mode = tune::tuning_mode::force,
                               .given_by = tune::option_source::command};
  if (given.configurations) {
    options.strategy = "random";
    options.search.max_count = *given.configurations;
  }
  if (context.device().kind() == tune::device_kind::cpu) {
    options.budget = tune::tuning_budget{.time = std::chrono::seconds(10)};
  }
  if (given.finalists) options.verify = tune::result_check::finalists;
  options.observers = {std::make_shared<wrong_result_reporter>()};
  tune::set_tuning_options(context, options);
}

/// Runs one configuration, and reads its results back.
tune::host_array<float> convolve(const tune::context& context, convolution op,
                                 const char* described) {
  tune::workload work(context.create_command_queue());
  const std::size_t size = op.slot("output").required_layout().size()[0];
  work.set("input", make_image(size));
  work.run(op);
  const auto start = steady::now();
  work.run(op);
  tune::command_queue queue = op.queue();
  auto output = op.buffer("output").get<float>(queue);
  std::cout << described << ": run and read back in "
            << tune::format_run_time(steady::now() - start) << ", output(0, 0) = " << output(0, 0)
            << '\n';
  return output;
}

double largest_difference(const tune::host_array<float>& a, const tune::host_array<float>& b) {
  double largest = 0;
  for (std::size_t y = 0; y < a.size()[0]; ++y) {
    for (std::size_t x = 0; x < a.size()[1]; ++x) {
      const double difference = std::abs(double{a(y, x)} - double{b(y, x)});
      // A maximum would ignore NaN.
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

bool tune_convolution(const tune::context& context, const arguments& given, std::size_t size) {
  const auto queue = context.create_command_queue();
  const auto answer = convolve(context, naive_convolution(queue, size), "The naive kernel");
  const convolution_key key{.size = static_cast<int>(size),
                            .planted_bug = given.planted_bug ? 1 : 0};
  std::cout << "\nTuning against its answer, " << (given.planted_bug ? "with" : "without")
            << " a planted bug:\n";
  const convolution_template tuned(context, key);
  const auto output = convolve(context, tuned.instantiate(queue, size), "The best");
  const double difference = largest_difference(answer, output);
  const bool is_planted = given.planted_bug && tuned.tuning().tile_size_x == 4;
  std::cout << "  its largest difference from the answer: " << difference << '\n';
  return difference <= 1e-5 && !is_planted;
}

bool tune_partial_sums(const tune::context& context, std::size_t count) {
  std::cout << "\nTuning partial sums of " << count << " numbers against the host's sum:\n";
  const partial_sums_template tuned(context, {.count = static_cast<int>(count)});
  auto queue = context.create_command_queue();
  auto op = tuned.instantiate(queue, count);
  const auto numbers = make_numbers(count);
  tune::workload work(queue);
  work.set("numbers", numbers);
  work.run(op);
  const double got = sum_of(op.buffer("partial").get<float>(queue));
  std::cout << "  the host's sum " << sum_of(numbers) << ", that of the " << tuned.tuning().groups
            << " partial sums " << got << '\n';
  return std::abs(got - sum_of(numbers)) <= 1e-5 * sum_of(numbers);
}

int run(arguments given) {
  const tune::device device = examples::choose_device(given.device);
  const bool is_cpu = device.kind() == tune::device_kind::cpu;
  const std::size_t size = given.size.value_or(is_cpu ? 128 : 4096);
  if (is_cpu && !given.configurations) given.configurations = 12;
  std::cout << "Device: " << device.name() << " (" << device.platform_name() << ")\n"
            << "A filter of 17 x 17 over an image of " << size << " x " << size << "\n\n";
  const tune::context context = device.create_context();
  set_options(context, given);
  const bool convolved = tune_convolution(context, given, size);
  const bool added = tune_partial_sums(context, is_cpu ? 1 << 18 : 1 << 24);
  std::cout << (convolved && added ? "\nBoth winners are right.\n" : "\nA winner is WRONG.\n");
  return convolved && added ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Tunes kernels of which some are wrong, and shows that these do not win.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const std::exception& failure) {
    std::cerr << "verification: " << failure.what() << '\n';
    return 1;
  }
}
