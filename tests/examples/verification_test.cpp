// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "examples/verification/convolution.hpp"
#include "examples/verification/partial_sums.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace verification_test {

using verification::convolution_template;
using verification::convolution_tuning;

/// The output of one configuration, or of the naive kernel.
tune::host_array<float> convolve(verification::convolution op, std::size_t size) {
  tune::workload work(op.queue());
  work.set("input", verification::make_image(size));
  work.run(op);
  return op.buffer("output").get<float>(op.queue());
}

double largest_difference(const tune::host_array<float>& a, const tune::host_array<float>& b) {
  const tune::comparison compared =
      tune::compare(a.layout(), a.data(), b.layout(), b.data(), {.absolute = 0});
  return *compared.greatest_error;
}

struct trial_listener final : tune::observer {
  void search_finished(const tune::search_finished_event& search) override {
    trials.assign(search.trials.begin(), search.trials.end());
  }
  std::vector<tune::trial> trials;
};

TEST_CASE("the space of the convolution is that of the tutorial") {
  const auto space = verification::convolution_space();
  CHECK(space.size() == 8 * 6 * 3 * 3);
  CHECK(space.resources_of({128, 32, 4, 4})->local_memory_bytes == 528 * 144 * 4);
}

TEST_CASE("no two points of the image that lie side by side are alike, so that a shift shows") {
  const auto image = verification::make_image(4);
  for (std::size_t x = 1; x < image.size()[1]; ++x) CHECK(image(0, x) != image(0, x - 1));
}

LIBTUNE_DEVICE_TEST_CASE("each set of inputs of the page has an answer of its own", device) {
  constexpr std::size_t size = 16;
  const auto queue = device.create_context().create_command_queue();
  tune::workload work(queue);
  const auto burst = verification::make_image(size);
  work.set("input", burst);
  // [inputs]
  work.vary({"input"}, {tune::input_kind::shuffled, tune::input_kind::zeros});
  work.inputs("burst").set("input", burst).weight(1);  // for one frame in four
  work.weight(3);                                      // the author's
  // [inputs]
  tune::answer expected;
  auto naive = verification::naive_convolution(queue, size);
  tune::take_answer(expected, work, naive, {"output"});
  CHECK(expected.inputs() == std::vector<std::string>{"burst", "shuffled", "zeros"});
  CHECK_FALSE(tune::find_fault(naive, work, expected));
  CHECK(work.all_inputs().size() == 4);
}

LIBTUNE_DEVICE_TEST_CASE("the naive kernel is what the host makes of the formula", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  constexpr std::size_t size = 9;
  const auto output = convolve(verification::naive_convolution(queue, size), size);
  const auto image = verification::make_image(size);
  double total = 0;
  std::vector<double> bell(verification::filter_size);
  for (std::size_t i = 0; i < bell.size(); ++i) {
    const double distance = static_cast<double>(i) - 8.0;
    total += bell[i] = std::exp(-distance * distance / 18.0);
  }
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      double sum = 0;
      for (std::size_t j = 0; j < bell.size(); ++j) {
        for (std::size_t i = 0; i < bell.size(); ++i) {
          sum += bell[j] * bell[i] / total / total * double{image(y + j, x + i)};
        }
      }
      CHECK(output(y, x) == doctest::Approx(sum).epsilon(1e-6));
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("tiles of every shape agree with it, unless a bug is planted", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  constexpr std::size_t size = 83;
  const auto naive = convolve(verification::naive_convolution(queue, size), size);
  for (const convolution_tuning& tuning :
       {convolution_tuning{16, 1, 1, 4}, convolution_tuning{32, 4, 2, 1},
        convolution_tuning{16, 2, 4, 2}}) {
    const convolution_template right(context, {.planted_bug = 0}, tuning);
    CHECK(largest_difference(naive, convolve(right.instantiate(queue, size), size)) < 1e-5);
    const convolution_template planted(context, {.planted_bug = 1}, tuning);
    const double off = largest_difference(naive, convolve(planted.instantiate(queue, size), size));
    CHECK((off > 1e-4) == (tuning.tile_size_x == 4));
  }
}

LIBTUNE_DEVICE_TEST_CASE("a planted bug is reported and never wins" *
                             tune::testing::force_autotune(),
                         device) {
  const tune::context context = device.create_context();
  const auto hears = std::make_shared<trial_listener>();
  tune::tuning_options options{.strategy = "random", .observers = {hears}};
  options.search.max_count = 5;
  options.search.seed = 3;
  options.measure = tune::measure_settings{.time_limit = std::chrono::milliseconds(1)};
  tune::set_tuning_options(context, options);
  const convolution_template made(context, {.size = 150, .planted_bug = 1});
  CHECK(made.tuning().tile_size_x != 4);
  int wrong = 0;
  for (const tune::trial& item : hears->trials) {
    CAPTURE(tune::to_string(item.configuration));
    if (item.outcome == tune::outcome::over_limit) continue;
    const bool is_planted =
        tune::to_string(item.configuration).find("tile_size_x=4") != std::string::npos;
    CHECK((item.outcome == tune::outcome::wrong_result) == is_planted);
    if (!is_planted) continue;
    ++wrong;
    CHECK(item.reason.starts_with("'output': "));
    CHECK(item.reason.find("elements differ, the first at (0, 149): expected") !=
          std::string::npos);
  }
  CHECK(wrong > 0);
}

LIBTUNE_DEVICE_TEST_CASE("partial sums are tuned against the host's sum" *
                             tune::testing::force_autotune(),
                         device) {
  const tune::context context = device.create_context();
  tune::tuning_options options{.strategy = "random"};
  options.search.max_count = 3;
  options.measure = tune::measure_settings{.time_limit = std::chrono::milliseconds(1)};
  tune::set_tuning_options(context, options);
  constexpr int count = 10007;
  const verification::partial_sums_template made(context, {.count = count});
  auto queue = context.create_command_queue();
  auto op = made.instantiate(queue, count);
  tune::workload work(queue);
  work.set("numbers", verification::make_numbers(count));
  work.run(op);
  const auto partial = op.buffer("partial").get<float>(queue);
  CHECK(partial.size()[0] == static_cast<std::size_t>(made.tuning().groups));
  CHECK(verification::sum_of(partial) ==
        doctest::Approx(verification::sum_of(verification::make_numbers(count))).epsilon(1e-5));
}

TEST_CASE("the kernels that are verified compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(convolution_template{context});
    CHECK_NOTHROW(verification::partial_sums_template{context});
  });
}

}  // namespace verification_test
