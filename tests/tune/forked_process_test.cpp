// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process that was made by fork, without exec, after libtune was used in its parent.
#include "libtune/base/forked_process.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/session.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/samples.hpp"
#include "tests/tune/scale.hpp"

namespace forked_process_test {

using namespace std::chrono_literals;
using tune::tuning_database;
using tune::testing::in_forked_child;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

constexpr tune::database_waits patient{.read = 60s, .write = 60s};

/// What an application has of libtune.
struct application {
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::tuning_options options{.database = (folder / "tuning.db").string()};
  tune::testing::fake_device fake = sample::make_device();
  std::optional<tune::context> context = fake.device().create_context();
  std::unique_ptr<sample::counted_autotuner> counted =
      std::make_unique<sample::counted_autotuner>();
  std::unique_ptr<tuning_database> database =
      std::make_unique<tuning_database>((folder / "own.db").string(), patient);
  std::unique_ptr<tune::database_reader> reader =
      std::make_unique<tune::database_reader>((folder / "own.db").string());

  bool tunes(int size) const {
    return counted->autotune(*context, {.size = size}, options) == sample::fastest;
  }
  bool stores(std::int64_t rows) const {
    database->store(sample_function(), sample_key(rows), sample_tuning(rows), 1);
    const auto found = database->find(sample_function(), sample_key(rows));
    return found && found->values == sample_tuning(rows);
  }
  void end() {
    reader.reset();
    database.reset();
    counted.reset();
    context.reset();
  }
};

/// Whether a door says why it is shut, and what to do.
template <class Door>
bool is_refused(const Door& door) {
  try {
    door();
  } catch (const tune::forked_process_error& failure) {
    const std::string text = failure.what();
    return text.find("made by fork") != std::string::npos && text.find("exec") != std::string::npos;
  }
  return false;
}

/// How many doors are open.
int open_doors(const application& app) {
  int open = 0;
  const auto meet = [&](const auto& door) { open += is_refused(door) ? 0 : 1; };
  meet([&] { static_cast<void>(app.tunes(64)); });
  meet([&] { static_cast<void>(app.tunes(65)); });
  meet([&] { static_cast<void>(app.stores(2)); });
  meet([&] { static_cast<void>(app.database->find(sample_function(), sample_key(1))); });
  meet([&] { static_cast<void>(app.reader->has_tables()); });
  meet([&] { const tuning_database another((app.folder / "another.db").string()); });
  meet([&] { static_cast<void>(sample::compile(*app.context, {})); });
  meet([&] { static_cast<void>(app.context->create_program({"a", "KERNEL", {}})); });
  meet([&] { static_cast<void>(app.context->create_buffer(4)); });
  meet([&] { static_cast<void>(app.context->create_command_queue()); });
  meet([&] { static_cast<void>(app.fake.device().create_context()); });
  return open;
}

TEST_CASE("a child finds every door shut and ends as usual, and its parent goes on") {
  application app;
  CHECK(app.tunes(64));
  CHECK(app.stores(1));
  CHECK(app.reader->has_tables());
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(in_forked_child([&] {
            const int open = open_doors(app);
            if (round == 1) app.end();
            return open;
          }) == 0);
    CHECK(app.tunes(100 + round));
    CHECK(app.stores(100 + round));
    CHECK(app.reader->has_tables());
  }
  CHECK(app.counted->searches == 3);
}

TEST_CASE("a child of a child is no better") {
  const application app;
  CHECK(app.stores(1));
  CHECK(in_forked_child([&] {
          return in_forked_child([&] { return open_doors(app); }) == 0 ? open_doors(app) : 1;
        }) == 0);
}

// The address sanitizer of GCC 12 leaves its own locks locked in such a child.
#ifdef __SANITIZE_ADDRESS__
constexpr bool locks_stay = true;
#else
constexpr bool locks_stay = false;
#endif

TEST_CASE("a child ends although threads of its parent were at work" * doctest::skip(locks_stay)) {
  application app;
  CHECK(app.stores(0));
  std::atomic<bool> done{false};
  std::atomic<int> faults{0};
  {
    const auto work = [&](int number) {
      for (int i = 0; !done; ++i) {
        if (!app.stores(number) || !app.tunes(64 + i % 100)) ++faults;
      }
    };
    const std::jthread one(work, 1);
    const std::jthread other(work, 2);
    for (int round = 0; round < 10; ++round) {
      CHECK(in_forked_child([&] {
              const int open = open_doors(app);
              app.end();
              return open;
            }) == 0);
    }
    done = true;
  }
  CHECK(faults == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a child ends what its parent has of a device", device) {
  std::optional<tune::context> context = device.create_context();
  std::optional<tune::command_queue> queue = context->create_command_queue();
  std::optional<tune::buffer> buffer = context->create_buffer(4096);
  std::optional<tune::pinned_memory> pinned = context->create_pinned_memory(4096);
  queue->zero(*buffer, 4096);
  CHECK(in_forked_child([&] {
          const bool refused = is_refused([&] { static_cast<void>(device.create_context()); });
          pinned.reset();
          buffer.reset();
          queue.reset();
          context.reset();
          return refused ? 0 : 1;
        }) == 0);
  queue->finish();
}

LIBTUNE_DEVICE_TEST_CASE("a child uses no queue, event or turn of its parent", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(64);
  const tune::event event = queue.enqueue_marker();
  const std::optional<tune::device_lease> turn(std::in_place, device.info(), 1min);
  const auto measure_nothing = [&] {
    tune::tuning_session session(
        context, {.function = "none", .arguments = {}, .device = device.info()}, {});
  };
  CHECK(in_forked_child([&] {
          int open = 0;
          const auto meet = [&](const auto& door) { open += is_refused(door) ? 0 : 1; };
          int value = 0;
          meet([&] { queue.write(buffer, &value, sizeof value); });
          meet([&] { queue.read(buffer, &value, sizeof value); });
          meet([&] { queue.zero(buffer, 64); });
          meet([&] { static_cast<void>(queue.enqueue_marker()); });
          meet([&] { queue.wait_for({event}); });
          meet([&] { queue.flush(); });
          meet([&] { queue.finish(); });
          meet([&] { event.wait(); });
          meet([&] { static_cast<void>(event.duration()); });
          meet([&] { const tune::device_lease lease(device.info(), 1min); });
          meet(measure_nothing);
          return open;
        }) == 0);
  queue.finish();
  event.wait();
}

/// Runs one test case in a process of its own, which is started as people would: fork, then exec.
int run_alone(const std::string& test_case) {
  const std::string filter = "--test-case=" + test_case;
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LIBTUNE_TEST_ALONE", "1", 1);
    ::execl("/proc/self/exe", "libtune", filter.c_str(), nullptr);
    ::_exit(127);
  }
  return tune::testing::exit_status_of(child);
}

TEST_CASE("who forks before the first use has two processes that use it") {
  if (std::getenv("LIBTUNE_TEST_ALONE") == nullptr) {
    const application used;
    CHECK(used.tunes(64));
    CHECK(run_alone("who forks before the first use has two processes that use it") == 0);
    return;
  }
  const auto use = [] {
    const application app;
    return app.tunes(64) && app.stores(1);
  };
  CHECK(in_forked_child([&] { return use() ? 0 : 1; }) == 0);
  CHECK(use());
  CHECK(in_forked_child([&] { return is_refused(use) ? 0 : 1; }) == 0);
}

}  // namespace forked_process_test
