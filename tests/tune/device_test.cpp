// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The whole path of a first and a second use, with every kind of bad configuration, on real
// devices.
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "libtune/kernel/compile.hpp"
#include "libtune/measure/peaks.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/verify/answer.hpp"

namespace on_device {

enum class flaw { none, wrong, does_not_compile, too_large, throws, skipped };

struct key {
  int size = 1000;
};
struct tuning {
  int wgs = 32;
  on_device::flaw flaw = on_device::flaw::none;
};

}  // namespace on_device

LIBTUNE_ENUM(on_device::flaw, none, wrong, does_not_compile, too_large, throws, skipped)
LIBTUNE_FIELDS(on_device::key, size)
LIBTUNE_FIELDS(on_device::tuning, wgs, flaw)

namespace {

using on_device::flaw;
using on_device::tuning;

const tune::kernel_source source{"add_one.kernel", R"(
#ifdef BROKEN
this is not a kernel
#endif
KERNEL void add_one(GLOBAL int* data, int size) {
  if (get_global_id(0) < size) data[get_global_id(0)] += STEP;
})"};

class add_one final : public tune::operation {
 public:
  add_one(const tune::command_queue& queue, const tuning& tuned, std::size_t size)
      : operation(queue),
        kernel_(compile(queue.context(), tuned)),
        data_(add_slot("data", {size}, tune::dtype::int32)),
        size_(static_cast<int>(size)),
        wgs_(tuned.flaw == flaw::too_large ? 2 * queue.device().max_work_group_size()
                                           : static_cast<std::size_t>(tuned.wgs)) {}

 private:
  static tune::kernel compile(const tune::context& context, const tuning& tuned) {
    tune::defines macros;
    macros.add("STEP", tuned.flaw == flaw::wrong ? 2 : 1);
    if (tuned.flaw == flaw::does_not_compile) macros.add("BROKEN", 1);
    return tune::compile(context, source, macros).create_kernel("add_one");
  }
  void do_run() override {
    enqueue(kernel_, {{tune::round_up(static_cast<std::size_t>(size_), wgs_)}, {wgs_}}, data_,
            size_);
  }

  tune::kernel kernel_;
  tune::io_slot& data_;
  int size_;
  std::size_t wgs_;
};

tuning search(tune::tuning_session& session, const on_device::key& key) {
  const auto size = static_cast<std::size_t>(key.size);
  tune::host_array<int> expected({size});
  expected.fill(1);
  tune::answer answer;
  answer.add("data", expected);
  tune::space<tuning> space;
  space.add(&tuning::wgs, {16, 64});
  space.add(&tuning::flaw, {flaw::wrong, flaw::does_not_compile, flaw::too_large, flaw::throws,
                            flaw::skipped, flaw::none});
  auto queue = session.context().create_tuning_command_queue();
  return session.tune(space, [&](const tuning& tuned) -> tune::measure {
    if (tuned.flaw == flaw::throws) throw std::runtime_error("a bug of the author's");
    if (tuned.flaw == flaw::skipped) return nullptr;
    add_one operation(queue, tuned, size);
    operation.ensure_all_bound();
    operation.buffer("data").zero(queue);
    auto check = answer.check(queue, {{"data", operation.buffer("data")}});
    return tune::make_measure(queue, std::move(operation)).check(std::move(check));
  });
}

/// Counts outcomes and hits.
class counter final : public tune::observer {
 public:
  void looked_up(const tune::lookup_event& event) override {
    hits += event.grade == tune::lookup_grade::exact ? 1 : 0;
  }
  void trial_finished(const tune::tuning_subject&, const tune::trial& finished) override {
    ++outcomes[finished.outcome];
  }
  std::map<tune::outcome, int> outcomes;
  int hits = 0;
};

// The lower bounds are those of one core of an old CPU, the upper ones are beyond any device.
LIBTUNE_DEVICE_TEST_CASE("a device has a peak of float32 and of int32", device) {
  const tune::context context = device.create_context();
  for (const auto by : {tune::arithmetic::float32, tune::arithmetic::int32}) {
    const tune::wanted_peaks wanted{.memory = false, .by = by};
    const double rate = tune::peaks_of(context, wanted).operations_per_second;
    CHECK(rate > 1e9);
    CHECK(rate < 1e15);
    CHECK(tune::peaks_of(context, wanted).operations_per_second == rate);
    CHECK(tune::renew_peaks(context, wanted).operations_per_second >= rate);
  }
}

}  // namespace

LIBTUNE_DEVICE_TEST_CASE("bad configurations cost themselves, a good one wins and is found again",
                         device) {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const tune::autotuner<on_device::key, tuning> autotune{{.name = "on_device.autotune"}, search};
  const tune::context context = device.create_context();
  const auto counts = std::make_shared<counter>();
  tune::tuning_options options;
  options.database = (folder / "tuning.db").string();
  options.measure = tune::measure_settings{.time_limit = std::chrono::milliseconds(1)};
  options.observers = {counts};
  tune::set_tuning_options(context, options);

  CHECK(autotune(context).flaw == flaw::none);
  using tune::outcome;
  CHECK(counts->outcomes[outcome::measured] == 2);
  CHECK(counts->outcomes[outcome::wrong_result] == 2);
  CHECK(counts->outcomes[outcome::compile_failed] == 2);
  CHECK(counts->outcomes[outcome::over_limit] == 2);
  CHECK(counts->outcomes[outcome::failed] == 2);
  CHECK(counts->outcomes[outcome::skipped] == 2);
  CHECK(counts->hits == 0);
  CHECK(autotune(context).flaw == flaw::none);
  CHECK(counts->hits == 1);
}

LIBTUNE_DEVICE_TEST_CASE("the error of a search has the compiler's words and the work groups",
                         device) {
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const tune::kernel_source fixed{"fixed.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(32, 1, 1) void fixed(GLOBAL int* data) { data[get_global_id(0)] = 1; })"};
  const tune::autotuner<on_device::key, tuning> autotune{
      {.name = "on_device.failing"}, [&](tune::tuning_session& session, const on_device::key&) {
        auto queue = session.context().create_tuning_command_queue();
        tune::space<tuning> space;
        space.add(&tuning::wgs, {16, 64});
        space.add(&tuning::flaw, {flaw::does_not_compile, flaw::wrong});
        return session.tune(space, [&](const tuning& tuned) -> tune::measure {
          if (tuned.flaw == flaw::does_not_compile) {
            return tune::make_measure(queue, add_one(queue, tuned, 64));
          }
          auto kernel = tune::compile(session.context(), fixed).create_kernel("fixed");
          const tune::buffer data = session.context().create_buffer(256 * sizeof(int));
          kernel.set_arguments(data);
          const auto wgs = static_cast<std::size_t>(tuned.wgs);
          return tune::make_measure(queue, [queue, kernel = std::move(kernel), wgs]() mutable {
            queue.enqueue(kernel, {{256}, {wgs}});
          });
        });
      }};
  const tune::context context = device.create_context();
  tune::tuning_options options;
  options.database = (folder / "tuning.db").string();
  tune::set_tuning_options(context, options);
  try {
    autotune(context);
    FAIL("a configuration was measured");
  } catch (const tune::tuning_failed_error& failure) {
    const std::string text = failure.what();
    CAPTURE(text);
    CHECK(text.find("2 x compile failed: 'add_one.kernel' does not compile: add_one.kernel:3") !=
          std::string::npos);
    CHECK(text.find("2 x launch failed: ") != std::string::npos);
    CHECK(text.find("it requires a work group of 32 x 1 x 1 (REQD_WORK_GROUP_SIZE) and was "
                    "launched with 16 x 1 x 1 (the first is wgs=16, flaw=wrong)") !=
          std::string::npos);
  }
}
