// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program of the core, without any of its neighbours.
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
#include "libtune/measure/device_settings.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace alone_test {

struct search_counter final : tune::observer {
  void search_started(const tune::search_started_event&) override { ++searches; }
  int searches = 0;
};

/// A folder with a database that the environment names.
class scratch {
 public:
  scratch()
      : folder_(std::filesystem::temp_directory_path() /
                ("libtune_alone_" + std::to_string(::getpid()))) {
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
  std::vector<std::string> warnings;
  tune::detail::redirect_log([&](tune::log_level level, std::string_view text) {
    if (level == tune::log_level::warning) warnings.emplace_back(text);
  });
  tune::tuning_settings settings;
  settings.shared_store = "postgresql://host/tuning";
  settings.report = "page.html";
  const tune::detail::doors& doors = tune::detail::open_doors();
  for (int i = 0; i < 2; ++i) {
    CHECK(doors.find_source(settings) == nullptr);
    doors.search_begins(settings, {});
  }
  tune::detail::redirect_log({});
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("no part of libtune that speaks to servers") != std::string::npos);
  CHECK(warnings[1].find("'page.html' is not written") != std::string::npos);
}

TEST_CASE("a goal that needs a neighbour fails and names the metric") {
  if (tune::all_devices().empty()) return;
  const scratch here;
  const tune::context context = tune::create_some_context();
  tune::tuning_options options;
  options.goal = tune::tuning_goal{.objectives = {tune::minimise("energy")}};
  tune::set_tuning_options(context, options);
  CHECK_THROWS_WITH_AS(static_cast<void>(multiply_template{context}), doctest::Contains("energy"),
                       tune::error);
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
