// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/metrics/frame_histogram.hpp"

namespace tune {

/// A label of a sample.
struct metric_label {
  std::string_view name;   ///< letters, digits and '_'
  std::string_view value;  ///< any text; bytes that are not UTF-8 are replaced
};

/// The form of a text of metrics. They differ in the names of counters and in the last line.
enum class metrics_format : std::uint8_t {
  prometheus,   ///< Prometheus text format 0.0.4, which node_exporter's textfile collector reads
  openmetrics,  ///< OpenMetrics 1.0
};

/// The metrics of one moment, for a text. Times are in seconds, other units in their base unit; no
/// sample has a time stamp.
class metric_page {
 public:
  /// The labels of a sample, as in {{"pipeline", name}}.
  using labels = std::initializer_list<metric_label>;

  /// An empty page.
  metric_page() = default;
  /// An empty page. @param common  the labels of every sample; their texts outlive the page
  metric_page(labels common) : common_(common) {}

  /// Adds a sample of a counter, which only grows while the program runs. The first sample of a
  /// name makes its family.
  /// @param name   letters, digits and '_'; ends in "_total"
  /// @param help   one line
  /// @param of     the labels of the sample, beside those of the page
  /// @param value  the count so far
  /// @throws argument_error if the name or a label is invalid, the name is that of another kind of
  ///         metric, or a sample has these labels already
  void counter(std::string_view name, std::string_view help, labels of, double value);
  /// Like the above, for a time, in seconds.
  void counter(std::string_view name, std::string_view help, labels of,
               std::chrono::nanoseconds time) {
    counter(name, help, of, in_seconds(time));
  }
  /// Adds a sample of a gauge, which may rise and fall.
  void gauge(std::string_view name, std::string_view help, labels of, double value);
  /// Like the above, for a time, in seconds.
  void gauge(std::string_view name, std::string_view help, labels of,
             std::chrono::nanoseconds time) {
    gauge(name, help, of, in_seconds(time));
  }
  /// Adds a summary of times in seconds: quantiles, sum and count.
  /// @param name       as for counter, without "_total"
  /// @param help       one line
  /// @param of         the labels of the samples, beside those of the page
  /// @param recent     the frames of the quantiles
  /// @param all        the frames of sum and count, which only grow
  /// @param quantiles  from 0 to 1
  void summary(std::string_view name, std::string_view help, labels of,
               const frame_distribution& recent, const frame_distribution& all,
               std::span<const double> quantiles);

  /// The names of all families, in the order of the text.
  std::vector<std::string> names() const;
  /// The text of the page.
  std::string text(metrics_format format) const;

 private:
  enum class kind : std::uint8_t { counter, gauge, summary };
  struct family {
    std::string name;
    std::string help;
    kind type;
    std::vector<std::string> samples;  // lines
    std::vector<std::string> known;    // the labels of the samples, in order
  };

  static double in_seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  }
  family& family_of(std::string_view name, std::string_view help, kind type);
  std::string own_labels(std::string_view name, labels of) const;
  static void require_new(family& to, const std::string& own);

  std::vector<metric_label> common_;
  std::vector<family> families_;
};

}  // namespace tune
