// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application that tunes behind itself, and ends when its key has a result, or is killed before
// by a test: behind_application <database> <log> [<what it does>]. It prints what it was served
// first, and in the end, then how many frames there were and how many went wrong.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "tests/child/sample_tuner.hpp"

namespace {

using namespace std::chrono_literals;

const char* name_of(tune::lookup_grade grade) {
  return grade == tune::lookup_grade::exact     ? "exact"
         : grade == tune::lookup_grade::nearest ? "nearest"
                                                : "miss";
}

/// Asks again when main has returned.
struct asks_at_exit {
  const tune::context* context = nullptr;
  isolated::sample_key key{};
  tune::tuning_options options{};
  ~asks_at_exit() {
    if (context == nullptr) return;
    key.configurations = 7;
    const auto found = isolated::sample_autotune.graded(*context, key, options);
    std::printf("at exit: %s %s\n", name_of(found.grade),
                found.is_tuned_behind ? "behind" : "alone");
  }
};
asks_at_exit last;

bool forked_process_refuses(const tune::context& context, const isolated::sample_key& key,
                            const tune::tuning_options& options) {
  const ::pid_t copy = ::fork();
  if (copy == 0) {
    try {
      const tune::idle_window window;
      isolated::sample_autotune.graded(context, key, options);
      ::_exit(1);
    } catch (const tune::forked_process_error&) {
      std::exit(0);  // through what runs at exit
    }
  }
  int status = 0;
  ::waitpid(copy, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool sealed_call_throws(const tune::context& context, const isolated::sample_key& key,
                        const tune::tuning_options& options) {
  try {
    isolated::sample_autotune.graded(context, key, options);
    return false;
  } catch (const tune::seal_broken_error&) {
    return true;
  }
}

// Neither this process nor its children can write a database from here on. The log, which may be
// a file too, gets warnings alone: on a busy machine it would need more than that.
void fill_disk() {
  ::setenv("LIBTUNE_LOG", "warning", 1);
  ::signal(SIGXFSZ, SIG_IGN);
  constexpr rlimit small{.rlim_cur = 4096, .rlim_max = 4096};
  ::setrlimit(RLIMIT_FSIZE, &small);
}

// No child can be started from here on.
void lose_program(const char* path) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
}

}  // namespace

int main(int count, char** arguments) {
  tune::serve_if_worker(count, arguments);
  if (count < 3) return 2;
  const std::string what = count > 3 ? arguments[3] : "";
  auto options = isolated::isolated_options(arguments[1]);
  options.mode = tune::tuning_mode::behind;
  const bool here = what == "no child" || what == "leaves, no child";
  options.isolation = here ? tune::isolation_mode::off : tune::isolation_mode::automatic;
  if (what.starts_with("full disk")) fill_disk();
  if (what.starts_with("no program")) lose_program(arguments[0]);
  if (what == "no program, no other way") options.isolation = tune::isolation_mode::on;
  options.watchdog.floor = 10s;
  options.behind = {.share = 1.0, .slice = std::chrono::microseconds(1s)};
  // Objects that outlive main ask with it.
  static const tune::context& context = *new tune::context(tune::select_device().create_context());
  const isolated::sample_key key{.configurations = 40, .sleep_us = 3'000, .log = arguments[2]};
  const auto found = isolated::sample_autotune.graded(context, key, options);
  std::printf("%s %d %s\n", name_of(found.grade), found.tuning.n,
              found.is_tuned_behind ? "behind" : "alone");
  if (what.starts_with("leaves")) {
    last.context = &context;
    last.key = key;
    last.options = options;
    while (tune::behind_report().slices < 5) std::this_thread::sleep_for(1ms);
    return 0;
  }
  if (what == "forks")
    std::printf("%s\n",
                forked_process_refuses(context, key, options) ? "refuses" : "does not refuse");
  if (what == "sealed") tune::seal();
  int frames = 0;
  int wrong = 0;
  tune::heartbeat pulse;
  const auto end = std::chrono::steady_clock::now() + 120s;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
    pulse.beat();
    ++frames;
    if (what == "sealed") wrong += sealed_call_throws(context, key, options) ? 0 : 1;
    const tune::behind_summary now = tune::behind_report();
    if (now.waiting == 0 && now.current.empty()) break;
  }
  if (what == "sealed") tune::unseal();
  const auto after = isolated::sample_autotune.graded(context, key, options);
  std::printf("%s %d %s\n", name_of(after.grade), after.tuning.n,
              after.is_tuned_behind ? "behind" : "alone");
  std::printf("%d wrong\n", wrong);
  std::printf("failure: %s\n", tune::behind_report().failure.c_str());
  std::fflush(stdout);
  return frames > 0 && wrong == 0 ? 0 : 1;
}
