// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libtune/base/threads_of_program.hpp"
#include "libtune/extra/metrics/frame_window.hpp"
#include "libtune/extra/metrics/metrics_exporter.hpp"

namespace tune::detail {

/// The state of a metrics_exporter.
class metrics_core {
 public:
  /// @param options  complete
  explicit metrics_core(metrics_options options);
  ~metrics_core();
  metrics_core(const metrics_core&) = delete;
  metrics_core& operator=(const metrics_core&) = delete;

  bool is_on() const noexcept { return !options_.file.empty() || options_.receives; }
  void add(metrics_exporter::source adds);
  std::string text(metrics_format format);
  bool write();
  metrics_counts counts() const noexcept;
  std::string last_failure() const;

 private:
  metric_page gather();
  void add_frames(metric_page& to);
  void add_sources(metric_page& to);
  void put(const metric_page& page) const;
  void note_failure(std::string_view what) noexcept;
  void serve();
  friend class threads_of_program<metrics_core>;
  void end_threads() noexcept;

  const metrics_options options_;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<bool> is_running_{true};

  std::mutex writing_;    // the function receives one text at a time
  std::mutex gathering_;  // guards the following; one text at a time
  std::vector<metrics_exporter::source> sources_;
  std::map<std::string, frame_window> windows_;

  mutable std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  std::string last_failure_;
  bool is_stopping_ = false;
  threads_of_program<metrics_core> threads_;
  std::unique_ptr<std::thread> thread_;  // a forked process abandons it
};

}  // namespace tune::detail
