// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/poison/square_root.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "square_root.kernel.hpp"

namespace poison {
namespace {

tune::defines macros_for(const square_root_tuning& tuning) {
  tune::defines macros(tuning);
  // Kernels use the names of enumerators; the preprocessor replaces unknown names by 0, so each has
  // a number.
  macros.add("endless_loop", 1).add("device_fault", 2);
  macros.add("wrong_result", 3).add("compiler_error", 4);
  return macros.add("MISBEHAVES", static_cast<int>(fault_of(tuning)));
}

tune::host_array<float> make_numbers(std::size_t n) {
  tune::host_array<float> numbers({n});
  for (std::size_t i = 0; i < n; ++i) numbers(i) = 1.0F + static_cast<float>(i % 100);
  return numbers;
}

tune::host_array<float> roots_of(const tune::host_array<float>& numbers) {
  const std::size_t n = numbers.size()[0];
  tune::host_array<float> roots({n});
  for (std::size_t i = 0; i < n; ++i) roots(i) = std::sqrt(numbers(i));
  return roots;
}

}  // namespace

fault fault_of(const square_root_tuning& tuning) {
  if (tuning == square_root_tuning{64, 0}) return fault::endless_loop;
  if (tuning == square_root_tuning{32, 0}) return fault::device_fault;
  if (tuning == square_root_tuning{256, 0}) return fault::wrong_result;
  if (tuning == square_root_tuning{128, 3}) return fault::compiler_error;
  return fault::none;
}

bool is_right_choice(const square_root_tuning& tuning) {
  return tuning.needless_rounds == 0 && fault_of(tuning) == fault::none;
}

tune::space<square_root_tuning> tuning_space() {
  return tune::space<square_root_tuning>()
      .add(&square_root_tuning::work_group, {32, 64, 128, 256})
      .add(&square_root_tuning::needless_rounds, {0, 1, 2, 3, 4, 5, 6, 7});
}

square_root::square_root(const tune::command_queue& queue, const tune::program& program,
                         const square_root_tuning& tuning, std::size_t n)
    : operation(queue),
      kernel_(program.create_kernel("square_root")),
      root_(add_slot("root", {n}, tune::dtype::float32)),
      x_(add_slot("x", {n}, tune::dtype::float32)),
      n_(static_cast<unsigned>(n)) {
  const auto work_group = static_cast<std::size_t>(tuning.work_group);
  range_ = {{tune::round_up(n, work_group)}, {work_group}};
}

void square_root::do_run() { enqueue(kernel_, range_, root_, x_, n_); }

square_root_template::square_root_template(const tune::context& context, const square_root_key& key,
                                           const std::optional<square_root_tuning>& tuning)
    : tuning_(tuning ? *tuning : autotune(context, key)),
      program_(tune::compile(context,
                             {"square_root.kernel", std::string(embedded::square_root_kernel)},
                             macros_for(tuning_))) {}

square_root square_root_template::instantiate(const tune::command_queue& queue,
                                              std::size_t n) const {
  return {queue, program_, tuning_, n};
}

// This function does not treat faults: it is an autotune function like any other.
const tune::autotuner<square_root_key, square_root_tuning> square_root_template::autotune{
    {.name = "square_root_template.autotune", .version = 0, .test = {128, 1}},
    [](tune::tuning_session& session, const square_root_key& key) {
      const auto n = static_cast<std::size_t>(key.size);
      const tune::host_array<float> numbers = make_numbers(n);
      tune::answer answer;
      answer.add("root", roots_of(numbers), {.absolute = 0, .relative = 1e-5});

      auto queue = session.context().create_tuning_command_queue();
      tune::workload work(queue);
      work.set("x", numbers);
      return session.tune(tuning_space(), [&](const square_root_tuning& tuning) {
        auto op = square_root_template(session.context(), key, tuning).instantiate(queue, n);
        work.bind(op);
        auto check = answer.check(queue, {{"root", op.buffer("root")}});
        return tune::make_measure(queue, std::move(op)).check(std::move(check));
      });
    }};

}  // namespace poison
