// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does tuning behind an application cost it, and what does it gain?
//
// Frames begin every --frame ms: fill and transpose on one queue, fft (if there is a library) and
// hreduce on another, repeated to take 60 % of the frame. First the application runs alone, with
// test defaults; then with the same tunings while keys are tuned behind it, with a fresh database;
// then the same keys are tuned with nothing else on the device. Reported, alone and with tuning:
// frames per second, late frames, the longest call that enqueues an operation and the 99.9th
// percentile, and the same for the times of frames; for each key the tuning time behind and
// offline, and the ratio of the times of the tunings found.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/libtune.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

struct settings {
  double seconds = 5;
  double frame_ms = 5;
  double load = 0.6;
  std::size_t keys = 3;
  double share = 0.05;
  std::size_t slice_us = 0;
  double longest_s = 600;
  std::optional<std::size_t> device;
  std::size_t edge = 0;
  bool tells = false;
};

struct temporary_folder {
  temporary_folder() { std::filesystem::create_directories(path); }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("libtune_behind_bench_{}", ::getpid());
};

double ms(nanoseconds time) { return 1e-6 * static_cast<double>(time.count()); }

struct times {
  std::vector<nanoseconds> all;

  void add(nanoseconds one) { all.push_back(one); }
  nanoseconds longest() const {
    return all.empty() ? nanoseconds(0) : *std::ranges::max_element(all);
  }
  nanoseconds quantile(double part) {
    if (all.empty()) return nanoseconds(0);
    const auto place = static_cast<std::size_t>(part * static_cast<double>(all.size() - 1));
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(place));
    return all[place];
  }
};

/// The figures of a run of the application.
struct course {
  times launches;
  times frames;
  std::size_t late = 0;
  nanoseconds elapsed{0};

  void report(const char* name) {
    const double seconds = 1e-9 * static_cast<double>(elapsed.count());
    fmt::print("{:<8} {:>9.2f} {:>6} {:>12.4f} {:>12.4f} {:>12.3f} {:>12.3f}\n", name,
               static_cast<double>(frames.all.size()) / seconds, late, ms(launches.longest()),
               ms(launches.quantile(0.999)), ms(frames.longest()), ms(frames.quantile(0.999)));
    std::fflush(stdout);
  }
};

/// The pipeline, with its operations and their arrays.
class application {
 public:
  application(const tune::context& context, const settings& given)
      : given_(given),
        first_(context.create_command_queue()),
        second_(context.create_command_queue()),
        pulse_(nanoseconds(static_cast<long>(given.frame_ms * 1e6))) {
    const bool is_cpu = context.device().kind() == tune::device_kind::cpu;
    const std::size_t edge = given.edge > 0 ? given.edge : is_cpu ? 256 : 2048;
    const tune::element_type type = tune::dtype::float32;
    add(fill_template(context, type, fill_tuning{}).instantiate(first_, {edge, edge}), first_);
    add(transpose_template(context, type, transpose_tuning{}).instantiate(first_, edge, edge),
        first_);
    if (fft_absence(context.device()).empty()) {
      const fft_description lines{.size = {edge, edge}};
      add(fft_template(context, lines, fft_tuning{}).instantiate(second_), second_);
    }
    add(hreduce_template(context, sum_of(type), edge, hreduce_tuning{})
            .instantiate(second_, edge, edge),
        second_);
    calibrate();
  }

  std::size_t repeats() const { return repeats_; }

  /// Runs frames at their pace until goes_on returns false.
  course run(const std::function<bool(nanoseconds)>& goes_on) {
    course made;
    const nanoseconds period(static_cast<long>(given_.frame_ms * 1e6));
    const auto begin = clock_type::now();
    auto due = begin;
    pulse_.rest();
    while (goes_on(clock_type::now() - begin)) {
      const auto start = clock_type::now();
      if (given_.tells) pulse_.begin();
      frame(&made.launches);
      if (given_.tells) pulse_.end();
      const auto end = clock_type::now();
      pulse_.beat();
      made.frames.add(end - start);
      due += period;
      if (end > due) {
        ++made.late;
        pulse_.late();
        due = end;
      }
      std::this_thread::sleep_until(due);
    }
    pulse_.rest();
    made.elapsed = clock_type::now() - begin;
    return made;
  }

 private:
  struct step {
    std::unique_ptr<tune::operation> operation;
  };

  template <class Operation>
  void add(Operation made, tune::command_queue& queue) {
    auto kept = std::make_unique<Operation>(std::move(made));
    kept->ensure_all_bound();
    for (const auto& each : kept->slots()) {
      if (each.name == "src" || each.name == "data") kept->buffer(each.name).zero(queue);
    }
    steps_.push_back({std::move(kept)});
  }

  void frame(times* launches) {
    for (std::size_t i = 0; i < repeats_; ++i) {
      for (step& each : steps_) {
        const auto begin = clock_type::now();
        each.operation->run();
        if (launches != nullptr) launches->add(clock_type::now() - begin);
      }
    }
    first_.finish();
    second_.finish();
  }

  // Sets the work of a frame to its part of the frame's time.
  void calibrate() {
    for (int i = 0; i < 5; ++i) frame(nullptr);
    times once;
    for (int i = 0; i < 21; ++i) {
      const auto begin = clock_type::now();
      frame(nullptr);
      once.add(clock_type::now() - begin);
    }
    const double each = ms(once.quantile(0.5));
    repeats_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(given_.load * given_.frame_ms / std::max(each, 1e-3)));
  }

  const settings& given_;
  tune::command_queue first_;
  tune::command_queue second_;
  std::vector<step> steps_;
  std::size_t repeats_ = 1;
  tune::heartbeat pulse_;
};

/// A key that is tuned twice.
struct subject {
  std::string name;
  /// Requests its tuning; true if it is the result of this device.
  std::function<bool(const tune::context&, const tune::tuning_options&)> ask;
  /// The time of a run with the tuning that the options find.
  std::function<tune::run_time(const tune::context&, const tune::tuning_options&)> time;
  double behind_s = 0;
  double offline_s = 0;
};

template <class Operation>
tune::run_time median_of(const tune::tuning_command_queue& queue, Operation op) {
  op.ensure_all_bound();
  tune::command_queue filling = queue;
  op.buffer("src").zero(filling);
  tune::measure timed = tune::make_measure(queue, std::move(op));
  timed.prepare();
  timed.run();
  return tune::samples(timed.sample(100)).median();
}

subject transpose_subject(std::size_t bytes, tune::element_type type, std::size_t edge) {
  const transpose_key key{bytes};
  return {.name = fmt::format("transpose of {} bytes", bytes),
          .ask =
              [key](const tune::context& on, const tune::tuning_options& options) {
                return transpose_template::autotune.graded(on, key, options).grade ==
                       tune::lookup_grade::exact;
              },
          .time =
              [key, type, edge](const tune::context& on, const tune::tuning_options& options) {
                const transpose_template tuned(on, type,
                                               transpose_template::autotune(on, key, options));
                const auto queue = on.create_tuning_command_queue();
                return median_of(queue, tuned.instantiate(queue, edge, edge));
              }};
}

subject hreduce_subject(std::size_t columns) {
  const reduction sum = sum_of(tune::dtype::float32);
  const hreduce_key key{.type = std::string(sum.type.name()),
                        .element_bytes = sum.type.bytes(),
                        .operation = sum.operation,
                        .identity = sum.identity,
                        .definitions = sum.definitions,
                        .columns = columns};
  return {.name = fmt::format("sums of {}", columns),
          .ask =
              [key](const tune::context& on, const tune::tuning_options& options) {
                return hreduce_template::autotune.graded(on, key, options).grade ==
                       tune::lookup_grade::exact;
              },
          .time =
              [key, sum, columns](const tune::context& on, const tune::tuning_options& options) {
                const hreduce_template tuned(on, sum, columns,
                                             hreduce_template::autotune(on, key, options));
                const auto queue = on.create_tuning_command_queue();
                return median_of(queue, tuned.instantiate(queue, 2048, columns));
              }};
}

std::vector<subject> make_subjects(std::size_t count) {
  std::vector<subject> all;
  all.push_back(transpose_subject(4, tune::dtype::float32, 2048));
  all.push_back(hreduce_subject(2048));
  all.push_back(transpose_subject(8, tune::dtype::complex64, 2048));
  for (std::size_t columns = 512; columns <= 65536; columns *= 4) {
    all.push_back(hreduce_subject(columns));
  }
  if (all.size() > count) all.resize(count);
  return all;
}

// What the application does while the tuner works through the subjects, and how many it finished.
struct tuned_beside {
  course beside;
  std::size_t done = 0;
};

tuned_beside run_beside(application& app, std::vector<subject>& subjects, double longest_s) {
  std::size_t done = 0;
  course beside = app.run([&](nanoseconds elapsed) {
    const tune::behind_summary now = tune::behind_report();
    for (; done < now.tuned + now.failed && done < subjects.size(); ++done) {
      subjects[done].behind_s = 1e-9 * static_cast<double>(elapsed.count());
    }
    return done < subjects.size() && 1e-9 * static_cast<double>(elapsed.count()) < longest_s;
  });
  return {std::move(beside), done};
}

void report(const tune::behind_summary& told, nanoseconds elapsed) {
  fmt::print(
      "{} slices, {:.3f} s of the device ({:.2f} % of the time), the longest {:.3f} ms; {} "
      "repeated, {} configurations too long, slowed down by {:.2f}\n",
      told.slices, 1e-3 * ms(told.used), 100 * ms(told.used) / ms(elapsed), ms(told.longest_slice),
      told.repeated, told.deferred, told.slowdown);
  fmt::print("where the time went: {}\n", tune::to_string(told.spent));
  std::fflush(stdout);
}

// The tunings from behind against those of searches that have the device alone.
void compare_tunings(std::vector<subject>& subjects, const tune::context& context,
                     const tune::tuning_options& offline, const tune::tuning_options& found) {
  fmt::print("{:<24} {:>9} {:>9} {:>12} {:>12} {:>8}\n", "key", "behind, s", "alone, s",
             "behind, us", "alone, us", "of it");
  for (subject& each : subjects) {
    const auto begin = clock_type::now();
    static_cast<void>(each.ask(context, offline));
    each.offline_s = 1e-3 * ms(clock_type::now() - begin);
    const double theirs = each.time(context, offline).count();
    try {
      const double ours = each.time(context, found).count();
      fmt::print("{:<24} {:>9.2f} {:>9.2f} {:>12.2f} {:>12.2f} {:>8.3f}\n", each.name,
                 each.behind_s, each.offline_s, 1e-3 * ours, 1e-3 * theirs, theirs / ours);
    } catch (const tune::error& missing) {
      fmt::print("{:<24} {:>9} {:>9.2f}  {}\n", each.name, "-", each.offline_s, missing.what());
    }
    std::fflush(stdout);
  }
}

int compare(const settings& given) {
  const std::vector<tune::device> devices = tune::all_devices();
  if (devices.empty()) {
    fmt::print("no device\n");
    return 2;
  }
  const tune::device device = given.device ? devices.at(*given.device) : tune::select_device();
  const tune::context context = device.create_context();
  // The tuner behind this program writes until the end of the process.
  static const temporary_folder made;
  const std::filesystem::path& folder = made.path;
  tune::tuning_options behind{.database = (folder / "behind.db").string(),
                              .mode = tune::tuning_mode::behind};
  behind.behind.share = given.share;
  if (given.slice_us > 0) behind.behind.slice = std::chrono::microseconds(given.slice_us);
  tune::tuning_options offline{.database = (folder / "offline.db").string(),
                               .mode = tune::tuning_mode::tune};
  std::vector<subject> subjects = make_subjects(given.keys);

  application app(context, given);
  fmt::print("{}: frames of {} ms, operations repeated {} times, share {:.0f} %\n", device.name(),
             given.frame_ms, app.repeats(), 100 * given.share);
  fmt::print("{:<8} {:>9} {:>6} {:>12} {:>12} {:>12} {:>12}\n", "", "frames/s", "late",
             "launch, ms", "its p99.9", "frame, ms", "its p99.9");
  const nanoseconds alone_time(static_cast<long>(given.seconds * 1e9));
  course alone = app.run([&](nanoseconds elapsed) { return elapsed < alone_time; });
  alone.report("alone");

  times first_calls;
  for (subject& each : subjects) {
    const auto begin = clock_type::now();
    static_cast<void>(each.ask(context, behind));
    first_calls.add(clock_type::now() - begin);
  }
  auto [beside, done] = run_beside(app, subjects, given.longest_s);
  beside.report("beside");
  const tune::behind_summary told = tune::behind_report();
  fmt::print("throughput beside/alone {:.4f}; first calls at most {:.1f} ms\n",
             (static_cast<double>(beside.frames.all.size()) / ms(beside.elapsed)) /
                 (static_cast<double>(alone.frames.all.size()) / ms(alone.elapsed)),
             ms(first_calls.longest()));
  report(told, beside.elapsed);
  if (done < subjects.size())
    fmt::print("{} keys were not tuned in time\n", subjects.size() - done);
  const tune::behind_pause rest;  // later measurements need a free device
  static_cast<void>(rest.wait(std::chrono::seconds(5)));

  tune::tuning_options found = behind;
  found.mode = tune::tuning_mode::cached;
  compare_tunings(subjects, context, offline, found);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App options("An application with frames, alone and with keys that are tuned behind it.");
  options.add_option("--seconds", given.seconds, "the time alone");
  options.add_option("--keys", given.keys, "how many keys are tuned, at most 7");
  options.add_option("--device", given.device, "its index");
  options.add_option("--share", given.share, "of the device, for the tuner");
  options.add_option("--slice", given.slice_us, "of the tuner, in us; 0: the default");
  options.add_option("--frame", given.frame_ms, "the time of a frame, in ms");
  options.add_option("--load", given.load, "the part of a frame in which the application works");
  options.add_option("--edge", given.edge, "of the application's arrays; 0: by the device");
  options.add_flag("--tell", given.tells, "tell the tuner when a frame begins and ends");
  options.add_option("--longest", given.longest_s, "the longest time beside the tuner, in s");
  CLI11_PARSE(options, argc, argv);
  return compare(given);
}
