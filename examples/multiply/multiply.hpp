// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The smallest complete operation, data *= scale, laid out as the README shows it.
#pragma once

// clang-format off
// NOLINTBEGIN(performance-unnecessary-value-param, readability-make-member-function-const): brief
// [operation]
#include <libtune/libtune.hpp>

struct multiply_key { tune::dtype type = tune::dtype::float32; };
struct multiply_tuning { std::size_t wgs = 64; };
LIBTUNE_FIELDS(multiply_key, type)
LIBTUNE_FIELDS(multiply_tuning, wgs)

const tune::kernel_source source{"multiply.kernel", R"(KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void multiply(GLOBAL type* data, type scale) { data[get_global_id(0)] *= scale; })"};

struct multiply : tune::operation {  // cheap: one for each size, queue and thread
  multiply(tune::command_queue queue, const tune::program& program, std::size_t n, std::size_t wgs)
      : operation(queue), kernel(program.create_kernel("multiply")),
        data(add_slot("data", {tune::dimension(n, {.round = wgs})}, tune::dtype::float32)),
        range{{tune::round_up(n, wgs)}, {wgs}} {}
  void do_run() override { enqueue(kernel, range, data, scale); }
  tune::kernel kernel;
  tune::slot_ref<> data;
  tune::nd_range range;
  float scale = 2;
};

struct multiply_template {  // expensive: compiled for a device, and tuned for it on first use
  static const tune::autotuner<multiply_key, multiply_tuning> autotune;
  explicit multiply_template(const tune::context& context, multiply_key key = {},
                             std::optional<multiply_tuning> given = {})
      : tuning(given ? *given : autotune(context, key)),
        program(tune::compile(context, source, tune::defines(key, tuning))) {}
  multiply instantiate(tune::command_queue q, std::size_t n) { return {q, program, n, tuning.wgs}; }
  multiply_tuning tuning;
  tune::program program;
};

inline const tune::autotuner<multiply_key, multiply_tuning> multiply_template::autotune{
    {.name = "multiply_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const multiply_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      auto space = tune::space<multiply_tuning>().add(&multiply_tuning::wgs, {32, 64, 128, 256});
      return session.tune(space, [&](const multiply_tuning& tuning) {
        auto op = multiply_template(session.context(), key, tuning).instantiate(queue, 1 << 24);
        op.ensure_all_bound();
        op.buffer("data").zero(queue);
        return tune::make_measure(queue, std::move(op));
      });
    }};
// [operation]
// NOLINTEND(performance-unnecessary-value-param, readability-make-member-function-const)
// clang-format on
