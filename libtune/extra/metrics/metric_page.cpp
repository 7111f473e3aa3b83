// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metric_page.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune {
namespace {

constexpr std::string_view counter_end = "_total";

bool is_name(std::string_view text) {
  return !text.empty() && !detail::is_digit(text.front()) &&
         std::ranges::all_of(text, detail::is_word);
}

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", number);
}

// One byte that is no UTF-8 makes the collector refuse the whole file.
std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\\')
      made += "\\\\";
    else if (c == '"')
      made += "\\\"";
    else if (c == '\n')
      made += "\\n";
    else
      made += c;
  }
  if (detail::is_utf8(made)) return made;
  for (char& c : made) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return made;
}

/// "name{labels}", or the name alone.
std::string series(const std::string& name, const std::string& own) {
  return own.empty() ? name : name + '{' + own + '}';
}

}  // namespace

metric_page::family& metric_page::family_of(std::string_view name, std::string_view help,
                                            kind type) {
  const auto known = std::ranges::find(families_, name, &family::name);
  if (known != families_.end() && known->type == type) return *known;
  if (known != families_.end()) {
    throw argument_error(
        fmt::format("the metric '{}' has samples of two kinds; give each kind its name", name));
  }
  const bool ends_well = name.ends_with(counter_end) == (type == kind::counter);
  const bool is_line = help.find_first_of("\n\\\"") == std::string_view::npos;
  if (!is_name(name) || !ends_well || !is_line) {
    throw argument_error(fmt::format(
        "'{}' with the help '{}' is no metric: its name needs letters, digits and '_', and ends in "
        "_total if it is a counter, and only then; its help is a line without quotes and "
        "backslashes",
        name, help));
  }
  families_.push_back({std::string(name), std::string(help), type, {}, {}});
  return families_.back();
}

std::string metric_page::own_labels(std::string_view name, labels of) const {
  std::string text;
  std::vector<std::string_view> names{"quantile"};
  const auto add = [&](const metric_label& each) {
    if (!is_name(each.name) || std::ranges::find(names, each.name) != names.end()) {
      throw argument_error(fmt::format(
          "'{}' cannot name a label of the metric '{}'; use letters, digits and '_', each name "
          "once, and not quantile",
          each.name, name));
    }
    names.push_back(each.name);
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", each.name, escaped(each.value));
  };
  std::ranges::for_each(common_, add);
  std::ranges::for_each(of, add);
  return text;
}

// node_exporter shows one of two samples with the same labels, and reports an error.
void metric_page::require_new(family& to, const std::string& own) {
  const auto at = std::ranges::lower_bound(to.known, own);
  if (at != to.known.end() && *at == own) {
    throw argument_error(
        fmt::format("the metric '{}' has two samples with the labels '{}'; add a "
                    "label that tells them apart",
                    to.name, own));
  }
  to.known.insert(at, own);
}

void metric_page::counter(std::string_view name, std::string_view help, labels of, double value) {
  const std::string own = own_labels(name, of);
  family& to = family_of(name, help, kind::counter);
  require_new(to, own);
  to.samples.push_back(fmt::format("{} {}\n", series(to.name, own), number_text(value)));
}

void metric_page::gauge(std::string_view name, std::string_view help, labels of, double value) {
  const std::string own = own_labels(name, of);
  family& to = family_of(name, help, kind::gauge);
  require_new(to, own);
  to.samples.push_back(fmt::format("{} {}\n", series(to.name, own), number_text(value)));
}

void metric_page::summary(std::string_view name, std::string_view help, labels of,
                          const frame_distribution& recent, const frame_distribution& all,
                          std::span<const double> quantiles) {
  const std::string own = own_labels(name, of);
  family& to = family_of(name, help, kind::summary);
  require_new(to, own);
  std::string lines;
  for (const double part : quantiles) {
    const double value = recent.count() == 0 ? NAN : in_seconds(recent.quantile(part));
    lines += fmt::format("{}{{{}{}quantile=\"{}\"}} {}\n", name, own, own.empty() ? "" : ",", part,
                         number_text(value));
  }
  lines +=
      fmt::format("{} {}\n", series(to.name + "_sum", own), number_text(in_seconds(all.sum())));
  lines += fmt::format("{} {}\n", series(to.name + "_count", own), all.count());
  to.samples.push_back(lines);
}

std::vector<std::string> metric_page::names() const {
  std::vector<std::string> made;
  for (const family& each : families_) made.push_back(each.name);
  return made;
}

std::string metric_page::text(metrics_format format) const {
  std::string made;
  for (const family& each : families_) {
    std::string_view name = each.name;
    if (each.type == kind::counter && format == metrics_format::openmetrics) {
      name.remove_suffix(counter_end.size());
    }
    const char* const type = each.type == kind::counter ? "counter"
                             : each.type == kind::gauge ? "gauge"
                                                        : "summary";
    made += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, each.help, name, type);
    for (const std::string& sample : each.samples) made += sample;
  }
  if (format == metrics_format::openmetrics) made += "# EOF\n";
  return made;
}

}  // namespace tune
