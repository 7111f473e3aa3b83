// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/verification/partial_sums.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "partial_sums.kernel.hpp"

namespace verification {
namespace {

std::size_t as_size(int number) { return static_cast<std::size_t>(number); }

tune::program build(const tune::context& context, const partial_sums_tuning& tuning) {
  return tune::compile(context, {"partial_sums.kernel", std::string(embedded::partial_sums_kernel)},
                       tune::defines(tuning));
}

/// Checks the sum of the partial sums. Their number differs between configurations, so there is no
/// array for a comparison.
tune::answer::function judge_by_sum(double expected) {
  return
      [expected](tune::command_queue& queue,
                 const std::vector<tune::answer::result>& results) -> std::optional<std::string> {
        double got = 0;
        std::size_t parts = 0;
        for (const auto& [name, array] : results) {
          if (name != "partial") continue;
          got = sum_of(array.get<float>(queue));
          parts = array.size()[0];
        }
        // Fails for NaN too.
        if (std::abs(got - expected) <= 1e-5 * expected) return std::nullopt;
        return "the " + std::to_string(parts) + " partial sums come to " + std::to_string(got) +
               ", the numbers to " + std::to_string(expected);
      };
}

}  // namespace

partial_sums::partial_sums(const tune::command_queue& queue, const tune::program& program,
                           const partial_sums_tuning& tuning, std::size_t count)
    : operation(queue),
      kernel_(program.create_kernel("add_up")),
      partial_(add_slot("partial", {as_size(tuning.groups)}, tune::dtype::float32)),
      numbers_(add_slot("numbers", {count}, tune::dtype::float32)),
      count_(static_cast<unsigned>(count)),
      range_({.global = {as_size(tuning.groups) * as_size(tuning.block_size)},
              .local = {as_size(tuning.block_size)}}) {}

void partial_sums::do_run() { enqueue(kernel_, range_, partial_, numbers_, count_); }

partial_sums_template::partial_sums_template(const tune::context& context,
                                             const partial_sums_key& key,
                                             const std::optional<partial_sums_tuning>& tuning)
    : tuning_(tuning ? *tuning : autotune(context, key)), program_(build(context, tuning_)) {}

partial_sums partial_sums_template::instantiate(const tune::command_queue& queue,
                                                std::size_t count) const {
  return {queue, program_, tuning_, count};
}

tune::space<partial_sums_tuning> partial_sums_space() {
  tune::space<partial_sums_tuning> space;
  space.add(&partial_sums_tuning::block_size, {32, 64, 128, 256, 512, 1024});
  space.add(&partial_sums_tuning::groups, {32, 64, 128, 256, 512, 1024, 2048});
  space.add(&partial_sums_tuning::vector, {1, 2, 4});
  space.needs([](const partial_sums_tuning& t) {
    return tune::resources{.work_group = {as_size(t.block_size), 1, 1},
                           .local_memory_bytes = as_size(t.block_size) * sizeof(float)};
  });
  return space;
}

tune::host_array<float> make_numbers(std::size_t count) {
  tune::host_array<float> numbers({count});
  std::mt19937 engine(2);
  for (std::size_t i = 0; i < count; ++i) {
    numbers(i) = static_cast<float>(engine() >> 8) / static_cast<float>(1 << 24);
  }
  return numbers;
}

double sum_of(const tune::host_array<float>& numbers) {
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size()[0]; ++i) sum += static_cast<double>(numbers(i));
  return sum;
}

const tune::autotuner<partial_sums_key, partial_sums_tuning> partial_sums_template::autotune{
    {.name = "verification.partial_sums", .version = 0, .test = {}},
    [](tune::tuning_session& session, const partial_sums_key& key) {
      const std::size_t count = as_size(key.count);
      auto queue = session.context().create_tuning_command_queue();
      auto numbers = make_numbers(count);
      tune::answer expected;
      expected.verify(judge_by_sum(sum_of(numbers)), {"partial"});
      tune::workload work(queue);
      work.set("numbers", std::move(numbers));
      return session.tune(partial_sums_space(), [&](const partial_sums_tuning& tuning) {
        auto op = partial_sums_template(session.context(), key, tuning).instantiate(queue, count);
        return tune::make_measure(queue, std::move(op), work, expected);
      });
    }};

}  // namespace verification
