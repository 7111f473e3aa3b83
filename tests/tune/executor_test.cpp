// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>

#include "libtune/base/error.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "tests/tune/scale.hpp"

namespace executor_test {

using tune::isolation_mode;

/// Answers without running anything.
class answering_host final : public tune::executor {
 public:
  int calls = 0;

 private:
  tune::tuned_values do_tune(const tune::tuning_task&) override {
    ++calls;
    return {tune::to_values(sample::scale_tuning{.wgs = 77}), std::nullopt};
  }
};

struct scene {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::function_identity function{.name = "host.test"};
  tune::tuning_function tunes = [](tune::tuning_session&, const auto&) {
    return tune::to_values(sample::scale_tuning{.wgs = 1});
  };
  tune::tuning_subject subject{.function = "host.test", .arguments = {}, .device = {}};
  tune::tuning_options options;

  std::string run() {
    return to_string(tune::run_tuning({.context = context,
                                       .function = function,
                                       .tunes = tunes,
                                       .subject = subject,
                                       .options = options})
                         .values);
  }
};

/// Installed for as long as it lives. Then there is none: the test main's is not of interest here.
struct installed {
  std::shared_ptr<answering_host> host = std::make_shared<answering_host>();
  installed() { tune::detail::install_executor(host); }
  ~installed() { tune::detail::install_executor(nullptr); }
};

TEST_CASE("a host runs what options do not keep from it") {
  const installed other;
  scene s;
  s.options.isolation = isolation_mode::automatic;
  CHECK(s.run() == "wgs=77, rows=1");
  s.options.isolation = isolation_mode::on;
  CHECK(s.run() == "wgs=77, rows=1");
  s.options.isolation = isolation_mode::off;
  CHECK(s.run() == "wgs=1, rows=1");
  CHECK(other.host->calls == 2);
}

TEST_CASE("without a host it is run here, unless options insist") {
  tune::detail::install_executor(nullptr);
  scene s;
  s.options.isolation = isolation_mode::automatic;
  CHECK(s.run() == "wgs=1, rows=1");
  s.options.isolation = isolation_mode::on;
  CHECK_THROWS_WITH_AS(s.run(), doctest::Contains("serve_if_worker"), tune::error);
}

TEST_CASE("a strict choice is all that is tried, even where nothing of it works") {
  scene s;
  s.options.isolation = isolation_mode::off;
  s.tunes = [](tune::tuning_session& session, const auto&) {
    tune::space<sample::scale_tuning> space;
    space.add(&sample::scale_tuning::wgs, {1, 2, 3, 4});
    return tune::to_values(session.tune(space, [](const sample::scale_tuning& t) -> tune::measure {
      if (t.wgs == 3) return nullptr;
      return tune::make_measure([wgs = t.wgs](int) { return wgs * 1e-6; });
    }));
  };
  const auto choose = [&](std::vector<int> all) {
    tune::trial_choice choice;
    for (const int wgs : all)
      choice.configurations.push_back(tune::to_values(sample::scale_tuning{.wgs = wgs}));
    return tune::tune_here({.context = s.context,
                            .function = s.function,
                            .tunes = s.tunes,
                            .subject = s.subject,
                            .options = s.options,
                            .choice = choice});
  };
  CHECK(to_string(choose({4, 2}).values) == "wgs=2, rows=1");
  CHECK(choose({4, 2}).score == tune::run_time(2000));
  CHECK_THROWS_AS(choose({3}), tune::error);
}

}  // namespace executor_test

namespace executor_test::of_nested_tunings {

using tune::detail::is_under_way;
using tune::detail::tuning_under_way;

tune::tuning_subject subject(const std::string& function, std::int64_t key = 1) {
  tune::tuning_subject made;
  made.function = function;
  made.arguments = {{"k", key}};
  made.device.identity.name = "device";
  return made;
}

TEST_CASE("a tuning is under way on its thread, for as long as it lives") {
  const auto outer = subject("outer");
  CHECK_FALSE(is_under_way(outer));
  {
    const tuning_under_way now(outer);
    CHECK(is_under_way(outer));
    bool on_another_thread = true;
    std::thread([&] { on_another_thread = is_under_way(outer); }).join();
    CHECK_FALSE(on_another_thread);
  }
  CHECK_FALSE(is_under_way(outer));
}

TEST_CASE("tunings inside of others are told apart by function, version, key and device") {
  const auto outer = subject("outer");
  const auto inner = subject("inner");
  const tuning_under_way first(outer);
  const tuning_under_way second(inner);
  CHECK(is_under_way(outer));
  CHECK(is_under_way(inner));
  CHECK_FALSE(is_under_way(subject("outer", 2)));
  CHECK_FALSE(is_under_way(subject("other")));
  auto other = outer;
  other.version = 1;
  CHECK_FALSE(is_under_way(other));
  other = outer;
  other.device.identity.driver_version = "2";
  CHECK_FALSE(is_under_way(other));
}

}  // namespace executor_test::of_nested_tunings
