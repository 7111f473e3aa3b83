// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does it cost a running receiver to capture frames?
//
// The receiver of examples/receiver (8 antennas, 4096 channels by default) runs sealed, with its
// snapshots allocated. First as fast as it can, in rounds that alternate without and with captures:
// the ratio of the throughputs. Then at --load (90 %) of the highest rate of the rounds without:
// the quantiles of the times of frames, from the last sample to the results on the host, and the
// late frames. A round with captures requests one frame every --every seconds; the writer then
// copies, compresses and writes during much of the round. Reported also: frames written, bytes of
// snapshots and files, and the ratio of the 99.9th percentiles.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/receiver.hpp"
#include "libtune/child.hpp"
#include "operations/fft/fft.hpp"

namespace {

struct settings {
  receiver::settings sizes{.antennas = 8, .channels = 4096, .heaps = 4};
  double seconds = 5;
  std::size_t rounds = 4;
  double load = 0.9;
  double every = 1;
  double gib = 8;
  double megabytes_per_second = 256;
  bool on_host = false;
  std::string folder;
  std::optional<std::size_t> device;
};

/// Requests a frame at intervals during its life, from a thread of its own.
class requests {
 public:
  requests(tune::capture& of, double every) : of_(of), thread_([this, every] { ask(every); }) {}
  ~requests() {
    ended_ = true;
    thread_.join();
    of_.request(0);
  }

 private:
  void ask(double every) const {
    const std::chrono::duration<double> interval(every);
    auto next = std::chrono::steady_clock::now();
    while (!ended_) {
      if (std::chrono::steady_clock::now() >= next) {
        of_.request();
        next += std::chrono::duration_cast<std::chrono::steady_clock::duration>(interval);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  tune::capture& of_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// A folder that is removed at the end.
struct scratch_folder {
  explicit scratch_folder(const std::string& given)
      : path(given.empty() ? std::filesystem::temp_directory_path()
                           : std::filesystem::path(given)) {
    path /= fmt::format("libtune-capture-{}", ::getpid());
    std::filesystem::create_directories(path);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void clear() const {
    for (const auto& each : std::filesystem::directory_iterator(path)) {
      std::filesystem::remove(each.path());
    }
  }
  std::filesystem::path path;
};

receiver::run_report run(receiver::telescope& telescope, const settings& given, std::size_t frames,
                         bool is_paced, bool captures) {
  const bool is_gpu = telescope.is_on_gpu();
  const auto wait = is_gpu ? tune::loop_wait::polling : tune::loop_wait::asleep;
  std::optional<requests> asking;
  if (captures) asking.emplace(telescope.captured(), given.every);
  return telescope.run(frames, is_paced, {.wait = wait});
}

double rate_of(const receiver::run_report& report) {
  return static_cast<double>(report.frames) / report.elapsed;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::uint64_t captured_by(receiver::telescope& telescope, const scratch_folder& folder) {
  telescope.captured().wait(std::chrono::minutes(10));
  folder.clear();
  return telescope.captured().counts().written;
}

/// Returns the highest rate, in frames/s.
double compare_throughput(receiver::telescope& telescope, const settings& given, std::size_t frames,
                          const scratch_folder& folder) {
  std::vector<double> without;
  std::vector<double> with;
  const std::uint64_t before = captured_by(telescope, folder);
  for (std::size_t i = 0; i < given.rounds; ++i) {
    without.push_back(rate_of(run(telescope, given, frames, false, false)));
    with.push_back(rate_of(run(telescope, given, frames, false, true)));
    captured_by(telescope, folder);
  }
  const std::uint64_t written = captured_by(telescope, folder) - before;
  const double plain = median_of(without);
  fmt::print(
      "As fast as it can: {:.1f} frames/s without captures, {:.1f} with {} captured frames: "
      "{:+.2f} % (rounds of {} frames: ",
      plain, median_of(with), written, 100 * (median_of(with) / plain - 1), frames);
  for (std::size_t i = 0; i < with.size(); ++i)
    fmt::print("{:+.2f} ", 100 * (with[i] / without[i] - 1));
  fmt::print("%)\n");
  return plain;
}

void print_frames(const char* name, const receiver::run_report& report) {
  fmt::print(
      "  {:<8} {} frames: half within {:.3f} ms, 999 of 1000 within {:.3f} ms, the longest "
      "{:.3f} ms, {} late ({} while the system stopped the program)\n",
      name, report.frames, 1e3 * report.median, 1e3 * report.p999, 1e3 * report.longest,
      report.late, report.late_stopped);
}

void compare_times(receiver::telescope& telescope, const settings& given, double highest,
                   const scratch_folder& folder) {
  const double rate = given.load * highest;
  telescope.set_sample_rate(rate * static_cast<double>(given.sizes.samples()));
  const auto frames = static_cast<std::size_t>(std::max(1000.0, given.seconds * rate));
  fmt::print("At {:.0f} % of that, a frame each {:.3f} ms:\n", 100 * given.load, 1e3 / rate);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < given.rounds; ++i) {
    const auto without = run(telescope, given, frames, true, false);
    const std::uint64_t before = captured_by(telescope, folder);
    const auto with = run(telescope, given, frames, true, true);
    const std::uint64_t written = captured_by(telescope, folder) - before;
    print_frames("without", without);
    print_frames("with", with);
    ratios.push_back(with.p999 / without.p999);
    fmt::print("  {} frames captured; 99.9 % of frames: {:.3f} times\n", written, ratios.back());
  }
  fmt::print("Median ratio of the 99.9th percentiles: {:.3f}\n", median_of(ratios));
}

int run(const settings& given) {
  const tune::device device = examples::choose_device(given.device);
  if (const std::string absence = tune::operations::fft_absence(device); !absence.empty()) {
    throw tune::no_device_error(absence);
  }
  const tune::context context = device.create_context();
  const bool is_gpu = device.kind() == tune::device_kind::gpu;
  if (!is_gpu) tune::set_tuning_options(context, {.mode = tune::tuning_mode::defaults});
  const scratch_folder folder(given.folder);
  const receiver::digitiser input(given.sizes);
  const tune::capture_options options{
      .folder = folder.path,
      .most_frames = 1000000,
      .most_file_bytes = std::uint64_t{1} << 50,
      .memory = given.on_host ? tune::snapshot_memory::host : tune::snapshot_memory::device,
      .memory_bytes = static_cast<std::size_t>(given.gib * 1073741824.0),
      .bytes_per_second = 1e6 * given.megabytes_per_second};
  receiver::telescope telescope(context, given.sizes, input, false, options);
  fmt::print(
      "Device: {}; {} antennas, {} channels, frames of {} spectra; snapshots of {:.3f} GB on "
      "the {}\n",
      device.name(), given.sizes.antennas, given.sizes.channels, given.sizes.spectra(),
      1e-9 * static_cast<double>(telescope.captured().snapshot_bytes()),
      given.on_host ? "host" : "device");
  const double first = rate_of(run(telescope, given, 20, false, false));
  const auto frames = static_cast<std::size_t>(std::max(20.0, given.seconds * first));
  tune::seal();
  const double highest = compare_throughput(telescope, given, frames, folder);
  compare_times(telescope, given, highest, folder);
  tune::unseal();
  const tune::capture_counts counts = telescope.captured().counts();
  fmt::print("{} frames written, {:.3f} GB each; {} failed {}; the seal was broken {} times\n",
             counts.written,
             1e-9 * static_cast<double>(counts.bytes) /
                 static_cast<double>(std::max<std::uint64_t>(counts.written, 1)),
             counts.failed, telescope.captured().last_failure(), tune::seal_report().total());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  CLI::App app("Measures the cost of captured frames to a receiver.");
  settings given;
  app.add_option("--antennas", given.sizes.antennas)->capture_default_str();
  app.add_option("--channels", given.sizes.channels)->capture_default_str();
  app.add_option("--heaps", given.sizes.heaps)->capture_default_str();
  app.add_option("--seconds", given.seconds, "of each round")->capture_default_str();
  app.add_option("--rounds", given.rounds)->capture_default_str();
  app.add_option("--load", given.load, "of the highest rate")->capture_default_str();
  app.add_option("--every", given.every, "seconds between requests")->capture_default_str();
  app.add_option("--gib", given.gib, "the most snapshot memory")->capture_default_str();
  app.add_option("--pace", given.megabytes_per_second, "MB/s of copies to the host; 0: no limit")
      ->capture_default_str();
  app.add_flag("--host", given.on_host, "snapshots in memory of the host");
  app.add_option("--folder", given.folder, "for the files");
  app.add_option("--device", given.device, "index of the device, as tunedb lists them");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(given);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "capture_bench: {}\n", failure.what());
    return 1;
  }
}
