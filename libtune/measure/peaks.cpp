// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/peaks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/measure/peak_kernels.hpp"

namespace tune {
namespace {

constexpr int runs = 10;  // including one to warm up
constexpr const char* memory_name = "memory";

/// The peaks that a context knows, by name; 0: it could not be measured.
struct known_peaks {
  std::mutex mutex;
  std::map<std::string, double, std::less<>> rates;
};

/// The peaks as a value of a context, which is const.
struct peaks_of_context {
  std::unique_ptr<known_peaks> all = std::make_unique<known_peaks>();
};

known_peaks& known_peaks_of(const context& of) {
  static constinit std::mutex attaching;
  const std::lock_guard lock(attaching);
  if (const auto known = of.attachment<peaks_of_context>()) return *known->all;
  const std::shared_ptr<const peaks_of_context> made = std::make_shared<const peaks_of_context>();
  of.attach(made);
  return *made->all;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Twice the cache or more; the size of each side in bytes.
std::size_t copied_bytes(const device_limits& limits) {
  constexpr std::size_t least = std::size_t{64} << 20;
  std::size_t bytes = std::max(least, 2 * limits.cache_bytes);
  if (limits.max_allocation_bytes > 0) bytes = std::min(bytes, limits.max_allocation_bytes);
  if (limits.global_memory_bytes > 0) bytes = std::min(bytes, limits.global_memory_bytes / 16);
  return std::max<std::size_t>(bytes, 1);
}

/// The device time of a command, in seconds.
double seconds_of(tuning_command_queue& queue, const std::function<void()>& enqueue) {
  queue.start_recording();
  enqueue();
  return std::chrono::duration<double>(queue.stop_recording().front()).count();
}

/// The seconds of the fastest of some runs; of two, if they are long.
double fastest_of(tuning_command_queue& queue, const std::function<void()>& enqueue) {
  constexpr double long_enough = 0.2;  // s, all together
  double fastest = seconds_of(queue, enqueue);
  double spent = fastest;
  for (int i = 1; i < runs && (i < 2 || spent < long_enough); ++i) {
    const double now = seconds_of(queue, enqueue);
    spent += now;
    fastest = std::min(fastest, now);
  }
  return fastest;
}

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

/// The arrays of a copy.
struct copied_arrays {
  explicit copied_arrays(const context& of, std::size_t least_multiple)
      : bytes(std::max<std::size_t>(1, copied_bytes(of.device().limits()) / least_multiple) *
              least_multiple),
        from(of.create_buffer(bytes)),
        to(of.create_buffer(bytes)),
        queue(of.create_tuning_command_queue()) {}
  double both() const { return 2 * static_cast<double>(bytes); }

  std::size_t bytes;
  buffer from;
  buffer to;
  tuning_command_queue queue;
};

double copy_rate(const context& of) {
  copied_arrays arrays(of, 1);
  for (const buffer& each : {arrays.from, arrays.to}) arrays.queue.zero(each, arrays.bytes);
  arrays.queue.finish();  // all pages have been touched
  const double seconds =
      fastest_of(arrays.queue, [&] { arrays.queue.copy(arrays.to, arrays.from, arrays.bytes); });
  return per_second(arrays.both(), seconds);
}

// A copy by the driver uses one thread. The sum counts too, because a copy may read what it writes.
double cpu_memory_rate(const context& of) {
  constexpr std::size_t run = 128;  // vectors of 32 bytes for each work item
  constexpr std::size_t item_bytes = run * 32;
  constexpr std::size_t work_group = 16;
  const program made = compile(of, detail::memory_source());
  kernel copy = made.create_kernel("stream_copy");
  kernel sum = made.create_kernel("stream_sum");
  copied_arrays arrays(of, item_bytes * work_group);
  const nd_range all{{arrays.bytes / item_bytes}, {work_group}};
  tuning_command_queue& queue = arrays.queue;
  for (const auto& [from, to] :
       {std::pair(arrays.from, arrays.to), std::pair(arrays.to, arrays.from)}) {
    copy.set_arguments(from, to, static_cast<int>(run));  // touches all pages, by all cores
    queue.enqueue(copy, all);
    queue.finish();
  }
  copy.set_arguments(arrays.from, arrays.to, static_cast<int>(run));
  sum.set_arguments(arrays.from, arrays.to, static_cast<int>(run));
  const double copied = fastest_of(queue, [&] { queue.enqueue(copy, all); });
  const double added = fastest_of(queue, [&] { queue.enqueue(sum, all); });
  return std::max(per_second(arrays.both(), copied), per_second(arrays.both() / 2, added));
}

double memory_rate(const context& of) {
  return of.device().kind() == device_kind::cpu ? cpu_memory_rate(of) : copy_rate(of);
}

/// Raises the rounds until a run takes long enough, and returns the operations in a second.
double rate_of(tuning_command_queue& queue, kernel& chains, const detail::peak_kernel& about) {
  constexpr double long_enough = 2e-3;  // s
  constexpr int most_rounds = 1 << 24;
  const std::size_t items = about.work_group * about.work_groups;
  const nd_range all{{items}, {about.work_group}};
  const auto time = [&](int rounds) {
    chains.set_argument(3, rounds);
    return seconds_of(queue, [&] { queue.enqueue(chains, all); });
  };
  int rounds = 16;
  double seconds = time(rounds);
  while (seconds < long_enough && rounds < most_rounds) {
    const double factor = seconds > 0 ? 1.2 * long_enough / seconds : 64;
    rounds =
        static_cast<int>(std::min<double>(most_rounds, rounds * std::clamp(factor, 2.0, 64.0)));
    seconds = time(rounds);
  }
  // Other programs take the cores of a CPU now and then.
  const int all_runs = queue.device().kind() == device_kind::cpu ? 3 * runs : runs;
  for (int i = 1; i < all_runs; ++i) seconds = std::min(seconds, time(rounds));
  return per_second(about.operations * static_cast<double>(items) * rounds, seconds);
}

double arithmetic_rate(const context& of, arithmetic by) {
  const auto about = detail::peak_program_for(by, of.device());
  if (!about) return 0;
  const program made = compile(of, about->source, about->macros, about->options);
  tuning_command_queue queue = of.create_tuning_command_queue();
  double best = 0;
  for (const detail::peak_kernel& each : about->kernels) {
    kernel chains = made.create_kernel(each.name);
    const buffer out = of.create_buffer(each.item_bytes * each.work_group * each.work_groups);
    chains.set_arguments(out, 0.5F, 1.0F, 16);
    best = std::max(best, rate_of(queue, chains, each));
  }
  return best;
}

std::string rate_text(const std::string& name, double rate) {
  return fmt::format("{:.1f} {}", 1e-9 * rate, name == memory_name ? "GB/s" : "GOP/s");
}

/// Measures a peak; 0 if that is not possible.
double measured(const context& of, const std::string& name, arithmetic by) {
  const compile_scope own;  // an outer search neither sees these programs nor prebuilds them
  const std::string device = of.device().name();
  try {
    const auto begin = std::chrono::steady_clock::now();
    const double rate = name == memory_name ? memory_rate(of) : arithmetic_rate(of, by);
    const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
    if (rate > 0) {
      log(log_level::info, fmt::format("the peak of {} of device '{}' is {}, measured in {:.3f} s",
                                       name, device, rate_text(name, rate), spent.count()));
    }
    return rate;
  } catch (const std::exception& failure) {
    log(log_level::info, fmt::format("trials on device '{}' are compared with no peak of {}: {}",
                                     device, name, first_line(failure.what())));
    return 0;
  }
}

double rate(const context& of, const std::string& name, const wanted_peaks& wanted, bool again) {
  known_peaks& known = known_peaks_of(of);
  const auto find = [&]() -> std::optional<double> {
    const std::lock_guard lock(known.mutex);
    const auto found = known.rates.find(name);
    return found == known.rates.end() ? std::nullopt : std::optional(found->second);
  };
  const auto note = [&](double value) {
    const std::lock_guard lock(known.mutex);
    double& kept = known.rates[name];
    kept = std::max(kept, value);
    return kept;
  };
  const auto before = find();
  if (before && !again) return *before;
  if (!before && !again && wanted.kept != nullptr) {
    if (const auto kept = wanted.kept->find(name)) return note(*kept);
  }
  const double best = note(measured(of, name, wanted.by));
  if (wanted.kept != nullptr && best > before.value_or(0)) wanted.kept->keep(name, best);
  return best;
}

device_peaks find_peaks(const context& of, const wanted_peaks& wanted, bool again) {
  device_peaks found{.least_bytes = 4 * static_cast<double>(of.device().limits().cache_bytes)};
  if (wanted.memory) found.bytes_per_second = rate(of, memory_name, wanted, again);
  if (wanted.by != arithmetic::undeclared) {
    const std::string name(arithmetic_name(wanted.by));
    found.operations_per_second = rate(of, name, wanted, again);
  }
  return found;
}

}  // namespace

device_peaks peaks_of(const context& of, const wanted_peaks& wanted) {
  return find_peaks(of, wanted, false);
}

device_peaks renew_peaks(const context& of, const wanted_peaks& wanted) {
  return find_peaks(of, wanted, true);
}

}  // namespace tune
