// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches for a kernel that includes a file, by the compiler of a real device.
#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/application.hpp"

namespace included_kernel_test {

using tune::testing::scoped_environment;
using tune::testing::test_mode;

struct power_key {
  int size = 1024;
};
struct power_tuning {
  int wgs = 16;
};
LIBTUNE_FIELDS(power_key, size)
LIBTUNE_FIELDS(power_tuning, wgs)

class counter final : public tune::observer {
 public:
  std::size_t compiled = 0;  // by helpers, in the last search
  std::vector<tune::trial> trials;

 private:
  void trial_finished(const tune::tuning_subject&, const tune::trial& done) override {
    trials.push_back(done);
  }
  void progressed(const tune::tuning_subject&, const tune::search_progress& now) override {
    compiled = now.compiled;
  }
};

struct application {
  explicit application(const tune::device& device) : context(device.create_context()) {
    write("#define POWER(x) ((x) * (x))\n");
    tune::set_tuning_options(context,
                             {.isolation = tune::isolation_mode::off, .observers = {events}});
  }

  void write(const std::string& text) const { std::ofstream(folder / "power.h") << text; }

  tune::program compile(const power_tuning& tuning) const {
    const tune::kernel_source source{"power.kernel",
                                     R"(
%:include "power.h"
#include "twice.h"
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void power(GLOBAL float* data) {
  data[get_global_id(0)] = TWICE(POWER(data[get_global_id(0)]));
})",
                                     {{"twice.h", "#define TWICE(x) (2 * (x))\n"}}};
    return tune::compile(context, source, tune::defines(tuning),
                         {.flags = {"-I" + folder.path().string()}});
  }

  /// What a template's constructor does.
  void construct() {
    const power_tuning tuning = autotune(context);
    static_cast<void>(compile(tuning));
  }
  void start_again() {
    sample::forget_results();
    events->compiled = 0;
    events->trials.clear();
  }

  power_tuning search(tune::tuning_session& session, const power_key& key) const {
    tune::tuning_command_queue queue = context.create_tuning_command_queue();
    const auto size = static_cast<std::size_t>(key.size);
    const tune::buffer data = context.create_buffer(size * sizeof(float));
    queue.zero(data, data.size_bytes());
    tune::space<power_tuning> space;
    space.add(&power_tuning::wgs, {8, 32});
    return session.tune(space, [&](const power_tuning& tuning) {
      auto kernel = std::make_shared<tune::kernel>(compile(tuning).create_kernel("power"));
      kernel->set_arguments(data);
      return tune::make_measure(queue, [=]() mutable {
        queue.enqueue(*kernel, {{size}, {static_cast<std::size_t>(tuning.wgs)}});
      });
    });
  }

  tune::testing::test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  scoped_environment database{"LIBTUNE_DB", (folder / "tuning.db").c_str()};
  scoped_environment programs{"LIBTUNE_CACHE", (folder / "programs").c_str()};
  scoped_environment workers{"LIBTUNE_WORKERS", "2"};
  std::shared_ptr<counter> events = std::make_shared<counter>();
  tune::context context;
  tune::autotuner<power_key, power_tuning> autotune{
      {.name = "included_kernel_test.power", .version = 0, .test = {}},
      [this](tune::tuning_session& session, const power_key& key) { return search(session, key); }};
};

LIBTUNE_DEVICE_TEST_CASE("a kernel that includes a file is tuned with workers and cache", device) {
  application app(device);
  tune::testing::captured_errors errors;
  app.construct();
  CHECK(app.events->compiled == 2);
  REQUIRE(app.events->trials.size() == 2);
  for (const tune::trial& tried : app.events->trials) {
    CHECK(tried.outcome == tune::outcome::measured);
    REQUIRE(tried.programs.size() == 1);
    CHECK(tried.programs[0].size() == 33);
  }
  app.start_again();
  app.construct();
  CHECK(errors.count("has changed") == 0);
  app.start_again();
  const scoped_environment force("LIBTUNE_MODE", "force");
  app.construct();
  CHECK(app.events->trials.size() == 2);
  CHECK(app.events->compiled == 0);
  CHECK(errors.count("include files") == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a header that changes between two uses is warned of", device) {
  application app(device);
  app.construct();
  app.start_again();
  app.write("#define POWER(x) ((x) * (x) * (x))\n");
  tune::testing::captured_errors errors;
  app.construct();
  CHECK(app.events->trials.empty());
  CHECK(errors.count("has changed since the result") == 1);
}

}  // namespace included_kernel_test
