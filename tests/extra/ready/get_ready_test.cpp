// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Programs on a fake device that get ready in a given time.
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/extra/behind.hpp"
#include "libtune/extra/ready.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "tests/tune/application.hpp"

namespace get_ready_test {

using namespace std::chrono_literals;
using sample::fastest;
using sample::scale_key;
using sample::scale_tuning;
using tune::key_readiness;
using tune::testing::scoped_environment;

constexpr int broken = 13;  // the size of a key whose search fails

std::vector<int>& searched() {
  static std::vector<int> sizes;
  return sizes;
}

const tune::autotuner<scale_key, scale_tuning>& autotune() {
  static const tune::autotuner<scale_key, scale_tuning> function{
      {.name = "ready.scale", .test = sample::test_default},
      [](tune::tuning_session& session, const scale_key& key) {
        searched().push_back(key.size);
        if (key.size == broken) throw std::runtime_error("it is broken");
        return sample::counted_autotuner::search(session, key);
      }};
  return function;
}

/// An operation whose class declares its key. Its time is that of its tuning, for each 64 items.
class framed final : public tune::operation {
 public:
  framed(const tune::command_queue& queue, int size)
      : operation(queue),
        size_(size),
        tuning_(autotune()(queue.context(), {.size = size})),
        kernel_(sample::compile(queue.context(), tuning_).create_kernel("scale")),
        data_(add_slot("data", {tune::dimension(std::size_t{4096})}, tune::dtype::float32)) {}

  const scale_tuning& tuning() const { return tuning_; }

 private:
  void do_run() override {
    enqueue(kernel_, {{static_cast<std::size_t>(size_)}, {1}}, data_, 2.0F);
  }
  std::vector<tune::named_value> do_parameters() const override {
    return {{"size", std::int64_t{size_}}};
  }

  int size_;
  scale_tuning tuning_;
  tune::kernel kernel_;
  tune::io_slot& data_;
};

const tune::tuned_by<framed> framed_is_tuned{
    autotune(), [](const tune::remade_parameters& from) {
      return scale_key{.size = static_cast<int>(from.get<std::int64_t>("size"))};
    }};

/// A program with an operation for each size.
struct program : sample::application {
  explicit program(std::vector<int> of) : sizes(std::move(of)) {
    searched().clear();
    fake.set_time([](const tune::testing::fake_launch& launch) {
      const auto items = static_cast<int>(launch.range().global.x);
      return std::chrono::nanoseconds(items *
                                      (1000 * launch.integer("wgs") + 10 * launch.integer("rows")));
    });
    context = fake.device().create_context();
    tune::set_tuning_options(context,
                             {.isolation = tune::isolation_mode::off,
                              .behind = {.share = 1.0, .slice = std::chrono::microseconds(1s)}});
  }
  ~program() { CHECK(tune::wait_for_tuning_behind(60s)); }

  void build() {
    ++builds;
    const tune::command_queue queue =
        profiles ? context.create_tuning_command_queue() : context.create_command_queue();
    operations.clear();
    for (const int size : sizes) operations.push_back(std::make_unique<framed>(queue, size));
  }
  std::vector<tune::frame_part> frame() {
    std::vector<tune::frame_part> parts;
    for (const auto& each : operations) parts.push_back({each.get()});
    return parts;
  }
  tune::readiness_report get_ready(std::chrono::nanoseconds within) {
    return tune::get_ready(context, [this] { build(); },
                           {.within = within, .frame = [this] { return frame(); }});
  }
  std::vector<key_readiness> states(const tune::readiness_report& report) const {
    std::vector<key_readiness> all;
    for (const tune::ready_key& each : report.keys) all.push_back(each.state);
    return all;
  }

  std::vector<int> sizes;
  tune::testing::fake_device fake = sample::make_device(
      {.identity = {"ready device", "fake platform", "1.0"}, .kind = tune::device_kind::cpu});
  std::vector<std::unique_ptr<framed>> operations;
  bool profiles = true;  // its queue does
  int builds = 0;
};

TEST_CASE("the key with the greatest share of a frame is tuned first, and all before the end") {
  program of({64, 640, 128});
  const tune::readiness_report report = of.get_ready(1h);
  CHECK(searched() == std::vector<int>{640, 128, 64});
  CHECK(of.builds == 2);
  for (const auto& each : of.operations) CHECK(each->tuning() == fastest);
  REQUIRE(report.keys.size() == 3);
  CHECK(report.has_shares);
  CHECK(report.limit == 1h);
  CHECK(report.keys[0].arguments == tune::to_values(scale_key{.size = 640}));
  CHECK(report.keys[0].share == doctest::Approx(640.0 / 832));
  CHECK(report.keys[1].share == doctest::Approx(128.0 / 832));
  for (const tune::ready_key& each : report.keys) {
    CHECK(each.function == "ready.scale");
    CHECK(each.state == key_readiness::tuned);
    CHECK(each.cost == 0);
  }
}

TEST_CASE("the runs of an operation in a frame count") {
  program of({64, 128});
  const auto report =
      tune::get_ready(of.context, [&] { of.build(); }, {.within = 1h, .frame = [&] {
                                                          return std::vector<tune::frame_part>{
                                                              {of.operations[0].get(), 6},
                                                              {of.operations[1].get(), 1}};
                                                        }});
  CHECK(searched() == std::vector<int>{64, 128});
  CHECK(report.keys[0].share == doctest::Approx(0.75));
}

TEST_CASE("a queue without profiling is timed by the clock of the host") {
  program of({64, 128});
  of.profiles = false;
  const auto report = of.get_ready(1h);
  CHECK(report.has_shares);
  CHECK(report.keys[0].share + report.keys[1].share == doctest::Approx(1));
  CHECK(of.states(report) == std::vector(2, key_readiness::tuned));
}

TEST_CASE("a program that starts again is ready at once") {
  program of({64, 128});
  of.get_ready(1h);
  sample::forget_results();
  searched().clear();
  of.builds = 0;
  const auto report = of.get_ready(1h);
  CHECK(searched().empty());
  CHECK(of.builds == 1);
  CHECK(of.states(report) == std::vector(2, key_readiness::stored));
  CHECK(report.cost() == 0);
  for (const auto& each : of.operations) CHECK(each->tuning() == fastest);
}

TEST_CASE("without time keys are served, listed, noted, and tuned behind the program") {
  program of({64, 640});
  const auto report = of.get_ready(1ms);
  CHECK(of.builds == 1);
  for (const auto& each : of.operations) CHECK(each->tuning() == sample::test_default);
  CHECK(of.states(report) == std::vector(2, key_readiness::not_tuned));
  CHECK(report.keys[0].share > report.keys[1].share);
  CHECK(report.keys[0].cost == doctest::Approx(0.5 * report.keys[0].share));
  CHECK(report.cost() == doctest::Approx(0.5));
  CHECK(report.keys[0].is_tuned_behind);
  CHECK(to_string(report).find("not tuned") != std::string::npos);
  CHECK(tune::missed_keys(tune::missed_keys::path_beside(of.path)).read().keys.size() == 2);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(searched() == std::vector<int>{640, 64});
  of.build();
  for (const auto& each : of.operations) CHECK(each->tuning() == fastest);
}

TEST_CASE("a key whose search fails is reported, and the others are tuned") {
  program of({broken, 64});
  const auto report = tune::get_ready(of.context, [&] { of.build(); }, {.within = 1h});
  CHECK(searched() == std::vector<int>{broken, 64});
  REQUIRE(report.keys.size() == 2);
  CHECK_FALSE(report.has_shares);
  CHECK(report.keys[0].state == key_readiness::failed);
  CHECK(report.keys[0].reason.find("it is broken") != std::string::npos);
  CHECK(report.keys[0].cost == doctest::Approx(0.25));
  CHECK(report.keys[1].state == key_readiness::tuned);
  CHECK(of.operations[1]->tuning() == fastest);
}

TEST_CASE("a search that its time ends is reported, with the rest of its gain") {
  program of({64});
  const scoped_environment budget("LIBTUNE_BUDGET", "1 us");
  const auto report = of.get_ready(1h);
  CHECK(of.states(report) == std::vector{key_readiness::partly});
  CHECK(report.cost() > 0);
  CHECK(report.cost() <= 0.5);
  CHECK(of.builds == 2);
  CHECK(of.operations[0]->tuning() != sample::test_default);
  CHECK(to_string(report).find("0 of 1 keys are tuned, 1 partly") != std::string::npos);
  // The next start does not wait for more.
  sample::forget_results();
  CHECK(of.states(of.get_ready(1h)) == std::vector{key_readiness::stored});
  CHECK(searched().size() == 1);
}

TEST_CASE("the environment sets the time, or leaves each key to its first use") {
  program of({64, 640});
  SUBCASE("a time") {
    const scoped_environment ready("LIBTUNE_READY", "2 h");
    CHECK(of.get_ready(1ms).limit == 2h);
    CHECK(searched() == std::vector<int>{640, 64});
  }
  SUBCASE("off") {
    const scoped_environment ready("LIBTUNE_READY", "off");
    const auto report = of.get_ready(1ms);
    CHECK(report.keys.empty());
    CHECK(of.builds == 1);
    CHECK(searched() == std::vector<int>{64, 640});
  }
  SUBCASE("the mode default, which tunes nothing") {
    const scoped_environment mode("LIBTUNE_MODE", "default");
    CHECK(of.get_ready(1h).keys.empty());
    CHECK(searched().empty());
  }
  SUBCASE("nonsense") {
    const scoped_environment ready("LIBTUNE_READY", "soon");
    CHECK_THROWS_WITH_AS(of.get_ready(1h), doctest::Contains("LIBTUNE_READY"),
                         tune::environment_error);
    CHECK(of.builds == 0);
  }
}

TEST_CASE("the options of the context are those of before afterwards, also after an error") {
  program of({64});
  tune::set_tuning_options(of.context, {.wait = 7s, .isolation = tune::isolation_mode::off});
  CHECK_THROWS_AS(tune::get_ready(of.context, [&] { throw std::runtime_error("no such file"); }),
                  std::runtime_error);
  CHECK(tune::tuning_options_of(of.context)->wait == 7s);
  CHECK_FALSE(tune::tuning_options_of(of.context)->mode);
  of.get_ready(1h);
  CHECK(tune::tuning_options_of(of.context)->wait == 7s);
  CHECK_FALSE(tune::tuning_options_of(of.context)->mode);
}

TEST_CASE("in the mode force keys with a result are tuned again") {
  program of({64});
  of.get_ready(1h);
  const scoped_environment mode("LIBTUNE_MODE", "force");
  const auto report = of.get_ready(1h);
  CHECK(searched() == std::vector<int>{64, 64});
  CHECK(of.states(report) == std::vector{key_readiness::tuned});
}

TEST_CASE("in a test the program is built once, with test defaults") {
  program of({64});
  const tune::testing::test_mode_guard in_test(tune::testing::test_mode::defaults);
  CHECK(of.get_ready(1h).keys.empty());
  CHECK(of.builds == 1);
  CHECK(of.operations[0]->tuning() == sample::test_default);
}

}  // namespace get_ready_test
