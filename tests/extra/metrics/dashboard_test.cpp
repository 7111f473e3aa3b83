// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The page for operators and the dashboard name the metrics that there are.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "libtune/extra/metrics.hpp"
#include "libtune/extra/metrics/capture_metrics.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "tests/extra/metrics/parsed_metrics.hpp"
#include "tests/store/temporary_folder.hpp"

namespace dashboard_test {

using nlohmann::json;

const std::string docs = std::string(LIBTUNE_SOURCE_DIR) + "/docs/";

/// The families of a program that uses everything.
std::map<std::string, parsed_metrics::family> families() {
  tune::frame_clock("dashboard").record(std::chrono::milliseconds(1));
  tune::tuning_subject subject;
  subject.function = "dashboard";
  tune::detail::open_doors().answered(subject, tune::detail::tuning_origin::exact);
  tune::detail::open_doors().live_changed({.subject = subject});
  const tune::metrics_exporter metrics({.program = "t"});
  tune::add_capture(metrics, "dashboard", tune::capture("dashboard"));
  return parsed_metrics::page(metrics.text()).families();
}

std::set<std::string> names_in(const std::string& text, const std::regex& name) {
  return {std::sregex_token_iterator(text.begin(), text.end(), name, 1), {}};
}

/// The queries of all panels and variables.
void collect(const json& item, std::vector<std::string>& queries) {
  if (item.is_structured()) {
    for (const auto& [key, value] : item.items()) {
      const bool is_query = value.is_string() && (key == "expr" || key == "query");
      if (is_query && value != "prometheus") queries.push_back(value);
      collect(value, queries);
    }
  }
}

TEST_CASE("each query of the dashboard uses metrics of the exporter") {
  const json dashboard = json::parse(tune::testing::content_of(docs + "grafana-libtune.json"));
  std::vector<std::string> queries;
  collect(dashboard, queries);
  CHECK(queries.size() >= 12);
  const auto known = families();
  for (const std::string& query : queries) {
    CAPTURE(query);
    const auto used = names_in(query, std::regex("(libtune_[a-z0-9_]+)"));
    CHECK_FALSE(used.empty());
    for (const std::string& name : used) {
      CAPTURE(name);
      const std::string family = std::regex_replace(name, std::regex("_(sum|count)$"), "");
      CHECK((known.count(name) == 1 || known.count(family) == 1));
    }
  }
}

TEST_CASE("the panels of the dashboard have titles, units and places that do not overlap") {
  const json dashboard = json::parse(tune::testing::content_of(docs + "grafana-libtune.json"));
  std::set<int> ids;
  std::set<std::pair<int, int>> cells;
  for (const json& panel : dashboard.at("panels")) {
    CHECK(ids.insert(panel.at("id").get<int>()).second);
    CHECK_FALSE(panel.at("title").get<std::string>().empty());
    if (panel.at("type") != "row") {
      CHECK_FALSE(panel.at("fieldConfig").at("defaults").at("unit").get<std::string>().empty());
    }
    const json& place = panel.at("gridPos");
    const int x = place.at("x");
    const int y = place.at("y");
    const int width = place.at("w");
    const int height = place.at("h");
    CHECK(x + width <= 24);
    for (int i = x; i < x + width; ++i) {
      for (int j = y; j < y + height; ++j) CHECK(cells.emplace(i, j).second);
    }
  }
}

TEST_CASE("the page for operators lists the metrics that there are, and no other") {
  const std::string page = tune::testing::content_of(docs + "operators.md");
  const auto known = families();
  const auto listed = names_in(page, std::regex("\\| `(libtune_[a-z0-9_]+)`"));
  for (const auto& each : known) {
    CAPTURE(each.first);
    CHECK(listed.count(each.first) == 1);
  }
  for (const std::string& name : listed) {
    CAPTURE(name);
    CHECK(known.count(name) == 1);
  }
  for (const std::string& name : names_in(page, std::regex("(libtune_[a-z0-9_]+)[{\\[]"))) {
    CAPTURE(name);
    CHECK(known.count(name) == 1);
  }
}

}  // namespace dashboard_test
