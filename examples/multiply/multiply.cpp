// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The smallest complete operation: data *= scale. The README shows it.
// [readme]
#include <libtune/libtune.hpp>

struct multiply_key { tune::dtype type = tune::dtype::float32; };
struct multiply_tuning { int wgs = 64; };
LIBTUNE_FIELDS(multiply_key, type)
LIBTUNE_FIELDS(multiply_tuning, wgs)

const tune::kernel_source source{"multiply.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void multiply(GLOBAL type* data, type scale) {
  data[get_global_id(0)] *= scale;
})"};

struct multiply : tune::operation {  // cheap: one for each size, queue and thread
  multiply(tune::command_queue queue, const tune::program& program, std::size_t size,
           std::size_t wgs, float factor)
      : operation(queue), kernel(program.create_kernel("multiply")), scale(factor),
        data(add_slot("data", {tune::dimension(size, {.round = wgs})}, tune::dtype::float32)),
        range{{tune::round_up(size, wgs)}, {wgs}} {}
  void do_run() override {
    kernel.set_arguments(data.buffer().buffer(), scale);
    queue().enqueue(kernel, range);
  }
  tune::kernel kernel;
  float scale;
  tune::io_slot& data;
  tune::nd_range range;
};

struct multiply_template {  // expensive: compiled for a device, and tuned on first use
  static const tune::autotuner<multiply_key, multiply_tuning> autotune;
  explicit multiply_template(const tune::context& context, multiply_key key = {},
                             std::optional<multiply_tuning> given = std::nullopt)
      : tuning(given ? *given : autotune(context, key)),
        program(tune::compile(context, source, tune::defines(key, tuning))) {}
  multiply instantiate(tune::command_queue queue, std::size_t size, float scale) const {
    return {queue, program, size, std::size_t(tuning.wgs), scale};
  }
  multiply_tuning tuning;
  tune::program program;
};

const tune::autotuner<multiply_key, multiply_tuning> multiply_template::autotune{
    {.name = "multiply_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const multiply_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<multiply_tuning> space;
      space.add(&multiply_tuning::wgs, {32, 64, 128, 256});
      return session.tune(space, [&](const multiply_tuning& tuning) -> tune::measure {
        if (std::size_t(tuning.wgs) > queue.device().max_work_group_size()) return nullptr;
        auto op = multiply_template(session.context(), key, tuning).instantiate(queue, 1 << 20, 2);
        op.ensure_all_bound();
        op.buffer("data").zero(queue);
        return tune::make_measure(queue, std::move(op));
      });
    }};
// [readme]

#include <exception>
#include <iostream>

int main() try {
  const tune::context context = tune::create_some_context();
  auto queue = context.create_command_queue();
  auto operation = multiply_template(context).instantiate(queue, 1000, 2.0F);
  operation.ensure_all_bound();
  tune::host_array<float> numbers({1000});
  numbers.fill(21.0F);
  operation.buffer("data").set(queue, numbers);
  operation();
  const float product = operation.buffer("data").get<float>(queue)(999);
  std::cout << "21 * 2 = " << product << " on " << context.device().name() << '\n';
  return product == 42.0F ? 0 : 1;
} catch (const std::exception& failure) {
  std::cerr << "multiply: " << failure.what() << '\n';
  return 1;
}
