// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/seal.hpp"

#include <doctest/doctest.h>
#include <future>
#include <string>
#include <thread>

#include "libtune/testing/fixtures.hpp"

namespace seal_test {

using namespace tune;
using tune::testing::scoped_seal;

void come_to_a_door(sealed_action action = sealed_action::compile) {
  tune::detail::check_seal(action, [] { return std::string("do a thing on device 'GPU One'"); });
}

bool is_stopped() {
  try {
    come_to_a_door();
    return false;
  } catch (const tune::seal_broken_error&) {
    return true;
  }
}

template <class Function>
auto on_another_thread(Function function) {
  return std::async(std::launch::async, function).get();
}

TEST_CASE("where nothing is sealed a door is passed and its text is not made") {
  REQUIRE_FALSE(tune::is_sealed());
  bool made = false;
  tune::detail::check_seal(sealed_action::tune, [&] {
    made = true;
    return std::string();
  });
  CHECK_FALSE(made);
}

TEST_CASE("a sealed thread is stopped by an error that says what was asked and what to do") {
  const scoped_seal sealed;
  CHECK(tune::is_sealed());
  try {
    come_to_a_door(sealed_action::allocate);
    FAIL("passed");
  } catch (const tune::seal_broken_error& stopped) {
    const std::string text = stopped.what();
    INFO(text);
    CHECK(stopped.action() == sealed_action::allocate);
    CHECK(text.find("do a thing on device 'GPU One': refused") == 0);
    CHECK(text.find("before seal()") != std::string::npos);
    CHECK(text.find("tune::unsealed_section") != std::string::npos);
  }
}

TEST_CASE("in counting mode the door is passed, and the report has what and where") {
  {
    const scoped_seal sealed(seal_mode::counts);
    CHECK_FALSE(is_stopped());
    CHECK_NOTHROW(come_to_a_door(sealed_action::database));
    CHECK_NOTHROW(come_to_a_door(sealed_action::database));
  }
  const tune::seal_summary report = tune::seal_report();  // stays when the seal has ended
  CHECK(report.total() == 3);
  CHECK(report.count(sealed_action::compile) == 1);
  CHECK(report.count(sealed_action::database) == 2);
  CHECK(report.count(sealed_action::tune) == 0);
  REQUIRE(report.first.size() == 3);
  CHECK(report.first[1].action == sealed_action::database);
  CHECK(report.first[1].what == "do a thing on device 'GPU One'");
  CHECK(report.first[1].thread.find('(') != std::string::npos);
  CHECK_FALSE(report.first[1].stack.empty());
}

TEST_CASE("the report keeps the first reasons, counts all, and begins anew with the next seal") {
  {
    const scoped_seal sealed(seal_mode::counts);
    for (int i = 0; i < 100; ++i) come_to_a_door();
    CHECK(tune::seal_report().total() == 100);
    CHECK(tune::seal_report().first.size() == tune::seal_summary::most_kept);
  }
  const scoped_seal again(seal_mode::counts);
  CHECK(tune::seal_report().total() == 0);
  CHECK(tune::seal_report().first.empty());
}

TEST_CASE("what throws is counted too") {
  const scoped_seal sealed;
  CHECK(is_stopped());
  CHECK(tune::seal_report().count(sealed_action::compile) == 1);
}

TEST_CASE("a seal of the program stops every thread but those in an unsealed section") {
  const scoped_seal sealed({.scope = seal_scope::program});
  CHECK(is_stopped());
  CHECK(on_another_thread(is_stopped));
  CHECK_FALSE(on_another_thread([] {
    const tune::unsealed_section control;
    return is_stopped() || tune::is_sealed();
  }));
  CHECK(is_stopped());
}

TEST_CASE("a seal of one thread leaves the others alone, and ends with the thread") {
  CHECK(on_another_thread([] {
    tune::seal({.scope = seal_scope::this_thread});
    return is_stopped();
  }));
  CHECK(tune::detail::seals == 0);
  const scoped_seal sealed;
  CHECK(is_stopped());
  CHECK_FALSE(on_another_thread(is_stopped));
}

TEST_CASE("sections nest, and unseal ends only the seal of its scope") {
  tune::seal();
  tune::seal({.mode = seal_mode::counts, .scope = seal_scope::this_thread});
  CHECK_FALSE(is_stopped());  // the thread's own seal counts more
  {
    const tune::unsealed_section outer;
    {
      const tune::unsealed_section inner;
      CHECK_FALSE(tune::is_sealed());
    }
    CHECK_FALSE(tune::is_sealed());
  }
  tune::unseal(seal_scope::this_thread);
  CHECK(is_stopped());
  tune::unseal();
  CHECK_FALSE(is_stopped());
  tune::unseal();  // once more is fine
  CHECK(tune::detail::seals == 0);
}

TEST_CASE("what cannot throw is counted in either mode") {
  const auto leave = [] {
    tune::detail::note_seal(sealed_action::release, [] { return std::string("release it"); });
  };
  for (const seal_mode mode : {seal_mode::throws, seal_mode::counts}) {
    const scoped_seal sealed(mode);
    CHECK_NOTHROW(leave());
    CHECK(tune::seal_report().count(sealed_action::release) == 1);
    CHECK(tune::seal_report().first.front().what == "release it");
  }
}

TEST_CASE("threads come to doors together while seals come and go") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int turn = 0; turn < 200; ++turn) {
        const scoped_seal sealed(turn % 2 == 0 ? seal_mode::throws : seal_mode::counts);
        if (is_stopped() != (turn % 2 == 0)) std::abort();
        static_cast<void>(tune::seal_report());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(tune::detail::seals == 0);
}

TEST_CASE("every action has a name of its own") {
  CHECK(std::string(tune::sealed_action_name(sealed_action::tune)) == "tune");
  CHECK(std::string(tune::sealed_action_name(sealed_action::process)) == "process");
}

}  // namespace seal_test
