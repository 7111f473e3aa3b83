// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A reader of the text format of metrics that refuses what the formats forbid: Prometheus 0.0.4,
// with the further rules of node_exporter's textfile collector (no time stamps, no series twice),
// and OpenMetrics 1.0.
#pragma once

#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace parsed_metrics {

struct family {
  std::string type;
  std::string help;
  std::map<std::string, double> samples;  // by the whole series, labels included
};

/// The text of a label value without its escapes.
inline std::string unescaped(const std::string& text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\n') throw std::runtime_error("unescaped: " + text);
    if (text[i] != '\\') {
      made += text[i];
      continue;
    }
    const char next = ++i < text.size() ? text[i] : ' ';
    if (next != '\\' && next != '"' && next != 'n') throw std::runtime_error("escape: " + text);
    made += next == 'n' ? '\n' : next;
  }
  return made;
}

class page {
 public:
  /// @throws std::runtime_error for a text that breaks a rule
  explicit page(const std::string& text, bool is_openmetrics = false)
      : is_openmetrics_(is_openmetrics) {
    if (text.empty() || text.back() != '\n') refuse("the last line has no end", text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) add(line);
    if (is_openmetrics_ && !has_ended_) refuse("no # EOF", "");
  }

  const std::map<std::string, family>& families() const { return families_; }
  /// The value of a series as it is written, such as name{a="b"}; empty without one.
  std::optional<double> find(const std::string& series) const {
    for (const auto& [name, each] : families_) {
      const auto found = each.samples.find(series);
      if (found != each.samples.end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why, const std::string& line) {
    throw std::runtime_error(why + ": " + line);
  }

  void add(const std::string& line) {
    static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\"]+))");
    static const std::regex type("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|summary)");
    std::smatch found;
    if (has_ended_) refuse("a line after # EOF", line);
    if (is_openmetrics_ && line == "# EOF") {
      has_ended_ = true;
    } else if (std::regex_match(line, found, help)) {
      if (!families_.emplace(found[1], family{{}, found[2], {}}).second) refuse("twice", line);
      present_ = found[1];
    } else if (std::regex_match(line, found, type)) {
      if (present_ != found[1] || !families_.at(present_).type.empty()) refuse("no HELP", line);
      families_.at(present_).type = found[2];
    } else {
      add_sample(line);
    }
  }

  void add_sample(const std::string& line) {
    // Nothing follows the value: the collector refuses time stamps.
    static const std::regex sample(
        R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([^}]*("[^"]*"[^}]*)*)\})? ([^ ]+))");
    std::smatch found;
    if (!std::regex_match(line, found, sample)) refuse("no sample", line);
    if (present_.empty()) refuse("no family", line);
    family& to = families_.at(present_);
    const bool has_quantile = check_labels(found[3], line);
    check_name(to, found[1], has_quantile, line);
    const std::string series = line.substr(0, line.rfind(' '));
    if (!to.samples.emplace(series, number(found[5], line)).second) refuse("a series twice", line);
  }

  void check_name(const family& of, const std::string& name, bool has_quantile,
                  const std::string& line) const {
    if (of.type.empty()) refuse("no TYPE", line);
    std::set<std::string> allowed{present_};
    if (of.type == "counter" && is_openmetrics_) allowed = {present_ + "_total"};
    if (of.type == "counter" && !name.ends_with("_total")) refuse("not named as a counter", line);
    if (of.type == "summary" && !has_quantile) allowed = {present_ + "_sum", present_ + "_count"};
    if (of.type != "summary" && has_quantile) refuse("quantile of no summary", line);
    if (!allowed.contains(name)) refuse("a sample of another family", line);
  }

  static bool check_labels(const std::string& labels, const std::string& line) {
    static const std::regex label(R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((\\.|[^"\\])*)"(,|$))re");
    std::set<std::string> names;
    std::string rest = labels;
    for (std::smatch found; !rest.empty(); rest = found.suffix()) {
      if (!std::regex_search(rest, found, label, std::regex_constants::match_continuous)) {
        refuse("labels", line);
      }
      if (!names.insert(found[1]).second) refuse("a label twice", line);
      unescaped(found[2]);
    }
    if (!labels.empty() && labels.back() == ',') refuse("a comma at the end", line);
    return names.count("quantile") == 1;
  }

  static double number(const std::string& text, const std::string& line) {
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (text == "+Inf" || text == "-Inf") return text == "+Inf" ? infinite : -infinite;
    double made = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), made);
    if (failure != std::errc{} || end != text.data() + text.size()) refuse("no number", line);
    return made;
  }

  bool is_openmetrics_;
  bool has_ended_ = false;
  std::string present_;
  std::map<std::string, family> families_;
};

}  // namespace parsed_metrics
