// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a program for its operators, as a text of metrics: docs/operators.md. Not part of
// libtune.hpp.
//
//   const tune::metrics_exporter metrics({.file =
//   "/var/lib/node_exporter/textfile/receiver.prom"}); tune::frame_clock frames("receiver", 5ms);
//   while (running) {
//     frames.begin();
//     pipeline.run(frame);
//     frames.end();
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libtune/extra/metrics/frame_clock.hpp"
#include "libtune/extra/metrics/metric_page.hpp"

namespace tune {

/// The settings of a metrics_exporter. A file that is not set is that of LIBTUNE_METRICS_FILE
/// (docs/environment.md), with the interval and the program there.
struct metrics_options {
  /// The file, in the folder of node_exporter's textfile collector; its name ends in ".prom". The
  /// folder must exist. Empty, also in the environment: no file is written.
  std::filesystem::path file{};
  std::chrono::milliseconds every{std::chrono::seconds(15)};  ///< the time between two texts
  /// Receives each text, on the exporter's thread. May be empty.
  std::function<void(std::string_view text)> receives{};
  metrics_format format = metrics_format::prometheus;  ///< of the texts that it receives
  /// The label "program" of all samples. Each file of a folder needs its own, else
  /// node_exporter shows the samples of one of them; empty: the name of the file without ".prom",
  /// else that of the program.
  std::string program{};
  std::size_t most_keys = 500;  ///< keys with samples of their own, the most used ones
  /// The quantiles of frames are those of the last texts in this time.
  std::chrono::seconds window{300};
};

/// Reads options from a text in the form of LIBTUNE_METRICS_FILE: a file, then settings with commas
/// between them, as in "/var/lib/node_exporter/textfile/receiver.prom, each 15 s, program
/// receiver".
/// @param text     the text
/// @param initial  the other options
/// @throws argument_error for any other text
metrics_options metrics_options_from_text(std::string_view text, metrics_options initial = {});

/// The texts of a metrics_exporter so far.
struct metrics_counts {
  std::uint64_t written = 0;  ///< times that the file was replaced
  std::uint64_t failed = 0;   ///< texts that could not be made, written or received
};

namespace detail {
class metrics_core;
}  // namespace detail

/// Gathers the state of libtune in this process, and writes it to a file at regular times, from a
/// thread of its own: the answers of autotuners and the grade of each key, changes of live
/// pipelines, the tuner behind the application, breaches of seals, the frames of all frame_clock
/// objects, and the sources that are added. It only reads counters: no thread of a pipeline takes a
/// lock or allocates for it.
///
/// The file is replaced as a whole and may be read by anybody. A text that cannot be written,
/// because the disk is full for example, is counted and logged once; the next one is tried all the
/// same. The last handle, or else the end of the program, writes once more, with libtune_running 0.
///
/// A handle: copies refer to the same exporter. Thread-safe.
class metrics_exporter {
 public:
  /// Adds metrics to a text. Called on the exporter's thread, or on that of a call of text() or
  /// write(), one at a time, until the last text; so its references must be valid that long.
  using source = std::function<void(metric_page& to)>;

  /// Starts the thread if there is a file or a function that receives the texts.
  /// @throws environment_error for a value of LIBTUNE_METRICS_FILE that cannot be read;
  ///         argument_error for invalid options; forked_process_error
  explicit metrics_exporter(metrics_options options = {});

  /// True if it writes a file or calls a function.
  bool is_on() const noexcept;
  /// Adds a source. If it throws, the text lacks its metrics, and counts as failed.
  void add(source adds) const;

  /// Makes a text now. Not for the pipeline's thread.
  std::string text(metrics_format format = metrics_format::prometheus) const;
  /// Writes the file, and calls the function, now. Returns false after a failure. Not for the
  /// pipeline's thread.
  bool write() const;

  /// The texts so far.
  metrics_counts counts() const noexcept;
  /// The reason of the latest failure; empty without one.
  std::string last_failure() const;

 private:
  std::shared_ptr<detail::metrics_core> core_;
};

}  // namespace tune
