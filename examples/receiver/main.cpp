// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A telescope's receiver: channelises, correlates, forms beams and flags interference, frame by
// frame, and checks the results against the input signals.
#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "examples/common/choose_device.hpp"
#include "examples/receiver/behind.hpp"
#include "examples/receiver/checks.hpp"
#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/knobs.hpp"
#include "examples/receiver/receiver.hpp"
#include "libtune/child.hpp"
#include "libtune/extra/metrics/capture_metrics.hpp"

namespace {

using receiver::settings;

struct arguments {
  settings sizes;
  double seconds = 0;          // seconds of samples; 0: enough frames for three dumps
  std::optional<double> rate;  // million samples/s; 0: as fast as possible
  std::optional<std::size_t> device;
  bool tunes = false;
  bool together = false;
  double ready = 0;  // seconds to be ready
  std::size_t behind = 0;
  bool asleep = false;
  double knobs = 0;                // seconds to tune them
  std::optional<double> deadline;  // ms
  bool times = false;
  std::string capture;
  std::uint64_t capture_each = 1000;
  std::string metrics;
  std::string picture = "receiver.svg";
};

void declare(CLI::App& app, arguments& given) {
  using CLI::Range;
  settings& s = given.sizes;
  const auto powers = [](const std::string& text) {
    std::size_t number = 0;
    const bool is_power = CLI::detail::lexical_cast(text, number) && std::has_single_bit(number);
    return is_power ? std::string() : text + " is no power of two";
  };
  app.add_option("--antennas", s.antennas, "antennas, each with two polarisations")
      ->capture_default_str()
      ->check(Range(2, 16));
  app.add_option("--channels", s.channels, "channels, a power of two")
      ->capture_default_str()
      ->check(Range(64, 65536) & CLI::Validator(powers, "POWER OF TWO"));
  app.add_option("--bits", s.bits, "of a sample")->capture_default_str()->check(Range(4, 16));
  app.add_option("--heaps", s.heaps, "heaps of a frame, a power of two")
      ->capture_default_str()
      ->check(Range(1, 1024) & CLI::Validator(powers, "POWER OF TWO"));
  app.add_option("--dump", s.frames_of_dump, "frames that a dump adds up")
      ->capture_default_str()
      ->check(Range(1, 100000));
  app.add_option("--seconds", given.seconds, "of samples to receive; without it three dumps")
      ->check(Range(0.0, 3600.0));
  app.add_option("--rate", given.rate,
                 "million samples/s of each polarisation, at which frames come in; 0: as fast as "
                 "they can be received. 1712 on a GPU by default, else 0")
      ->check(Range(0.0, 1e6));
  app.add_option("--device", given.device, "index of the device, as tunedb lists them");
  app.add_flag("--tune", given.tunes,
               "tune kernels that have no result on a CPU too, where the defaults are used");
  app.add_flag("--together", given.together, "tune the channeliser as a whole");
  app.add_option("--ready", given.ready,
                 "tune kernels that have no result for so many seconds in all, those first that "
                 "save most of a frame's time, and the others behind the receiver")
      ->check(Range(1e-3, 3600.0));
  app.add_option("--behind", given.behind,
                 "tune so many kernels of other observations behind the receiver, as far as "
                 "they have no result")
      ->check(Range(0, 1000));
  app.add_flag("--asleep", given.asleep,
               "let the program sleep until a frame comes or ends; on a GPU it polls, which takes "
               "one core of the host");
  app.add_option("--knobs", given.knobs,
                 "tune heaps, frames in flight, queues, graphs and waiting for the highest rate at "
                 "which frames are in time, in so many seconds, and receive at 90 % of that rate")
      ->check(Range(1.0, 3600.0));
  app.add_option("--deadline", given.deadline,
                 "ms from the last sample of a frame to its results; by default the time of three "
                 "frames")
      ->check(Range(1e-3, 1e6));
  app.add_flag("--times", given.times, "measure the stages of a frame by themselves and in place");
  app.add_option("--capture", given.capture,
                 "folder for captured frames, for tunedb replay; the first, and then each n-th");
  app.add_option("--capture-each", given.capture_each, "n of these")
      ->capture_default_str()
      ->check(Range(1, 1000000000));
  app.add_option("--metrics", given.metrics,
                 "file for metrics, whose name ends in .prom; each 15 s, and at the end");
  app.add_option("--picture", given.picture, "file for the picture, as SVG; empty: none")
      ->capture_default_str();
}

void print_run(const settings& sizes, const receiver::run_report& report) {
  std::string late = "none can be late";
  if (report.allowed > 0) {
    late = fmt::format("{} late, {} of them while the system stopped the program for over 1 ms",
                       report.late, report.late_stopped);
  }
  std::cout << fmt::format(
      "Received {} frames of {:.3f} ms in {:.3f} s: {}\n"
      "Half of them took no more than {:.3f} ms, 999 of 1000 no more than {:.3f} ms, the longest "
      "{:.3f} ms; the system stopped the program for at most {:.3f} ms\n"
      "{:.2f} GB/s in, {:.2f} GB/s out; {:.0f} million samples/s of each of {} inputs\n",
      report.frames, 1e3 * sizes.frame_seconds(), report.elapsed, late, 1e3 * report.median,
      1e3 * report.p999, 1e3 * report.longest, 1e3 * report.stopped,
      1e-9 * report.bytes_in / report.elapsed, 1e-9 * report.bytes_out / report.elapsed,
      1e-6 * static_cast<double>(report.frames * sizes.samples()) / report.elapsed,
      sizes.antennas * receiver::polarisations);
}

void print_times(const settings& sizes, const receiver::frame_times& times) {
  double alone = 0;
  double in_place = 0;
  for (const receiver::stage_time& each : times.stages) {
    alone += each.alone;
    in_place += each.in_place;
  }
  std::cout << fmt::format("{:>12}  {:>10}  {:>10}  {:>6}\n", "stage", "alone", "in place",
                           "share");
  for (const receiver::stage_time& each : times.stages) {
    std::cout << fmt::format("{:>12}  {:>7.1f} us  {:>7.1f} us  {:>4.1f} %\n", each.name,
                             1e6 * each.alone, 1e6 * each.in_place, 100 * each.in_place / in_place);
  }
  std::cout << fmt::format(
      "A frame: {:.1f} us by the stages alone, {:.1f} us by the stages in place, {:.1f} us end to "
      "end, {:+.1f} % of the first; {:.1f} % of the time in which it is digitised\n",
      1e6 * alone, 1e6 * in_place, 1e6 * times.whole, 100 * (times.whole / alone - 1),
      100 * times.whole / sizes.frame_seconds());
}

void print_front(const char* tuned, const tune::sequence_times& times) {
  const auto us = [](tune::run_time time) { return 1e-3 * time.count(); };
  std::cout << fmt::format(
      "The channeliser of an antenna, {}: {:.1f} us by its operations alone, {:.1f} us by these in "
      "place, {:.1f} us as a whole\n",
      tuned, us(times.alone()), us(times.in_place()), us(times.whole));
}

bool print_checks(const std::vector<receiver::check>& checks) {
  bool all = true;
  for (const receiver::check& each : checks) {
    std::cout << fmt::format("  {:<5} {}: {}\n", each.passed ? "right" : "WRONG", each.name,
                             each.found);
    all = all && each.passed;
  }
  return all;
}

/// Tunes the knobs, and takes them and 90 % of their rate for the run.
receiver::run_knobs tune_for_deadline(const tune::context& context, arguments& given,
                                      settings& sizes, bool polls, double deadline) {
  std::size_t runs = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto kernels =
      given.tunes || polls ? tune::kernel_turns::after_knobs : tune::kernel_turns::never;
  const tune::tuned_knobs found =
      receiver::tune_knobs(context, sizes, polls, kernels, deadline, given.knobs,
                           [&](const tune::pipeline_run&) { ++runs; });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const std::string kept =
      found.rate > 0 ? fmt::format("they keep up to {:.0f} million samples/s", 1e-6 * found.rate)
                     : "set by hand, as no configuration was found to keep the deadline";
  std::cout << fmt::format(
      "Knobs for frames in {:.2f} ms, tuned in {:.1f} s with {} runs: {}; {}\n", 1e3 * deadline,
      elapsed.count(), runs, to_string(found.knobs.values()), kept);
  const receiver::chosen_knobs chosen = receiver::from(found.knobs);
  sizes.frames_of_dump =
      std::max<std::size_t>(1, sizes.frames_of_dump * sizes.heaps / chosen.heaps);
  sizes.heaps = chosen.heaps;
  if (!given.rate) {
    given.rate = 0.9e-6 * found.rate;
    if (found.rate > 0) sizes.sample_rate = 0.9 * found.rate;
  }
  return chosen.run;
}

/// Makes a receiver whose kernels are tuned for a limited time, and prints what is left.
// [ready]
void get_ready(const tune::context& context, std::optional<receiver::telescope>& telescope,
               const std::function<void()>& build, double seconds) {
  const tune::readiness_report report =
      tune::get_ready(context, build,
                      {.within = std::chrono::nanoseconds(std::llround(1e9 * seconds)),
                       .frame = [&] { return telescope->frame_parts(); }});
  std::cout << to_string(report) << std::flush;
}
// [ready]

tune::capture_options capture_of(const arguments& given) {
  if (given.capture.empty()) return {};
  return {.folder = given.capture, .each_nth = given.capture_each};
}

void print_capture(tune::capture& frames) {
  if (!frames.is_on()) return;
  frames.wait();
  const tune::capture_counts counts = frames.counts();
  std::cout << fmt::format(
      "Captured {} frames of {:.3f} GB of snapshots in files of {:.3f} GB; {} found no room, {} "
      "failed {}\n",
      counts.written, 1e-9 * static_cast<double>(frames.snapshot_bytes()),
      1e-9 * static_cast<double>(counts.bytes), counts.skipped, counts.failed,
      frames.last_failure());
}

int run(arguments& given) {
  const tune::device device = examples::choose_device(given.device);
  if (const std::string absence = tune::operations::fft_absence(device); !absence.empty()) {
    throw tune::no_device_error(absence);
  }
  const tune::context context = device.create_context();
  const bool is_gpu = device.kind() == tune::device_kind::gpu;
  settings& sizes = given.sizes;
  const bool polls = is_gpu && !given.asleep;
  const double rate = given.rate.value_or(is_gpu ? 1712 : 0);
  if (rate > 0) sizes.sample_rate = 1e6 * rate;
  receiver::run_knobs knobs{.wait = polls ? tune::loop_wait::polling : tune::loop_wait::asleep};
  const double deadline = given.deadline ? 1e-3 * *given.deadline : 3 * sizes.frame_seconds();
  if (given.knobs > 0) knobs = tune_for_deadline(context, given, sizes, polls, deadline);
  if (!is_gpu && !given.tunes && given.ready == 0) {
    tune::set_tuning_options(context, {.mode = tune::tuning_mode::defaults});
  }
  std::size_t frames = 3 * sizes.frames_of_dump;
  if (given.seconds > 0) {
    frames = static_cast<std::size_t>(std::ceil(given.seconds / sizes.frame_seconds()));
    frames = tune::round_up(std::max<std::size_t>(frames, 1), sizes.frames_of_dump);
  }
  std::cout << fmt::format(
      "Device: {}\n{} antennas, {} channels, {} bits; frames of {} spectra, dumps of {} frames\n",
      device.name(), sizes.antennas, sizes.channels, sizes.bits, sizes.spectra(),
      sizes.frames_of_dump);
  const tune::metrics_exporter metrics({.file = given.metrics});
  const receiver::digitiser input(sizes);
  std::optional<receiver::telescope> made;
  const auto build = [&] {
    made.reset();
    made.emplace(context, sizes, input, given.together, capture_of(given));
  };
  if (given.ready > 0) {
    get_ready(context, made, build, given.ready);
  } else {
    build();
  }
  receiver::telescope& telescope = *made;
  tune::add_capture(metrics, "receiver", telescope.captured());

  const bool is_paced = given.rate.value_or(rate) > 0;
  if (given.knobs > 0 || given.deadline) telescope.set_deadline(deadline);
  if (given.knobs > 0) telescope.run(sizes.frames_of_dump, false, knobs);  // its first frames

  if (given.behind > 0) {
    std::cout << receiver::tune_other_observations(context, sizes, given.behind)
              << " kernels of other observations are tuned behind it\n"
              << std::flush;
  }

  if (!given.capture.empty()) telescope.captured().request();
  tune::seal();  // later frames may only be enqueued
  const receiver::run_report report = telescope.run(frames, is_paced, knobs);
  tune::unseal();
  print_run(sizes, report);
  print_capture(telescope.captured());
  if (given.behind > 0) std::cout << receiver::describe_tuning_behind(report.elapsed);
  const bool right = print_checks(receiver::check_results(sizes, input.seen(), telescope));
  if (given.together) {
    print_front("each tuned alone", receiver::time_front(context, sizes, {}));
    print_front("tuned together",
                receiver::time_front(context, sizes, receiver::tune_together(context, sizes)));
  }
  if (given.times) print_times(sizes, telescope.time_stages());
  if (!given.picture.empty()) {
    receiver::draw(given.picture, sizes, input.seen(), telescope.received());
    std::cout << "Drawn to " << given.picture << '\n';
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Receives from a synthetic telescope, and checks what comes out.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const tune::no_device_error& failure) {
    std::cerr << "receiver: " << failure.what() << '\n';
    return 2;
  } catch (const std::exception& failure) {
    std::cerr << "receiver: " << failure.what() << '\n';
    return 1;
  }
}
