// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program of the core, without any of its neighbours.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "examples/multiply/multiply.hpp"
#include "libtune/base/log.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace alone_test {

struct search_counter final : tune::observer {
  void search_started(const tune::search_started_event&) override { ++searches; }
  void trial_finished(const tune::tuning_subject&, const tune::trial&) override { ++trials; }
  int searches = 0;
  int trials = 0;
};

/// The warnings during its life.
class heard_warnings {
 public:
  heard_warnings() {
    tune::detail::redirect_log([this](tune::log_level level, std::string_view text) {
      if (level == tune::log_level::warning) all.emplace_back(text);
    });
  }
  ~heard_warnings() { tune::detail::redirect_log({}); }
  heard_warnings(const heard_warnings&) = delete;
  heard_warnings& operator=(const heard_warnings&) = delete;

  std::vector<std::string> all;
};

/// A folder with a database that the environment names, another one each time: a process remembers
/// what it has found in a database.
class scratch {
 public:
  scratch()
      : folder_(std::filesystem::temp_directory_path() /
                ("libtune_alone_" + std::to_string(::getpid()) + '_' + std::to_string(++made))) {
    std::filesystem::create_directories(folder_);
    ::setenv("LIBTUNE_DB", (folder_ / "tuning.db").c_str(), 1);
    ::setenv("LIBTUNE_CACHE", (folder_ / "cache").c_str(), 1);
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

 private:
  static inline int made = 0;
  std::filesystem::path folder_;
};

TEST_CASE("the core alone tunes an operation, stores the result, finds it and runs") {
  if (tune::all_devices().empty()) return;
  const scratch here;
  const tune::context context = tune::create_some_context();
  const auto counter = std::make_shared<search_counter>();
  tune::tuning_options options;
  options.observers = {counter};
  tune::set_tuning_options(context, options);
  tune::command_queue queue = context.create_command_queue();
  for (int made = 0; made < 2; ++made) {
    auto operation = multiply_template(context).instantiate(queue, 1000);
    operation.ensure_all_bound();
    tune::host_array<float> numbers({1000});
    numbers.fill(21.0F);
    operation.buffer("data").set(queue, numbers);
    operation.run();
    CHECK(operation.buffer("data").get<float>(queue)(999) == 42.0F);
    CHECK(counter->searches == 1);
  }
}

TEST_CASE("the core alone says once what it cannot do that options ask for, and goes on") {
  const heard_warnings heard;
  tune::tuning_settings settings;
  settings.shared_store = "postgresql://host/tuning";
  settings.report = "page.html";
  const tune::detail::doors& doors = tune::detail::open_doors();
  std::vector<std::shared_ptr<tune::observer>> observers;
  for (int i = 0; i < 2; ++i) {
    CHECK(doors.find_source(settings) == nullptr);
    doors.add_observers(observers, settings, {}, true);
  }
  CHECK(observers.empty());
  REQUIRE(heard.all.size() == 2);
  CHECK(heard.all[0].find("link libtune::shared and include libtune/extra/shared.hpp") !=
        std::string::npos);
  CHECK(heard.all[1].find("'page.html' is not written") != std::string::npos);
  CHECK(heard.all[1].find("link libtune::console and include libtune/console.hpp") !=
        std::string::npos);
}

TEST_CASE("in the mode behind the core alone uses the declared default, and warns once") {
  if (tune::all_devices().empty()) return;
  const scratch here;
  const heard_warnings heard;
  const tune::context context = tune::create_some_context();
  const auto counter = std::make_shared<search_counter>();
  tune::tuning_options options;
  options.mode = tune::tuning_mode::behind;
  options.observers = {counter};
  tune::set_tuning_options(context, options);
  for (int made = 0; made < 2; ++made) {
    CHECK(multiply_template(context).tuning.wgs == 32);
  }
  CHECK(counter->searches == 0);
  const auto is_of_behind = [](const std::string& text) {
    return text.find("nothing is tuned in the mode behind") != std::string::npos &&
           text.find("libtune::behind") != std::string::npos;
  };
  CHECK(std::ranges::count_if(heard.all, is_of_behind) == 1);
}

TEST_CASE("a goal that needs a neighbour is refused before the first trial, with its name") {
  if (tune::all_devices().empty()) return;
  const scratch here;
  const tune::context context = tune::create_some_context();
  const auto counter = std::make_shared<search_counter>();
  tune::tuning_options options;
  options.observers = {counter};
  for (const tune::tuning_goal& goal :
       {tune::tuning_goal{.objectives = {tune::minimise("energy")}},
        tune::tuning_goal{.constraints = {tune::at_most("power", 100)}}}) {
    CAPTURE(to_string(goal));
    options.goal = goal;
    tune::set_tuning_options(context, options);
    CHECK_THROWS_WITH_AS(static_cast<void>(multiply_template{context}),
                         doctest::Contains("link libtune::sensors"), tune::error);
  }
  CHECK(counter->trials == 0);
}

TEST_CASE("an application that measures energy itself needs no neighbour") {
  if (tune::all_devices().empty()) return;
  const scratch here;
  const tune::context context = tune::create_some_context();
  tune::tuning_options options;
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("energy")}};
  options.metrics.computed = {
      {.name = "energy",
       .compute = [](const tune::trial& of) { return of.samples.median().count(); },
       .unit = "J"}};
  tune::set_tuning_options(context, options);
  CHECK_NOTHROW(static_cast<void>(multiply_template{context}));
}

TEST_CASE("doors behind which there is nothing set no clocks, and say so") {
  auto& setter = tune::detail::open_doors().setter();
  tune::device_info info;
  info.identity.name = "the card";
  CHECK_NOTHROW(setter.set(info, {}));
  CHECK_THROWS_WITH_AS(setter.set(info, {.graphics_clock_mhz = 1000}),
                       doctest::Contains("'the card'"), tune::error);
}

}  // namespace alone_test
