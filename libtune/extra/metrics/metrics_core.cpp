// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metrics_core.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/signals.hpp"
#include "libtune/extra/metrics/library_metrics.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune::detail {
namespace {

constexpr std::array quantiles{0.5, 0.9, 0.99, 0.999, 0.9999};

[[noreturn]] void fail(const std::string& name, const char* step) {
  throw error(fmt::format("{} '{}': {}", step, name, std::generic_category().message(errno)));
}

/// Fills a file that the user of node_exporter may read, whatever the umask.
void fill(const std::string& name, std::string_view text) {
  constexpr mode_t readable_by_all = 0644;
  const file_descriptor file(::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) fail(name, "opening");
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name, "writing");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fchmod(file.get(), readable_by_all) != 0) fail(name, "setting the mode of");
}

}  // namespace

metrics_core::metrics_core(metrics_options options) : options_(std::move(options)) {
  if (!is_on()) return;
  threads_of_program<metrics_core>::end_before_driver();
  threads_.start(*this, [this] {
    const signals_blocked ours;
    thread_ = std::make_unique<std::thread>([this] { serve(); });
  });
}

metrics_core::~metrics_core() {
  if (is_forked()) {
    static_cast<void>(thread_.release());
    return;
  }
  threads_.leave(*this);
  end_threads();
}

// The thread writes last, so that the end of a pipeline's thread opens no file.
void metrics_core::end_threads() noexcept {
  std::unique_ptr<std::thread> last;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    last = std::move(thread_);
  }
  changed_.notify_all();
  if (last) last->join();
}

void metrics_core::serve() {
  const unsealed_section ours;  // the seal applies to the pipeline only
  ::pthread_setname_np(::pthread_self(), "libtune-metrics");
  bool is_last = false;
  while (!is_last) {
    write();
    std::unique_lock lock(mutex_);
    is_last = changed_.wait_for(lock, options_.every, [&] { return is_stopping_; });
  }
  is_running_ = false;
  write();
}

void metrics_core::add(metrics_exporter::source adds) {
  const std::lock_guard lock(gathering_);
  sources_.push_back(std::move(adds));
}

std::string metrics_core::text(metrics_format format) { return gather().text(format); }

bool metrics_core::write() {
  const std::lock_guard lock(writing_);
  try {
    put(gather());
    written_.fetch_add(options_.file.empty() ? 0 : 1, std::memory_order_relaxed);
    return true;
  } catch (const std::exception& failure) {
    note_failure(failure.what());
  } catch (...) {
    note_failure("an exception of another type than std::exception");
  }
  return false;
}

// The function gets its text also if the file cannot be written.
void metrics_core::put(const metric_page& page) const {
  if (options_.receives) options_.receives(page.text(options_.format));
  if (options_.file.empty()) return;
  const without_size_signal quiet;
  replace_file_by(options_.file.string(), [&](const std::string& name) {
    fill(name, page.text(metrics_format::prometheus));
  });
}

metric_page metrics_core::gather() {
  const std::lock_guard lock(gathering_);
  metric_page page({{"program", options_.program}});
  add_library(page, options_.most_keys);
  page.gauge("libtune_running", "1 while the program runs, 0 in the last text of its end.", {},
             is_running_ ? 1 : 0);
  add_frames(page);
  add_sources(page);
  page.counter("libtune_metrics_written_total", "Times that the file was written before.", {},
               static_cast<double>(written_.load()));
  page.counter("libtune_metrics_failed_total", "Texts that could not be written or received.", {},
               static_cast<double>(failed_.load()));
  return page;
}

void metrics_core::add_frames(metric_page& to) {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [name, tally] : all_frame_tallies()) {
    const frame_distribution all = tally->times.read();
    const frame_distribution recent = windows_[name].add(all, now, options_.window);
    to.summary("libtune_frame_seconds",
               "Times of frames; the quantiles are those of the last minutes.",
               {{"pipeline", name}}, recent, all, quantiles);
    to.gauge("libtune_frame_longest_seconds", "The longest frame since the start.",
             {{"pipeline", name}}, all.longest());
    to.gauge("libtune_frame_recent_longest_seconds", "The longest frame of the last minutes.",
             {{"pipeline", name}}, recent.longest());
    to.gauge("libtune_frame_deadline_seconds", "Longer frames are late; 0: no deadline.",
             {{"pipeline", name}}, std::chrono::nanoseconds(tally->deadline_ns.load()));
    to.counter("libtune_frames_late_total", "Frames that took longer than the deadline.",
               {{"pipeline", name}}, static_cast<double>(tally->late.load()));
  }
}

// A source that fails leaves no part of its metrics.
void metrics_core::add_sources(metric_page& to) {
  for (const auto& each : sources_) {
    metric_page with = to;
    try {
      each(with);
      to = std::move(with);
    } catch (const std::exception& failure) {
      note_failure(fmt::format("a source of metrics has failed: {}", failure.what()));
    }
  }
}

void metrics_core::note_failure(std::string_view what) noexcept {
  failed_.fetch_add(1, std::memory_order_relaxed);
  try {
    {
      const std::lock_guard lock(mutex_);
      last_failure_ = what;
    }
    // Once for each reason, because the next texts often fail alike.
    warn_once(options_.file.empty()
                  ? fmt::format("metrics could not be passed on: {}", what)
                  : fmt::format("the metrics of this program could not be written to '{}': {}; "
                                "the program goes on, and the next text is tried after {} ms",
                                options_.file.string(), what, options_.every.count()));
  } catch (const std::exception&) {  // out of memory: the count has to do
    return;
  }
}

metrics_counts metrics_core::counts() const noexcept {
  return {.written = written_.load(std::memory_order_relaxed),
          .failed = failed_.load(std::memory_order_relaxed)};
}

std::string metrics_core::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

}  // namespace tune::detail
