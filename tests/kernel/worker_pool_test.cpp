// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fault injection: see tests/kernel/faulty_worker.cpp for the faults.
#include "libtune/kernel/pool/worker_pool.hpp"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/testing/fixtures.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/child_process.hpp"

namespace worker_pool_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune;
using tune::detail::worker_pool;
using status = tune::compile_result::status;

compile_pool_options options() {
  return {.program = LIBTUNE_FAULTY_WORKER, .workers = 2, .idle_time = 60s};
}

compile_future submit(worker_pool& pool, const std::string& text, compile_limits limits = {},
                      const tune::detail::compile_target& target = {}) {
  tune::detail::compile_order order;
  order.target = target;
  order.source.text = text;
  auto job = pool.submit(tune::detail::sha256(std::as_bytes(std::span(text))), order, limits);
  REQUIRE(job != nullptr);
  return compile_future(std::move(job));
}

compile_result result_of(worker_pool& pool, const std::string& text, compile_limits limits = {}) {
  return submit(pool, text, limits).result();
}

std::string text_of(const compile_result& result) {
  return {reinterpret_cast<const char*>(result.binary.data()), result.binary.size()};
}

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

// One that has ended may wait for somebody to take notice, as a zombie.
bool runs(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number;
  std::string name;
  char state = 'Z';
  return file >> number >> name >> state && state != 'Z';
}

TEST_CASE("a worker compiles one program after the other") {
  worker_pool pool(options());
  CHECK(pool.running() == 0);
  const compile_result first = result_of(pool, "ECHO one");
  CHECK(first.what == status::built);
  CHECK(text_of(first) == "one");
  CHECK(first.elapsed > 0ns);
  const std::string process = text_of(result_of(pool, "PID"));
  CHECK(text_of(result_of(pool, "ECHO two")) == "two");
  CHECK(text_of(result_of(pool, "PID")) == process);
  CHECK(pool.running() == 1);
}

TEST_CASE("a crashed compiler is reported with its reason, and the next program has a new one") {
  worker_pool pool(options());
  const auto check = [&](const char* text, status what, const char* reason) {
    CAPTURE(text);
    const compile_result result = result_of(pool, text);
    CHECK(result.what == what);
    CHECK(result.text.find(reason) != std::string::npos);
    CHECK(text_of(result_of(pool, std::string("ECHO after ") + text)) ==
          std::string("after ") + text);
  };
  check("CRASH", status::crashed, "signal 11");
  check("EXIT 7", status::crashed, "exit status 7");
  check("KILL", status::out_of_memory, "killed");
  check("NO MEMORY", status::out_of_memory, "no memory");
  check("REFUSE", status::unavailable, "it will not");
  check("WRONG", status::build_failed, "the log");
}

TEST_CASE("a worker that talks nonsense loses its program and its life") {
  worker_pool pool(options());
  for (const char* text : {"NONSENSE", "OTHER", "ORDER"}) {
    CAPTURE(text);
    const compile_result result = result_of(pool, text);
    CHECK(result.what == status::crashed);
    CHECK(result.text.find("nonsense") != std::string::npos);
    CHECK(text_of(result_of(pool, std::string("ECHO ") + text)) == text);
  }
  CHECK(pool.is_available());
}

TEST_CASE("a compiler that hangs, or takes too much memory, is stopped") {
  compile_pool_options small = options();
  small.memory_bytes = std::uint64_t{128} << 20;
  worker_pool pool(small);
  const compile_result hanging = result_of(pool, "HANG", {.time = 50ms});
  CHECK(hanging.what == status::timed_out);
  CHECK(hanging.text.find("0.05 s") != std::string::npos);
  const compile_result eating = result_of(pool, "EAT");
  CHECK(eating.what == status::out_of_memory);
  CHECK(eating.text.find("MiB") != std::string::npos);
}

TEST_CASE("many programs of many threads on two workers all come back") {
  worker_pool pool(options());
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<compile_future> programs;
      const auto text = [t](int i) { return std::to_string(t) + "." + std::to_string(i); };
      for (int i = 0; i < 75; ++i) programs.push_back(submit(pool, "ECHO " + text(i)));
      for (int i = 0; i < 75; ++i) right += text_of(programs[i].result()) == text(i) ? 1 : 0;
    });
  }
  threads.clear();
  CHECK(right == 300);
  CHECK(pool.running() == 2);
  CHECK(pool.board().completed == 300);
}

TEST_CASE("a program that is under way is compiled once") {
  worker_pool pool(options());
  const compile_future first = submit(pool, "SLEEP 100");
  const compile_future second = submit(pool, "SLEEP 100");
  CHECK(first.result().what == status::built);
  CHECK(second.done());
  CHECK(&first.result() == &second.result());
  CHECK(pool.board().completed == 1);
}

TEST_CASE("more urgent programs come first, others in the order of submission") {
  compile_pool_options one = options();
  one.workers = 1;
  worker_pool pool(one);
  const compile_future before = submit(pool, "SLEEP 200");
  std::vector<std::string> order;  // written by the pool's thread alone
  const auto note = [&](const compile_future& program, const char* name) {
    program.on_done([&order, name] { order.emplace_back(name); });
  };
  note(submit(pool, "ECHO a"), "a");
  note(submit(pool, "ECHO b"), "b");
  note(submit(pool, "ECHO c", {.priority = 1}), "c");
  const compile_future last = submit(pool, "ECHO d", {.priority = -1});
  last.result();
  CHECK(order == std::vector<std::string>{"c", "a", "b"});
}

TEST_CASE("a cancelled program is not begun, unless somebody else wants it") {
  compile_pool_options one = options();
  one.workers = 1;
  worker_pool pool(one);
  const compile_future before = submit(pool, "SLEEP 200");
  const compile_future unwanted = submit(pool, "ECHO a");
  const compile_future wanted = submit(pool, "ECHO b");
  const compile_future shared = submit(pool, "ECHO b");
  unwanted.cancel();
  CHECK(unwanted.done());
  CHECK(unwanted.result().what == status::unavailable);
  wanted.cancel();
  wanted.cancel();
  CHECK(text_of(shared.result()) == "b");
  const compile_future again = submit(pool, "ECHO a");
  CHECK(text_of(again.result()) == "a");
}

TEST_CASE("a listener is called once at the end, also if it comes afterwards") {
  worker_pool pool(options());
  std::atomic<int> calls = 0;
  const compile_future program = submit(pool, "SLEEP 20");
  program.on_done([&] { ++calls; });
  CHECK(program.result().what == status::built);
  CHECK(comes_true([&] { return calls == 1; }));
  program.on_done([&] { ++calls; });
  CHECK(calls == 2);
}

TEST_CASE("waiting for a program ends with the time") {
  worker_pool pool(options());
  const compile_future program = submit(pool, "HANG");
  CHECK_FALSE(program.wait_until(std::chrono::steady_clock::now() + 10ms));
  CHECK_FALSE(program.done());
}

TEST_CASE("idle workers end, and others come when they are needed") {
  compile_pool_options hasty = options();
  hasty.idle_time = 20ms;
  worker_pool pool(hasty);
  const int process = std::stoi(text_of(result_of(pool, "PID")));
  CHECK(comes_true([&] { return pool.running() == 0; }));
  CHECK_FALSE(runs(process));
  CHECK(text_of(result_of(pool, "ECHO again")) == "again");
  CHECK(std::stoi(text_of(result_of(pool, "PID"))) != process);
}

TEST_CASE("workers are started before they are needed") {
  worker_pool pool(options());
  pool.warm_up({}, -1);
  CHECK(comes_true([&] { return pool.running() == 2; }));
  CHECK(text_of(result_of(pool, "ECHO one")) == "one");
  CHECK(pool.running() == 2);
}

TEST_CASE("where the device has to be opened, workers start one after the other") {
  worker_pool pool(options());
  const tune::detail::compile_target hanging{.device = "HANG", .starts_in_turn = true};
  pool.warm_up(hanging, -1);
  for (int i = 0; i < 20; ++i) submit(pool, "ECHO " + std::to_string(i), {}, hanging);
  REQUIRE(comes_true([&] { return pool.running() == 1; }));
  std::this_thread::sleep_for(50ms);
  CHECK_MESSAGE(pool.running() == 1, "the second has to wait until the first is ready");
}

TEST_CASE("workers that start in turn come as long as there is work for them") {
  worker_pool pool(options());
  const tune::detail::compile_target ready{.device = "ready", .starts_in_turn = true};
  CHECK(text_of(submit(pool, "ECHO alone", {}, ready).result()) == "alone");
  CHECK(pool.running() == 1);
  std::vector<compile_future> programs;
  for (int i = 0; i < 20; ++i)
    programs.push_back(submit(pool, "SLEEP " + std::to_string(20 + i), {}, ready));
  for (const compile_future& program : programs) CHECK(program.result().what == status::built);
  CHECK(pool.running() == 2);
}

TEST_CASE("the end of a pool ends its workers, whatever they do") {
  int process = 0;
  std::optional<compile_future> hanging;
  std::optional<compile_future> waiting;
  {
    compile_pool_options one = options();
    one.workers = 1;
    worker_pool pool(one);
    process = std::stoi(text_of(result_of(pool, "PID")));
    hanging = submit(pool, "HANG");
    waiting = submit(pool, "ECHO never");
    CHECK_FALSE(hanging->wait_until(std::chrono::steady_clock::now() + 20ms));
  }
  CHECK_FALSE(runs(process));
  CHECK(hanging->result().what == status::unavailable);
  CHECK(waiting->result().what == status::unavailable);
}

TEST_CASE("workers end with their process, however that ends") {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  in_child([&] {
    auto* pool = new worker_pool(options());
    const int process = std::stoi(text_of(submit(*pool, "PID").result()));
    submit(*pool, "HANG").wait_until(std::chrono::steady_clock::now() + 20ms);
    static_cast<void>(!::write(channel[1], &process, sizeof process));
    return std::raise(SIGKILL);
  });
  int process = 0;
  REQUIRE(::read(channel[0], &process, sizeof process) == sizeof process);
  CHECK(comes_true([&] { return !runs(process); }));
  ::close(channel[0]);
  ::close(channel[1]);
}

TEST_CASE("a program that does not work is not tried for ever, with one warning") {
  struct broken {
    const char* fault;  // none: it is not there
    const char* reason;
  };
  for (const broken& each : {broken{nullptr, "No such file"},
                             {"exit", "exit status 5"},
                             {"silent", "did not report"},
                             {"nonsense", "nonsense"},
                             {"other version", "0.0.1"},
                             {"other protocol", "9.9"}}) {
    CAPTURE(each.reason);
    const scoped_environment given("FAULT", each.fault);
    compile_pool_options of = options();
    if (each.fault == nullptr) of.program = "/no/such/worker";
    if (each.reason == std::string("did not report")) of.start_time = 20ms;
    worker_pool pool(of);
    captured_errors errors;
    const compile_result result = result_of(pool, "ECHO one");
    CAPTURE(result.text);
    CHECK(result.what == status::unavailable);
    CHECK(result.text.find(each.reason) != std::string::npos);
    CHECK_FALSE(pool.is_available());
    CHECK(pool.submit({}, {}, {}) == nullptr);
    CHECK(errors.count("not by workers") == 1);
  }
}

}  // namespace worker_pool_test
