// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/child/sample_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/tune/options.hpp"

namespace isolated {
namespace {

// One write of a short line: it is in the file, or it is not, when the program is killed.
void append_line(const std::string& path, const std::string& line) {
  if (path.empty()) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<::ssize_t>(line.size())) {
    std::perror("sample_tuner");
    ::_exit(2);
  }
  ::close(file);
}

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void use_up_memory() {
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit limit{.rlim_cur = most, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_AS, &limit);
  struct restore {
    rlimit to;
    ~restore() { ::setrlimit(RLIMIT_AS, &to); }
  } const at_end{before};
  std::vector<std::vector<char>> kept;
  while (true) kept.emplace_back(std::size_t{1} << 24, 'x');
}

/// Whether this is the first time, in whatever process.
bool is_first_time(const sample_key& key) {
  const int file = ::open((key.log + ".once").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

void babble() {
  for (int file = 3; file < 64; ++file) static_cast<void>(!::write(file, "nonsense, and more", 18));
}

void lower_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 40;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void block_signals() {
  sigset_t some;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &some, nullptr);
}

void ignore_alarm(int) {}

// Without the files of its parent, as a daemon would.
void leave_session(const std::string& log) {
  const ::pid_t other = ::fork();
  if (other == 0) {
    ::setsid();
    ::close_range(3, ~0U, 0);
    hang();
  }
  append_line(log + ".left", std::to_string(other) + '\n');
}

void misbehave_to_process(const sample_key& key) {
  switch (key.flaw) {
    case flaw::closes: static_cast<void>(::close_range(0, ~0U, 0)); return;
    case flaw::babbles: return babble();
    case flaw::seals: return tune::seal();
    case flaw::lowers_limit: return lower_limit();
    case flaw::changes_folder: static_cast<void>(!::chdir("/")); return;
    case flaw::blocks_signals: return block_signals();
    case flaw::leaves_handler: ::signal(SIGALRM, ignore_alarm); return;
    case flaw::forks: static_cast<void>(::fork()); return;
    case flaw::leaves_session: return leave_session(key.log);
    default: return;
  }
}

void misbehave_once(const sample_key& key) {
  switch (key.flaw) {
    case flaw::terminated_once: ::raise(SIGTERM); return;
    case flaw::killed_once: ::raise(SIGKILL); return;
    case flaw::paused_once: ::raise(SIGSTOP); return;
    default: return;
  }
}

bool is_of_once(flaw what) {
  return what == flaw::terminated_once || what == flaw::killed_once || what == flaw::paused_once;
}

void misbehave_generated(const sample_key& key) {
  misbehave_to_process(key);
  switch (key.flaw) {
    case flaw::short_of_memory_once:
      if (is_first_time(key)) throw std::bad_alloc();
      return;
    case flaw::hangs_generated: hang();
    case flaw::aborts: std::abort();
    case flaw::exits: ::_exit(3);
    case flaw::out_of_memory: return use_up_memory();
    case flaw::throws: throw std::runtime_error("it does not want to");
    default: return;
  }
}

void misbehave_run(flaw what) {
  if (what == flaw::hangs) hang();
  if (what != flaw::segfault) return;
  // Sanitizers would make an exit status of it.
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}

tune::measure generate(const sample_key& key, const sample_tuning& tuning) {
  const bool bad = tuning.n == key.bad;
  if (bad) misbehave_generated(key);
  return tune::make_measure([=, logged = false](int) mutable {
    if (!logged) append_line(key.log, std::to_string(tuning.n) + '\n');
    logged = true;
    if (bad) misbehave_run(key.flaw);
    if (bad && is_of_once(key.flaw) && is_first_time(key)) misbehave_once(key);
    std::this_thread::sleep_for(std::chrono::microseconds(key.sleep_us));
    return tuning.n * 1e-6;
  });
}

tune::space<sample_tuning> make_space(int configurations) {
  std::vector<int> all(static_cast<std::size_t>(configurations));
  std::iota(all.rbegin(), all.rend(), 1);
  tune::space<sample_tuning> space;
  space.add(&sample_tuning::n, all);
  return space;
}

sample_tuning search(tune::tuning_session& session, const sample_key& key) {
  return session.tune(make_space(key.configurations),
                      [&](const sample_tuning& tuning) { return generate(key, tuning); });
}

}  // namespace

const tune::autotuner<sample_key, sample_tuning> sample_autotune{
    {.name = "isolated.sample"}, [](tune::tuning_session& session, const sample_key& key) {
      if (key.flaw == flaw::dies_outside) ::_exit(9);
      return search(session, key);
    }};

namespace {

/// The number of mappings of a library in this process.
double count_maps(const std::string& library) {
  const std::vector<std::string> maps = read_log("/proc/self/maps");
  return static_cast<double>(std::ranges::count_if(
      maps, [&](const std::string& map) { return map.find(library) != std::string::npos; }));
}

struct process_probe final : tune::probe {
  void after_runs(tune::trial& of, std::span<const tune::run_time>) override {
    tune::set_metric(of.metrics, {"process", static_cast<double>(::getpid())});
    tune::set_metric(of.metrics, {"pocl", count_maps("/libpocl.so")});
  }
};

double load_of(const tune::trial& item) {
  return static_cast<double>(10 * (std::get<std::int64_t>(item.configuration.at(0).value) % 5));
}

}  // namespace

const tune::autotuner<sample_key, sample_tuning> goal_autotune{
    {.name = "isolated.goal", .goal = {.objectives = {tune::maximise("load")}}},
    [](tune::tuning_session& session, const sample_key& key) {
      return session.tune(
          make_space(key.configurations),
          [&](const sample_tuning& tuning) { return generate(key, tuning).work({.flops = 1000}); },
          {.metrics = {.computed = {{.name = "load", .compute = load_of}},
                       .probes = {std::make_shared<process_probe>()}}});
    }};

const tune::autotuner<sample_key, sample_tuning> hungry_autotune{
    {.name = "isolated.hungry"}, [](tune::tuning_session& session, const sample_key& key) {
      const sample_key plain{
          .configurations = key.configurations, .sleep_us = key.sleep_us, .log = key.log};
      return session.tune(make_space(key.configurations), [&](const sample_tuning& tuning) {
        const auto bytes = static_cast<std::size_t>(key.bad * tuning.n) << 20;
        const tune::buffer held = session.context().create_buffer(bytes);
        tune::measure made = generate(plain, tuning);
        return std::move(made).check([held] { return std::optional<std::string>(); });
      });
    }};

const tune::autotuner<sample_key, sample_tuning> staged_autotune{
    {.name = "isolated.staged"}, [](tune::tuning_session& session, const sample_key& key) {
      sample_key first = key;
      first.flaw = flaw::none;
      const sample_tuning best = search(session, first);
      const auto space = make_space(key.configurations + best.n);
      return session.tune(space,
                          [&](const sample_tuning& tuning) { return generate(key, tuning); });
    }};

const tune::autotuner<sample_key, sample_tuning> selfish_autotune{
    {.name = "isolated.selfish"}, [](tune::tuning_session& session, const sample_key& key) {
      return selfish_autotune(session.context(), key, isolated_options(key.log));
    }};

tune::function_identity sample_function() {
  return {.name = "isolated.sample",
          .version = 0,
          .key_fields = tune::describe_fields<sample_key>(),
          .value_fields = tune::describe_fields<sample_tuning>()};
}

std::vector<std::string> read_log(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream log(path);
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

tune::tuning_options isolated_options(const std::string& database) {
  tune::tuning_options options{
      .database = database, .mode = tune::tuning_mode::tune, .isolation = tune::isolation_mode::on};
  options.watchdog.floor = std::chrono::seconds(1);
  options.compile_time = std::chrono::milliseconds(200);
  options.measure =
      tune::measure_settings{.time_limit = std::chrono::milliseconds(1), .max_iterations = 3};
  return options;
}

}  // namespace isolated
