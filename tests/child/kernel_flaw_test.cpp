// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that write far out of bounds, or never end, among good ones, on real devices.
#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "tests/child/event_text.hpp"
#include "tests/child/sample_tuner.hpp"

namespace kernel_flaw {

enum class flaw { none, wild_write, endless };

struct key {
  int size = 4096;
};
struct tuning {
  int wgs = 32;
  kernel_flaw::flaw flaw = kernel_flaw::flaw::none;
};

}  // namespace kernel_flaw

LIBTUNE_ENUM(kernel_flaw::flaw, none, wild_write, endless)
LIBTUNE_FIELDS(kernel_flaw::key, size)
LIBTUNE_FIELDS(kernel_flaw::tuning, wgs, flaw)

namespace {

using kernel_flaw::flaw;
using kernel_flaw::tuning;

const tune::kernel_source source{"flawed.kernel", R"(
KERNEL void flawed(GLOBAL int* data) {
#if FLAW == 1
  data[((size_t)1 << 44) + get_global_id(0)] = 1;
#elif FLAW == 2
  volatile GLOBAL int* watched = data;
  while (watched[get_global_id(0)] == 0) {}
#else
  data[get_global_id(0)] += 1;
#endif
})"};

class flawed final : public tune::operation {
 public:
  flawed(const tune::command_queue& queue, const tuning& tuned, std::size_t size)
      : operation(queue),
        kernel_(tune::compile(queue.context(), source,
                              tune::defines().add("FLAW", static_cast<int>(tuned.flaw)))
                    .create_kernel("flawed")),
        data_(add_slot("data", {size}, tune::dtype::int32)),
        range_{{size}, {static_cast<std::size_t>(tuned.wgs)}} {}

 private:
  void do_run() override { enqueue(kernel_, range_, data_); }

  tune::kernel kernel_;
  tune::io_slot& data_;
  tune::nd_range range_;
};

const tune::autotuner<kernel_flaw::key, tuning> autotune{
    {.name = "isolated.kernel_flaw"},
    [](tune::tuning_session& session, const kernel_flaw::key& key) {
      tune::space<tuning> space;
      space.add(&tuning::wgs, {32, 64});
      space.add(&tuning::flaw, {flaw::none, flaw::wild_write, flaw::endless});
      space.restrict([](const tuning& t) { return t.flaw == flaw::none || t.wgs == 32; },
                     "flaws come with 32");
      return session.tune(space, [&](const tuning& tuned) -> tune::measure {
        auto queue = session.context().create_tuning_command_queue();
        flawed operation(queue, tuned, static_cast<std::size_t>(key.size));
        operation.ensure_all_bound();
        operation.buffer("data").zero(queue);
        return tune::make_measure(queue, std::move(operation));
      });
    }};

/// What became of the configuration with the flaw.
tune::trial trial_of(const isolated::event_text& events, const std::string& flaw) {
  const auto found = std::ranges::find_if(events.trials, [&](const tune::trial& item) {
    return to_string(item.configuration).ends_with("flaw=" + flaw);
  });
  REQUIRE(found != events.trials.end());
  return *found;
}

}  // namespace

LIBTUNE_DEVICE_TEST_CASE("kernels that go wrong take a child with them, and this process none",
                         device) {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const auto events = std::make_shared<isolated::event_text>();
  auto options = isolated::isolated_options((folder / "tuning.db").string());
  options.watchdog.floor = std::chrono::seconds(2);
  options.compile_time = std::chrono::minutes(1);
  options.observers = {events};
  const auto context = device.create_context();
  auto queue = context.create_command_queue();

  CHECK(autotune(context, {}, options).flaw == flaw::none);
  const tune::trial endless = trial_of(*events, "endless");
  CHECK(outcome_name(endless.outcome) == "timed out");
  const tune::trial wild = trial_of(*events, "wild_write");
  CAPTURE(wild.reason);
  CHECK(outcome_name(wild.outcome) ==
        (device.kind() == tune::device_kind::cpu ? "crashed" : "device fault"));
  REQUIRE(events->finished.size() == 1);
  CHECK(events->finished.front().trials.size() == 4);

  // The parent's own context has seen nothing of it.
  flawed good(queue, {.wgs = 64}, 4096);
  good.ensure_all_bound();
  good.buffer("data").zero(queue);
  good.run();
  queue.finish();
}
