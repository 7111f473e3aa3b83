// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application that ends while it has static objects of a device, whose driver has shut down when
// they are destroyed: ending_application <number of the device> <how it ends>
// [<where a key is tuned behind it> <its log>].
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/tune/autotuner.hpp"
#include "tests/child/sample_tuner.hpp"

namespace ending {

struct add_key {
  int size = 1 << 12;
};
struct add_tuning {
  int wgs = 64;
};

}  // namespace ending

LIBTUNE_FIELDS(ending::add_key, size)
LIBTUNE_FIELDS(ending::add_tuning, wgs)

namespace ending {

class add final : public tune::operation {
 public:
  add(const tune::command_queue& queue, const tune::program& program, std::size_t size, int wgs)
      : operation(queue),
        kernel_(program.create_kernel("add")),
        data_(add_slot("data", {size}, tune::dtype::uint32)),
        range_{{size}, {static_cast<std::size_t>(wgs)}} {}

 private:
  void do_run() override { enqueue(kernel_, range_, data_); }

  tune::kernel kernel_;
  tune::slot_ref<> data_;
  tune::nd_range range_;
};

struct add_template {
  static const tune::autotuner<add_key, add_tuning> autotune;

  add_template(const tune::context& context, const add_key& key, const add_tuning& with)
      : size(static_cast<std::size_t>(key.size)),
        wgs(with.wgs),
        program(tune::compile(
            context,
            {"add.kernel", "KERNEL void add(GLOBAL uint* data) { data[get_global_id(0)] += 1u; }"},
            tune::defines(with))) {}
  add instantiate(const tune::command_queue& queue) const { return {queue, program, size, wgs}; }

  std::size_t size;
  int wgs;
  tune::program program;
};
const tune::autotuner<add_key, add_tuning> add_template::autotune{
    {.name = "ending.add", .version = 0, .test = {}},
    [](tune::tuning_session&, const add_key&) { return add_tuning{}; }};

struct everything {
  explicit everything(const tune::device& device)
      : context(device.create_context({.own = true})),
        queue(context.create_command_queue({.profiling = true})) {
    recorded.ensure_all_bound();
    instance->ensure_all_bound();
    instance->buffer("data").zero(queue);
    recorded.buffer("data").zero(queue);
  }

  // Frames until a candidate is kept.
  void work() {
    tune::tuning_news::shared().publish(
        {.function = {.name = "ending.add", .version = 0},
         .key = {tune::to_values(add_key{}), context.device().info().identity},
         .values = tune::to_values(add_tuning{.wgs = 32})});
    while (pipeline.counts().kept == 0) {
      instance.run();
      capture.run();
      queue.finish();
      pipeline.epoch();
    }
    last = queue.enqueue_marker();
    waited = tune::wait_for_events(*last);
    queue.finish();
  }

  tune::context context;
  tune::command_queue queue;
  tune::buffer memory = context.create_buffer(1 << 16);
  tune::pinned_memory pinned = context.create_pinned_memory(1 << 12);
  add_template made{context, {}, {}};
  add recorded = made.instantiate(queue);
  tune::captured_operation capture{recorded};
  tune::live_pipeline pipeline{tune::live_options{.compare = false}};
  tune::live<add_template> life{pipeline, context};
  tune::live_instance<add> instance = life.instantiate(
      queue,
      [](const add_template& with, const tune::command_queue& on) { return with.instantiate(on); });
  std::optional<tune::event> last;
  std::optional<tune::future<void>> waited;
};

std::optional<everything> all;

// Until a search is under way behind this program, which takes longer than any program of a test.
void tune_behind(const std::string& where, const std::string& log) {
  auto options = isolated::isolated_options(std::getenv("LIBTUNE_DB"));
  options.mode = tune::tuning_mode::behind;
  options.isolation = where == "in a child" ? tune::isolation_mode::on : tune::isolation_mode::off;
  options.watchdog.floor = std::chrono::minutes(5);
  options.behind = {.share = 1.0, .slice = std::chrono::seconds(1)};
  isolated::sample_autotune.graded(
      all->context, {.configurations = 10'000, .sleep_us = 3'000, .log = log}, options);
  while (isolated::read_log(log).size() < 5) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Raised by the program itself, where it interrupts no other call, a signal may end it like this.
void end_by_signal(int) { std::exit(0); }

// Returns if the end of main is to be the end.
void end(const std::string& how) {
  constexpr rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGTERM, how == "handled signal" ? end_by_signal : SIG_DFL);
  if (how == "exit") std::exit(3);
  if (how == "exit elsewhere") std::thread([] { std::exit(0); }).join();
  if (how == "exception") throw std::runtime_error("of the application");
  if (how.ends_with("signal")) std::raise(SIGTERM);
}

}  // namespace ending

#if defined(__SANITIZE_THREAD__)
// It reports every handler of a signal that releases memory.
extern "C" const char* __tsan_default_options();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_options() { return "report_signal_unsafe=0"; }
#endif

int main(int count, char** arguments) {
  tune::serve_if_worker(count, arguments);
  if (count < 3) return 2;
  ::alarm(600);
  ending::all.emplace(tune::candidate_devices().at(std::stoul(arguments[1])));
  ending::all->work();
  if (count > 4) ending::tune_behind(arguments[3], arguments[4]);
  ending::end(arguments[2]);
  return 0;
}
