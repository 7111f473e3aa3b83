// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process that tunes when main has returned: in the destructor of a static object, and in a
// thread that nobody has joined, while and after all other static objects are destroyed.
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>

#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "tests/tune/scale.hpp"

namespace {

void ask(const char* who, int size);

std::atomic<bool> all_are_gone{false};
std::jthread& thread = *new std::jthread;  // never destroyed, as the context

/// The oldest static object, destroyed last.
struct oldest {
  ~oldest() {
    all_are_gone = true;
    thread.join();
    tune::log(tune::log_level::warning, "the last line");
    tune::warn_once("the last warning");
    std::printf("%s\n", tune::is_sealed() ? "sealed" : "not sealed");
  }
};

const oldest first;
const sample::counted_autotuner counted;

struct youngest {
  ~youngest() {
    ask("destructor", 64);
    ask("destructor", 65);
  }
};
const youngest last;

const tune::context& context() {
  static const auto& made = *new tune::context(sample::make_device().device().create_context());
  return made;
}

void ask(const char* who, int size) {
  try {
    const int before = counted.searches;
    const sample::scale_tuning found = counted.autotune(context(), {.size = size});
    std::printf("%s: size=%d wgs=%d rows=%d searches=%d\n", who, size, found.wgs, found.rows,
                counted.searches - before);
  } catch (const std::exception& failure) {
    std::printf("%s: %s\n", who, failure.what());
  }
}

}  // namespace

int main() {
  // What is told here and what is logged come in the order of their making.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  ask("main", 64);
  tune::seal({.mode = tune::seal_mode::counts, .scope = tune::seal_scope::this_thread});
  thread = std::jthread([] {
    while (!all_are_gone) std::this_thread::yield();
    ask("thread", 64);
    ask("thread", 66);
  });
  return 0;
}
