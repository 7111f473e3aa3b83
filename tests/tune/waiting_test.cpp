// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/observer.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/tune/scale.hpp"
#include "tests/tune/tuning_processes.hpp"

namespace waiting_test {

using namespace std::chrono_literals;
using sample::scale_key;
using sample::scale_tuning;
using tune::device_lease;
using tune::testing::lock_keeper;

/// A device that no other test has. Its lock file goes with it.
struct test_device {
  explicit test_device(const std::string& name, const std::string& pci_address = "") {
    info.identity.name = "turn test " + name + " " + std::to_string(::getpid());
    info.hardware.pci_address = pci_address;
  }
  ~test_device() { tune::testing::remove_lock_file(tune::hardware_name(info)); }
  test_device(const test_device&) = delete;
  test_device& operator=(const test_device&) = delete;

  tune::device_info info;
};

/// For a lock_keeper: takes the turn of a device.
auto kept_by_another(const std::string& hardware) {
  return [hardware] {
    auto lock = std::make_unique<tune::device_lock>(hardware);
    if (!lock->take(0ms)) ::_exit(1);
    return lock;
  };
}

bool is_alone_elsewhere(const tune::device_info& device) {
  bool alone = false;
  std::jthread([&] { alone = device_lease(device, 0ms).is_alone(); }).join();
  return alone;
}

TEST_CASE("hardware is told by its PCI address, else its UUID, else its name") {
  tune::device_info device;
  device.identity.name = "a device";
  CHECK(tune::hardware_name(device) == "name a device");
  device.hardware.uuid = "0011";
  CHECK(tune::hardware_name(device) == "uuid 0011");
  device.hardware.pci_address = "0000:3b:00.0";
  CHECK(tune::hardware_name(device) == "pci 0000:3b:00.0");
}

TEST_CASE("a card has one turn, whichever platform reaches it") {
  const std::string address = "test:" + std::to_string(::getpid());
  test_device through_cuda("through CUDA", address);
  test_device through_opencl("through OpenCL", address);
  through_cuda.info.hardware.uuid = "0011";
  through_opencl.info.backend = "OpenCL";
  const device_lease here(through_cuda.info, 0ms);
  CHECK(here.is_alone());
  CHECK_FALSE(is_alone_elsewhere(through_opencl.info));
}

TEST_CASE("one has the turn, and who waits in vain goes ahead without it") {
  const test_device device("a");
  const test_device another("b");
  {
    const device_lease turn(device.info, 0ms);
    CHECK(turn.is_alone());
    CHECK_FALSE(is_alone_elsewhere(device.info));
    CHECK(is_alone_elsewhere(another.info));
  }
  CHECK(is_alone_elsewhere(device.info));
}

TEST_CASE("another process keeps the turn until it gives it back") {
  const test_device device("elsewhere");
  {
    tune::device_lock other(tune::hardware_name(device.info));
    REQUIRE(other.take(0ms));
    CHECK_FALSE(device_lease(device.info, 1ms).is_alone());
  }
  CHECK(device_lease(device.info, 0ms).is_alone());
}

TEST_CASE("a thread that has the turn has it again at once, and gives it back once") {
  const test_device device("again");
  {
    const device_lease turn(device.info, 0ms);
    {
      const device_lease again(device.info, 0ms);
      CHECK(again.is_alone());
    }
    CHECK_FALSE(is_alone_elsewhere(device.info));
  }
  CHECK(is_alone_elsewhere(device.info));
}

TEST_CASE("while a thread pauses its turns others have them, and it may take its own anew") {
  const test_device device("paused");
  const device_lease turn(device.info, 60s);
  {
    const device_lease::pause pause;
    CHECK(is_alone_elsewhere(device.info));
    const device_lease inner(device.info, 0ms);
    CHECK(inner.is_alone());
    const device_lease::pause another;
    CHECK(is_alone_elsewhere(device.info));
  }
  CHECK_FALSE(is_alone_elsewhere(device.info));
  CHECK(turn.is_alone());
}

TEST_CASE("a thread knows how long it has waited for turns") {
  const test_device here("waited");
  const device_lease held(here.info, 0ms);
  std::jthread([&] {
    CHECK(device_lease::waited() == 0ns);
    const device_lease in_vain(here.info, 20ms);
    CHECK(device_lease::waited() >= 20ms);
  }).join();
}

TEST_CASE("who waits for the turn is told by which process") {
  const test_device device("told");
  std::optional<::pid_t> seen;
  const auto look = [&](std::chrono::nanoseconds, std::optional<::pid_t> holder) { seen = holder; };
  // Longer than the first attempt takes, on a busy machine too: nobody is told who waits no longer.
  constexpr auto wait = 200ms;
  SUBCASE("another") {
    const tune::testing::lock_keeper other(kept_by_another(tune::hardware_name(device.info)));
    CHECK_FALSE(device_lease(device.info, wait, look).is_alone());
    CHECK(seen == other.id());
  }
  SUBCASE("this one, for another thread has it") {
    const device_lease turn(device.info, 0ms);
    std::jthread([&] { CHECK_FALSE(device_lease(device.info, wait, look).is_alone()); }).join();
    CHECK(seen == ::getpid());
  }
}

TEST_CASE("a measurement beside another says which process keeps the device") {
  const test_device device("named");
  std::string said;
  std::mutex mutex;
  const auto measure_beside = [&] {
    tune::detail::redirect_log([&](tune::log_level, std::string_view text) {
      const std::lock_guard lock(mutex);
      said += text;
    });
    CHECK_FALSE(is_alone_elsewhere(device.info));
    tune::detail::redirect_log({});
  };
  SUBCASE("another") {
    const tune::testing::lock_keeper other(kept_by_another(tune::hardware_name(device.info)));
    measure_beside();
    CHECK(said.find("process " + std::to_string(other.id()) + " has kept it") != said.npos);
  }
  SUBCASE("this one") {
    const device_lease turn(device.info, 0ms);
    measure_beside();
    CHECK(said.find("another thread of this process has kept it") != said.npos);
  }
}

// Calls of autotuners that wait for other threads and processes: for each other, for who keeps the
// database, and for the device.

struct listener final : tune::observer {
  void search_started(const tune::search_started_event&) override { ++searches; }
  void search_finished(const tune::search_finished_event& event) override { times = event.times; }
  void waiting(const tune::waiting_event& event) override {
    waits.push_back(event);
    has_waited = true;
  }
  int searches = 0;
  tune::search_times times;
  std::vector<tune::waiting_event> waits;
  std::atomic<bool> has_waited = false;
};

/// An application with a device that no other test has.
struct application {
  explicit application(const std::string& name)
      : fake(sample::make_device("waiting test " + name + ' ' + std::to_string(::getpid()))) {
    options.database = (folder / "tuning.db").string();
    options.mode = tune::tuning_mode::tune;
    options.wait = 600s;
    options.observers = {hears};
  }
  ~application() { tune::testing::remove_lock_file(hardware()); }
  application(const application&) = delete;
  application& operator=(const application&) = delete;

  std::string hardware() const { return tune::hardware_name(fake.device().info()); }
  auto database_kept() const {
    return [path = *options.database] {
      auto database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
      database->exec("BEGIN EXCLUSIVE");
      return database;
    };
  }
  auto device_kept() const { return kept_by_another(hardware()); }

  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake;
  std::shared_ptr<listener> hears = std::make_shared<listener>();
  tune::tuning_options options;
};

// ---- two that want what the other tunes

/// Counters and results of the two processes, in shared memory.
struct meeting {
  std::atomic<int> arrived{0};
  std::atomic<int> searches{0};
  std::atomic<int> wgs_of_first[2] = {0, 0};   // as each of the two found it
  std::atomic<int> wgs_of_second[2] = {0, 0};  // the same
};

struct shared_meeting {
  shared_meeting()
      : memory(::mmap(nullptr, sizeof(meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0)),
        met(*new (memory) meeting) {}
  ~shared_meeting() { ::munmap(memory, sizeof(meeting)); }
  shared_meeting(const shared_meeting&) = delete;
  shared_meeting& operator=(const shared_meeting&) = delete;

  void* memory;
  meeting& met;
};

thread_local int depth = 0;

/// Two autotuners. The outermost call on a thread waits for the other of the two that meet, and
/// then wants what that tunes.
struct crossing {
  explicit crossing(meeting& with) : met(with) {}
  crossing(const crossing&) = delete;
  crossing& operator=(const crossing&) = delete;

  using autotuner = tune::autotuner<scale_key, scale_tuning>;

  scale_tuning search(tune::tuning_session& session, const autotuner& other) {
    if (depth++ == 0) {
      ++met.arrived;
      while (met.arrived < 2) std::this_thread::sleep_for(1ms);
      other(session.context(), {});
    }
    --depth;
    const scale_tuning best = session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
      return sample::generate(session.context(), tuning);
    });
    ++met.searches;  // not where it is called only to show the space
    return best;
  }

  /// As number 0 it tunes the first, as 1 the second. Each likes another result.
  void take_part(std::size_t number, const std::string& database) {
    const auto fake = sample::make_device();
    fake.set_time([liked = number == 0 ? 2 : 8](const tune::testing::fake_launch& launch) {
      return launch.integer("wgs") == liked ? 100ns : 200ns;
    });
    const auto context = fake.device().create_context();
    tune::set_tuning_options(context,
                             {.database = database, .mode = tune::tuning_mode::tune, .wait = 600s});
    (number == 0 ? first : second)(context, {});
    met.wgs_of_first[number] = first(context, {}).wgs;
    met.wgs_of_second[number] = second(context, {}).wgs;
  }

  meeting& met;
  const autotuner first{
      {.name = "crossed.first", .test = {.wgs = 16, .rows = 4}},
      [this](tune::tuning_session& session, const scale_key&) { return search(session, second); }};
  const autotuner second{
      {.name = "crossed.second", .test = {.wgs = 16, .rows = 4}},
      [this](tune::tuning_session& session, const scale_key&) { return search(session, first); }};
};

void check_that_they_agree(const meeting& met) {
  CHECK(met.wgs_of_first[0] != 0);
  CHECK(met.wgs_of_first[0] == met.wgs_of_first[1]);
  CHECK(met.wgs_of_second[0] == met.wgs_of_second[1]);
  CHECK(met.wgs_of_first[0] != 16);
  CHECK(met.wgs_of_second[0] != 16);
  // One of them had to tune what the other does.
  CHECK(met.searches == 3);
}

TEST_CASE("two threads that want what the other tunes do not wait for each other for ever") {
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const std::string database = (folder / "tuning.db").string();
  const shared_meeting shared;
  crossing both(shared.met);
  std::thread other([&] { both.take_part(1, database); });
  both.take_part(0, database);
  other.join();
  check_that_they_agree(shared.met);
}

TEST_CASE("nor do two processes") {
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::off);
  const tune::testing::temporary_directory folder;
  const std::string database = (folder / "tuning.db").string();
  const shared_meeting shared;
  // One after the other: a child of a thread that forks beside another may inherit locked locks.
  const auto start = [&](std::size_t number) {
    const ::pid_t id = tune::testing::fork_for_use();
    if (id == 0) {
      ::alarm(60);
      crossing own(shared.met);
      own.take_part(number, database);
      ::_exit(7);
    }
    return id;
  };
  const ::pid_t first = start(0);
  const ::pid_t second = start(1);
  CHECK(tune::testing::exit_status_of(first) == 7);
  CHECK(tune::testing::exit_status_of(second) == 7);
  check_that_they_agree(shared.met);
}

TEST_CASE("nobody searches for what a database may hold that others keep") {
  application app("database");
  const sample::counted_autotuner counted;
  const auto context = app.fake.device().create_context();
  CHECK(counted.autotune(context, {}, app.options) == sample::fastest);
  tune::record_memory::shared().forget_all();
  auto other = std::make_unique<lock_keeper>(app.database_kept());
  const ::pid_t holder = other->id();
  SUBCASE("it is read once they let go") {
    const std::jthread releases([&] {
      for (int i = 0; i < 6000 && !app.hears->has_waited; ++i) std::this_thread::sleep_for(10ms);
      other.reset();
    });
    CHECK(counted.autotune(context, {}, app.options) == sample::fastest);
    REQUIRE_FALSE(app.hears->waits.empty());
    CHECK(app.hears->waits.front().cause == tune::wait_cause::database);
    REQUIRE(app.hears->waits.front().holder);
    CHECK(app.hears->waits.front().holder->process == holder);
  }
  SUBCASE("or, where they keep it for too long, the test default is used") {
    app.options.wait = 100ms;
    CHECK(counted.autotune(context, {}, app.options) == sample::test_default);
  }
  CHECK(counted.searches == 1);
}

TEST_CASE("what a database may hold that others keep is not missing") {
  application app("not missing");
  const sample::counted_autotuner counted;
  const auto context = app.fake.device().create_context();
  {
    const tune::testing::scoped_environment unnoted("LIBTUNE_MISSED", "off");
    CHECK(counted.autotune(context, {}, app.options) == sample::fastest);
  }
  tune::record_memory::shared().forget_all();
  auto other = std::make_unique<lock_keeper>(app.database_kept());
  SUBCASE("in the mode cached") { app.options.mode = tune::tuning_mode::cached; }
  SUBCASE("in the mode default") { app.options.mode = tune::tuning_mode::defaults; }
  app.options.wait = 100ms;
  if (app.options.mode == tune::tuning_mode::cached) {
    CHECK_THROWS_AS(counted.autotune(context, {}, app.options), tune::database_busy_error);
  } else {
    CHECK(counted.autotune(context, {}, app.options) == sample::test_default);
  }
  CHECK_FALSE(std::filesystem::exists(tune::missed_keys::path_beside(*app.options.database)));
  app.options.wait = 600s;
  const std::jthread releases([&] {
    std::this_thread::sleep_for(300ms);
    other.reset();
  });
  CHECK(counted.autotune(context, {}, app.options) == sample::fastest);
  CHECK(counted.searches == 1);
}

TEST_CASE("a search waits for the device no longer than its budget, and it counts as waiting") {
  application app("budget");
  app.options.budget = tune::tuning_budget{.time = 700ms};
  const sample::counted_autotuner counted;
  const lock_keeper other(app.device_kept());
  other.send(SIGSTOP);
  CHECK(counted.autotune(app.fake.device().create_context(), {}, app.options).wgs != 16);
  CHECK(app.hears->times.device_wait >= 500ms);
  CHECK(app.hears->times.measuring < app.hears->times.device_wait);
  REQUIRE(app.hears->waits.size() == 2);
  CHECK(app.hears->waits.front().cause == tune::wait_cause::device);
  REQUIRE(app.hears->waits.front().holder);
  CHECK(app.hears->waits.front().holder->process == other.id());
  CHECK(app.hears->waits.front().holder->stopped);
  CHECK(app.hears->waits.back().over);
}

TEST_CASE("nor for another's search for much longer than its budget") {
  application app("budget of another");
  app.options.budget = tune::tuning_budget{.time = 10ms};
  app.options.watchdog.floor = 500ms;
  const sample::counted_autotuner counted;
  const lock_keeper other(tune::testing::all_keys_of(*app.options.database));
  const auto found = counted.autotune.graded(app.fake.device().create_context(), {}, app.options);
  CHECK(found.tuning == sample::test_default);
  CHECK(found.grade == tune::lookup_grade::miss);
  CHECK(app.hears->searches == 0);
}

TEST_CASE("a test waits for the device briefly") {
  application app("test");
  const tune::testing::test_mode_guard test(tune::testing::test_mode::forced);
  const sample::counted_autotuner counted;
  const lock_keeper other(app.device_kept());
  app.options.wait.reset();
  const tune::testing::scoped_environment no_wait("LIBTUNE_WAIT", nullptr);
  counted.autotune(app.fake.device().create_context(), {}, app.options);
  REQUIRE_FALSE(app.hears->waits.empty());
  CHECK(app.hears->waits.front().limit == 2s);
}

}  // namespace waiting_test

namespace waiting_test::of_wait_report {

using tune::wait_cause;
using tune::wait_report;
using tune::waiting_event;

struct listener final : tune::observer {
  void waiting(const waiting_event& event) override { heard.push_back(event); }
  std::vector<waiting_event> heard;
};

struct scene {
  scene() { subject.function = "waits"; }

  tune::tuning_subject subject;
  std::shared_ptr<listener> hears = std::make_shared<listener>();
  std::vector<std::shared_ptr<tune::observer>> observers{hears};

  wait_report report(wait_cause cause = wait_cause::device) {
    return wait_report(cause, subject, observers, 600s);
  }
};

TEST_CASE("who waits says so within a second, then less and less often, and at its end") {
  scene s;
  {
    wait_report report = s.report();
    for (auto waited = 0ms; waited <= 10s; waited += 10ms) report.look(waited, ::getpid());
  }
  REQUIRE(s.hears->heard.size() == 6);
  std::vector<double> times;
  for (const waiting_event& event : s.hears->heard) {
    times.push_back(std::chrono::duration<double>(event.waited).count());
  }
  CHECK(times == std::vector<double>{0.5, 1, 2, 4, 8, 8});
  CHECK(s.hears->heard.front().subject.function == "waits");
  CHECK(s.hears->heard.front().limit == 600s);
  CHECK_FALSE(s.hears->heard[4].over);
  CHECK(s.hears->heard.back().over);
}

TEST_CASE("a short wait is not told of") {
  scene s;
  s.report().look(499ms, ::getpid());
  CHECK(s.hears->heard.empty());
}

TEST_CASE("the holder is named, and that it is stopped or rests") {
  scene s;
  wait_report report = s.report(wait_cause::search);
  const tune::testing::lock_keeper other([] { return 0; });
  const std::string name = "process " + std::to_string(other.id()) + " (tune_tests)";
  report.look(1s, other.id());
  CHECK(describe(s.hears->heard.back()) == name + " tunes the same");
  report.look(20s, other.id());
  CHECK(describe(s.hears->heard.back()) ==
        name + ", which has used no processor time for 19 s, tunes the same");
  other.send(SIGSTOP);
  ::waitpid(other.id(), nullptr, WUNTRACED);
  report.look(200s, other.id());
  CHECK(describe(s.hears->heard.back()) == name + ", which is stopped, tunes the same");
  report.look_for(wait_cause::database, 1s, {});
  CHECK(describe(s.hears->heard.back()) == "another process locks the database");
}

TEST_CASE("another thread is one of this process") {
  const waiting_event event{
      .subject = {}, .cause = wait_cause::device, .holder = tune::look_at_holder(::getpid())};
  CHECK(describe(event) == "another thread measures on the device");
}

TEST_CASE("inside of a tuning its observers hear of it too, and who watches it instead of all") {
  std::string said;
  const tune::step_listener watch = [&](const tune::step_event& event) {
    if (std::holds_alternative<tune::wait_begin>(event)) said += "begins ";
    if (std::holds_alternative<tune::wait_end>(event)) said += "ends ";
    const auto* wait = std::get_if<waiting_event>(&event);
    if (wait != nullptr) said += wait->over ? "over " : "waits ";
  };
  scene outer;
  scene inner;
  {
    const tune::detail::tuning_under_way now(outer.subject, nullptr, &outer.observers);
    inner.report().look(1s, ::getpid());
    CHECK(outer.hears->heard.size() == 2);
    CHECK(inner.hears->heard.size() == 2);
  }
  const tune::detail::tuning_under_way now(outer.subject, &watch, &outer.observers);
  inner.report().look(1s, ::getpid());
  CHECK(said == "begins waits ends over ");
  CHECK(outer.hears->heard.size() == 2);
}

}  // namespace waiting_test::of_wait_report
