// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches twice and says how programs were compiled. With "serve" as its argument it is its own
// compile worker. Ends with 77 where there is no device.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <libtune/child.hpp>
#include <libtune/libtune.hpp>
#ifdef OPENED
#include <libtune/console.hpp>
#include <libtune/extra/behind.hpp>
#include <libtune/extra/sensors.hpp>
#include <libtune/extra/shared.hpp>
#endif
#include <memory>
#include <string>
#include <utility>

namespace consumer {

struct scale_key {
  int factor = 1;
};

struct scale_tuning {
  int wgs = 1;
};

}  // namespace consumer

LIBTUNE_FIELDS(consumer::scale_key, factor)
LIBTUNE_FIELDS(consumer::scale_tuning, wgs)

namespace consumer {

const tune::kernel_source source{"scale.kernel", R"(KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void scale(GLOBAL float* data) { data[get_global_id(0)] *= factor; })"};

const tune::autotuner<scale_key, scale_tuning> autotune{
    {.name = "consumer.scale", .version = 0, .test = {.wgs = 1}},
    [](tune::tuning_session& session, const scale_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      const auto space = tune::space<scale_tuning>().add(&scale_tuning::wgs, {1, 2, 4, 8});
      return session.tune(space, [&](const scale_tuning& tuning) {
        const auto program = tune::compile(session.context(), source, tune::defines(key, tuning));
        auto kernel = program.create_kernel("scale");
        const auto data = session.context().create_buffer(64 * sizeof(float));
        queue.zero(data, 64 * sizeof(float));
        kernel.set_argument(0, data);
        const auto local = static_cast<std::size_t>(tuning.wgs);
        return tune::make_measure(queue, [queue, kernel = std::move(kernel), local]() mutable {
          queue.enqueue(kernel, {.global = {64}, .local = {local}});
        });
      });
    }};

struct listener final : tune::observer {
  void progressed(const tune::tuning_subject&, const tune::search_progress& now) override {
    by_helpers = std::max(by_helpers, now.compiled);
  }
  void search_finished(const tune::search_finished_event& event) override {
    std::cout << "of " << event.trials.size() << " configurations helpers compiled " << by_helpers
              << '\n';
    for (const std::string& doubt : event.doubts) std::cout << "doubt: " << doubt << '\n';
    by_helpers = 0;
  }
  std::size_t by_helpers = 0;
};

}  // namespace consumer

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "serve") tune::serve_if_worker(argc, argv);
  if (tune::all_devices().empty()) return 77;
  const tune::context context = tune::create_some_context();
  tune::tuning_options options;
  options.mode = tune::tuning_mode::force;
  options.isolation = tune::isolation_mode::off;
  options.observers = {std::make_shared<consumer::listener>()};
  tune::set_tuning_options(context, options);
  for (const int factor : {1, 2}) consumer::autotune(context, {.factor = factor});
}
