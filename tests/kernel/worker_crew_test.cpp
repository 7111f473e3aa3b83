// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Workers that misbehave: see tests/kernel/mischief.cpp for what they can be told to do.
#include "libtune/kernel/pool/worker_crew.hpp"

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

namespace worker_crew_test {

using namespace std::chrono_literals;
using tune::compile_limits;
using tune::compile_pool_options;
using tune::compile_result;
using tune::compile_ticket;
using tune::detail::worker_crew;
using tune::testing::captured_errors;
using tune::testing::scoped_environment;
using status = tune::compile_result::status;

compile_pool_options options() {
  return {.program = LIBTUNE_MISCHIEF_WORKER, .workers = 2, .idle_time = 60s};
}

compile_ticket submit(worker_crew& crew, const std::string& text, compile_limits limits = {},
                      const tune::detail::compile_target& target = {}) {
  tune::detail::compile_order order;
  order.target = target;
  order.source.text = text;
  auto job = crew.submit(tune::detail::sha256(std::as_bytes(std::span(text))), order, limits);
  REQUIRE(job != nullptr);
  return compile_ticket(std::move(job));
}

compile_result result_of(worker_crew& crew, const std::string& text, compile_limits limits = {}) {
  return submit(crew, text, limits).result();
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
  worker_crew crew(options());
  CHECK(crew.running() == 0);
  const compile_result first = result_of(crew, "ECHO one");
  CHECK(first.what == status::built);
  CHECK(text_of(first) == "one");
  CHECK(first.elapsed > 0ns);
  const std::string process = text_of(result_of(crew, "PID"));
  CHECK(text_of(result_of(crew, "ECHO two")) == "two");
  CHECK(text_of(result_of(crew, "PID")) == process);
  CHECK(crew.running() == 1);
}

TEST_CASE("what a compiler does to its process is told, and the next program has a new one") {
  worker_crew crew(options());
  const auto check = [&](const char* text, status what, const char* reason) {
    CAPTURE(text);
    const compile_result result = result_of(crew, text);
    CHECK(result.what == what);
    CHECK(result.text.find(reason) != std::string::npos);
    CHECK(text_of(result_of(crew, std::string("ECHO after ") + text)) ==
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
  worker_crew crew(options());
  for (const char* text : {"NONSENSE", "OTHER", "ORDER"}) {
    CAPTURE(text);
    const compile_result result = result_of(crew, text);
    CHECK(result.what == status::crashed);
    CHECK(result.text.find("nonsense") != std::string::npos);
    CHECK(text_of(result_of(crew, std::string("ECHO ") + text)) == text);
  }
  CHECK(crew.is_available());
}

TEST_CASE("a compiler that hangs is stopped at its time limit") {
  worker_crew crew(options());
  const compile_result result = result_of(crew, "HANG", {.time = 50ms});
  CHECK(result.what == status::timed_out);
  CHECK(result.text.find("0.05 s") != std::string::npos);
}

TEST_CASE("a compiler that takes too much memory is stopped") {
  compile_pool_options small = options();
  small.memory_bytes = std::uint64_t{128} << 20;
  worker_crew crew(small);
  const compile_result result = result_of(crew, "EAT");
  CHECK(result.what == status::out_of_memory);
  CHECK(result.text.find("MiB") != std::string::npos);
}

TEST_CASE("many programs on two workers all come back") {
  worker_crew crew(options());
  std::vector<compile_ticket> tickets;
  for (int i = 0; i < 300; ++i) tickets.push_back(submit(crew, "ECHO " + std::to_string(i)));
  for (int i = 0; i < 300; ++i) CHECK(text_of(tickets[i].result()) == std::to_string(i));
  CHECK(crew.running() == 2);
  CHECK(crew.board().completed == 300);
}

TEST_CASE("threads may submit and wait as they like") {
  worker_crew crew(options());
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string text = std::to_string(t) + "." + std::to_string(i);
        if (text_of(result_of(crew, "ECHO " + text)) == text) ++right;
      }
    });
  }
  threads.clear();
  CHECK(right == 100);
}

TEST_CASE("a program that is under way is compiled once") {
  worker_crew crew(options());
  const compile_ticket first = submit(crew, "SLEEP 100");
  const compile_ticket second = submit(crew, "SLEEP 100");
  CHECK(first.result().what == status::built);
  CHECK(second.done());
  CHECK(&first.result() == &second.result());
  CHECK(crew.board().completed == 1);
}

TEST_CASE("more urgent programs come first, others in the order of submission") {
  compile_pool_options one = options();
  one.workers = 1;
  worker_crew crew(one);
  const compile_ticket before = submit(crew, "SLEEP 200");
  std::vector<std::string> order;  // written by the pool's thread alone
  const auto note = [&](const compile_ticket& ticket, const char* name) {
    ticket.on_done([&order, name] { order.emplace_back(name); });
  };
  note(submit(crew, "ECHO a"), "a");
  note(submit(crew, "ECHO b"), "b");
  note(submit(crew, "ECHO c", {.priority = 1}), "c");
  const compile_ticket last = submit(crew, "ECHO d", {.priority = -1});
  last.result();
  CHECK(order == std::vector<std::string>{"c", "a", "b"});
}

TEST_CASE("a cancelled program is not begun, unless somebody else wants it") {
  compile_pool_options one = options();
  one.workers = 1;
  worker_crew crew(one);
  const compile_ticket before = submit(crew, "SLEEP 200");
  const compile_ticket unwanted = submit(crew, "ECHO a");
  const compile_ticket wanted = submit(crew, "ECHO b");
  const compile_ticket shared = submit(crew, "ECHO b");
  unwanted.cancel();
  CHECK(unwanted.done());
  CHECK(unwanted.result().what == status::unavailable);
  wanted.cancel();
  wanted.cancel();
  CHECK(text_of(shared.result()) == "b");
  const compile_ticket again = submit(crew, "ECHO a");
  CHECK(text_of(again.result()) == "a");
}

TEST_CASE("who is told of the end is told once, also afterwards") {
  worker_crew crew(options());
  std::atomic<int> told = 0;
  const compile_ticket ticket = submit(crew, "SLEEP 20");
  ticket.on_done([&] { ++told; });
  CHECK(ticket.result().what == status::built);
  CHECK(comes_true([&] { return told == 1; }));
  ticket.on_done([&] { ++told; });
  CHECK(told == 2);
}

TEST_CASE("waiting for a ticket ends with the time") {
  worker_crew crew(options());
  const compile_ticket ticket = submit(crew, "HANG");
  CHECK_FALSE(ticket.wait_until(std::chrono::steady_clock::now() + 10ms));
  CHECK_FALSE(ticket.done());
}

TEST_CASE("idle workers end, and others come when they are needed") {
  compile_pool_options hasty = options();
  hasty.idle_time = 20ms;
  worker_crew crew(hasty);
  const int process = std::stoi(text_of(result_of(crew, "PID")));
  CHECK(comes_true([&] { return crew.running() == 0; }));
  CHECK_FALSE(runs(process));
  CHECK(text_of(result_of(crew, "ECHO again")) == "again");
  CHECK(std::stoi(text_of(result_of(crew, "PID"))) != process);
}

TEST_CASE("workers are started before they are needed") {
  worker_crew crew(options());
  crew.warm_up({}, -1);
  CHECK(comes_true([&] { return crew.running() == 2; }));
  CHECK(text_of(result_of(crew, "ECHO one")) == "one");
  CHECK(crew.running() == 2);
}

TEST_CASE("where the device has to be opened, workers start one after the other") {
  worker_crew crew(options());
  const tune::detail::compile_target hanging{.device = "HANG", .starts_in_turn = true};
  crew.warm_up(hanging, -1);
  for (int i = 0; i < 20; ++i) submit(crew, "ECHO " + std::to_string(i), {}, hanging);
  REQUIRE(comes_true([&] { return crew.running() == 1; }));
  std::this_thread::sleep_for(50ms);
  CHECK_MESSAGE(crew.running() == 1, "the second has to wait until the first is ready");
}

TEST_CASE("workers that start in turn come as long as there is work for them") {
  worker_crew crew(options());
  const tune::detail::compile_target ready{.device = "ready", .starts_in_turn = true};
  CHECK(text_of(submit(crew, "ECHO alone", {}, ready).result()) == "alone");
  CHECK(crew.running() == 1);
  std::vector<compile_ticket> tickets;
  for (int i = 0; i < 20; ++i)
    tickets.push_back(submit(crew, "SLEEP " + std::to_string(20 + i), {}, ready));
  for (const compile_ticket& ticket : tickets) CHECK(ticket.result().what == status::built);
  CHECK(crew.running() == 2);
}

TEST_CASE("the end of a pool ends its workers, whatever they do") {
  int process = 0;
  std::optional<compile_ticket> hanging;
  std::optional<compile_ticket> waiting;
  {
    compile_pool_options one = options();
    one.workers = 1;
    worker_crew crew(one);
    process = std::stoi(text_of(result_of(crew, "PID")));
    hanging = submit(crew, "HANG");
    waiting = submit(crew, "ECHO never");
    CHECK_FALSE(hanging->wait_until(std::chrono::steady_clock::now() + 20ms));
  }
  CHECK_FALSE(runs(process));
  CHECK(hanging->result().what == status::unavailable);
  CHECK(waiting->result().what == status::unavailable);
}

TEST_CASE("workers end with their process, however that ends") {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  tune::testing::in_child([&] {
    auto* crew = new worker_crew(options());
    const int process = std::stoi(text_of(submit(*crew, "PID").result()));
    submit(*crew, "HANG").wait_until(std::chrono::steady_clock::now() + 20ms);
    static_cast<void>(!::write(channel[1], &process, sizeof process));
    return std::raise(SIGKILL);
  });
  int process = 0;
  REQUIRE(::read(channel[0], &process, sizeof process) == sizeof process);
  CHECK(comes_true([&] { return !runs(process); }));
  ::close(channel[0]);
  ::close(channel[1]);
}

TEST_CASE("a program that does not work is not tried for ever, and that is told once") {
  compile_pool_options given = options();
  std::optional<scoped_environment> mischief;
  const char* reason = "";
  SUBCASE("it is not there") {
    given.program = "/no/such/worker";
    reason = "No such file";
  }
  SUBCASE("it ends at once") {
    mischief.emplace("MISCHIEF", "exit");
    reason = "exit status 5";
  }
  SUBCASE("it never reports") {
    mischief.emplace("MISCHIEF", "silent");
    given.start_time = 20ms;
    reason = "did not report";
  }
  SUBCASE("it talks nonsense") {
    mischief.emplace("MISCHIEF", "nonsense");
    reason = "nonsense";
  }
  SUBCASE("it is of another version") {
    mischief.emplace("MISCHIEF", "other version");
    reason = "0.0.1";
  }
  SUBCASE("it speaks another protocol") {
    mischief.emplace("MISCHIEF", "other protocol");
    reason = "9.9";
  }
  worker_crew crew(given);
  captured_errors errors;
  const compile_result result = result_of(crew, "ECHO one");
  CAPTURE(result.text);
  CHECK(result.what == status::unavailable);
  CHECK(result.text.find(reason) != std::string::npos);
  CHECK_FALSE(crew.is_available());
  CHECK(crew.submit({}, {}, {}) == nullptr);
  CHECK(errors.count("not by workers") == 1);
}

TEST_CASE("nothing is available without a program, or without workers") {
  compile_pool_options none = options();
  SUBCASE("no program") { none.program.clear(); }
  SUBCASE("no workers") { none.workers = 0; }
  worker_crew crew(none);
  CHECK_FALSE(crew.is_available());
  CHECK(crew.submit({}, {}, {}) == nullptr);
}

}  // namespace worker_crew_test
