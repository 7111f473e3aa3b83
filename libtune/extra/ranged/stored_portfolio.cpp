// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/stored_portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <variant>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"

namespace tune::detail {
namespace {

constexpr int text_version = 1;

double number(const input& object, const char* name) {
  const input& item = member(object, name);
  if (const auto word = word_for_real(item)) return *word;
  if (!item.is_number()) refuse_document(std::string("'") + name + "' is no number");
  return item.get<double>();
}

std::size_t count(const input& object, const char* name) {
  const input& item = member(object, name);
  if (!item.is_number_unsigned()) refuse_document(std::string("'") + name + "' is no count");
  return item.get<std::size_t>();
}

/// The coordinate of a node: negative for a leaf.
std::int32_t coordinate(const input& node) {
  const input& item = member(node, "coordinate");
  const std::int64_t found = item.is_number_integer() ? item.get<std::int64_t>() : -2;
  if (found < -1 || found >= static_cast<std::int64_t>(size_point().size())) {
    refuse_document("its tree compares a coordinate that no size has");
  }
  return static_cast<std::int32_t>(found);
}

std::uint64_t whole_number(const input& item) {
  if (!item.is_number_unsigned()) refuse_document("a size or a place is no whole number");
  return item.get<std::uint64_t>();
}

std::vector<std::uint32_t> places_from(const input& object, const char* name,
                                       std::size_t configurations) {
  std::vector<std::uint32_t> places;
  for (const input& item : array_member(object, name)) {
    const std::uint64_t place = whole_number(item);
    if (place >= configurations) {
      refuse_document(std::string("its '") + name +
                      "' names a configuration that it does not have");
    }
    places.push_back(static_cast<std::uint32_t>(place));
  }
  return places;
}

std::vector<cost_factors> factors_from(const input& object, std::size_t configurations) {
  std::vector<cost_factors> all;
  if (!object.contains("factors")) return all;
  for (const input& item : array_member(object, "factors")) {
    cost_factors& made = all.emplace_back();
    // An older library may have written fewer terms. The last factor is the constant.
    if (!item.is_array() || item.empty() || item.size() > made.size()) {
      refuse_document("the factors of a configuration are not as many as costs have terms");
    }
    for (std::size_t i = 0; i < item.size(); ++i) {
      const auto word = word_for_real(item[i]);
      if (!word && !item[i].is_number()) refuse_document("a factor is no number");
      const double factor = word ? *word : item[i].get<double>();
      (i + 1 < item.size() ? made[i] : made.back()) = factor;
    }
  }
  if (all.size() != configurations) refuse_document("it has not the factors of all configurations");
  return all;
}

/// Portfolios without costs, and older ones, have no corrections.
cost_corrections corrections_from(const input& object, std::span<const size_range> ranges,
                                  std::size_t configurations) {
  if (!object.contains("corrections")) return {};
  const input& all = member(object, "corrections");
  const std::size_t nodes = size_grid(ranges).nodes();
  std::vector<std::vector<cost_corrections::way>> ways;
  for (const input& item : array_member(all, "ways")) {
    auto& own = ways.emplace_back();
    if (!item.is_array()) refuse_document("the ways of a configuration are no list");
    for (const input& each : item) {
      cost_corrections::way& made = own.emplace_back();
      made.flags = static_cast<std::uint32_t>(count(each, "flags"));
      for (const input& one : array_member(each, "thousandths")) {
        const std::int64_t thousandths = one.is_number_integer() ? one.get<std::int64_t>() : -1000;
        // A negative factor would make a time the least.
        if (thousandths <= -1000 || thousandths > std::numeric_limits<std::int16_t>::max()) {
          refuse_document("a correction is no number of thousandths above -1000");
        }
        made.thousandths.push_back(static_cast<std::int16_t>(thousandths));
      }
      if (made.thousandths.size() != nodes) {
        refuse_document("its corrections are not as many as the grid of its ranges has nodes");
      }
    }
  }
  if (ways.size() > configurations) {
    refuse_document("it has corrections for more configurations than it has");
  }
  const std::size_t flag_terms = count(all, "flag_terms");
  if (flag_terms >> most_cost_terms != 0) refuse_document("a flag belongs to no term of its costs");
  return {ranges, static_cast<std::uint32_t>(flag_terms), std::move(ways)};
}

/// Portfolios of libtune 0.1.0 and before have no orders.
leaf_orders orders_from(const input& object, std::size_t configurations) {
  leaf_orders orders;
  bool has_some = false;
  for (const input& item : array_member(object, "tree")) {
    const bool has_order = item.contains("order");
    orders.push_back(has_order ? places_from(item, "order", configurations)
                               : std::vector<std::uint32_t>());
    has_some = has_some || has_order;
  }
  return has_some ? orders : leaf_orders();
}

std::vector<proven_sizes> proven_from(const input& object, std::size_t ranges,
                                      std::size_t configurations) {
  std::vector<proven_sizes> proven;
  if (!object.contains("proven")) return proven;
  for (const input& item : array_member(object, "proven")) {
    proven_sizes& at = proven.emplace_back();
    for (const input& size : array_member(item, "sizes")) at.sizes.push_back(whole_number(size));
    if (at.sizes.size() != ranges) refuse_document("it has not one size for each range");
    at.order = places_from(item, "order", configurations);
  }
  std::ranges::sort(proven, {}, &proven_sizes::sizes);
  return proven;
}

/// Older portfolios have no such list.
std::vector<std::vector<std::uint64_t>> left_from(const input& object) {
  std::vector<std::vector<std::uint64_t>> left;
  if (!object.contains("left")) return left;
  for (const input& item : array_member(object, "left")) {
    if (!item.is_array()) refuse_document("sizes that it leaves are no list");
    std::vector<std::uint64_t>& sizes = left.emplace_back();
    for (const input& size : item) sizes.push_back(whole_number(size));
  }
  return left;
}

size_tree tree_from(const input& object, std::size_t configurations) {
  std::vector<size_tree::node> nodes;
  for (const input& item : array_member(object, "tree")) {
    nodes.push_back({.threshold = number(item, "threshold"),
                     .coordinate = coordinate(item),
                     .below = static_cast<std::uint32_t>(count(item, "below")),
                     .above = static_cast<std::uint32_t>(count(item, "above"))});
    const size_tree::node& node = nodes.back();
    if (node.coordinate < 0 && node.below >= configurations) {
      refuse_document("its tree chooses a configuration that it does not have");
    }
  }
  return size_tree(std::move(nodes));
}

}  // namespace

std::string stored_portfolio::text() const {
  json document{{"portfolio", text_version}, {"ranges", json::array()}};
  for (const size_range& each : ranges) document["ranges"].push_back(each.text());
  for (const auto& each : configurations) document["configurations"].push_back(exact_json(each));
  for (std::size_t n = 0; n < tree.nodes().size(); ++n) {
    const size_tree::node& each = tree.nodes()[n];
    json node{{"coordinate", each.coordinate},
              {"threshold", real_to_json(each.threshold)},
              {"below", each.below},
              {"above", each.above}};
    if (n < orders.size() && !orders[n].empty()) node["order"] = orders[n];
    document["tree"].push_back(std::move(node));
  }
  for (const cost_factors& each : factors) {
    json& list = document["factors"].emplace_back(json::array());
    for (const double factor : each) list.push_back(real_to_json(factor));
  }
  if (!corrections.empty()) {
    json& own = document["corrections"];
    own["flag_terms"] = corrections.flag_terms();
    own["ways"] = json::array();
    for (const auto& ways : corrections.ways()) {
      json& list = own["ways"].emplace_back(json::array());
      for (const cost_corrections::way& each : ways) {
        list.push_back({{"flags", each.flags}, {"thousandths", each.thousandths}});
      }
    }
  }
  for (const proven_sizes& each : proven) {
    document["proven"].push_back({{"sizes", each.sizes}, {"order", each.order}});
  }
  for (const std::vector<std::uint64_t>& each : left) document["left"].push_back(each);
  document["expected_loss"] = real_to_json(expected_loss);
  document["worst_loss"] = real_to_json(worst_loss);
  document["sizes"] = sizes;
  document["compared"] = compared;
  if (unchecked > 0) document["unchecked"] = unchecked;
  return json_text(document);
}

stored_portfolio stored_portfolio::parse(const std::string& text,
                                         const std::vector<field_description>& fields) {
  const input document = parse_input(text);
  if (document.is_discarded() || !document.is_object()) refuse_document("it is no JSON object");
  if (member(document, "portfolio") != text_version) {
    refuse_document("it is a portfolio of another version");
  }
  stored_portfolio made;
  for (const input& item : array_member(document, "ranges")) {
    made.ranges.push_back(size_range::parse(text_from_json(item)));
  }
  if (made.ranges.size() > most_ranges) refuse_document("it has more ranges than a key may have");
  for (const input& item : array_member(document, "configurations")) {
    made.configurations.push_back(values_from_json({{"tuning", item}}, "tuning", fields));
  }
  if (made.configurations.empty()) refuse_document("it has no configuration");
  made.tree = tree_from(document, made.configurations.size());
  made.orders = orders_from(document, made.configurations.size());
  made.factors = factors_from(document, made.configurations.size());
  made.corrections = corrections_from(document, made.ranges, made.configurations.size());
  made.proven = proven_from(document, made.ranges.size(), made.configurations.size());
  made.left = left_from(document);
  made.expected_loss = number(document, "expected_loss");
  made.worst_loss = number(document, "worst_loss");
  made.sizes = count(document, "sizes");
  made.compared = count(document, "compared");
  if (document.contains("unchecked")) made.unchecked = count(document, "unchecked");
  return made;
}

stored_portfolio stored_portfolio::of_result(const std::vector<named_value>& result,
                                             const std::vector<field_description>& fields) {
  const auto found = std::ranges::find(result, portfolio_column, &named_value::name);
  const auto* text = found == result.end() ? nullptr : std::get_if<std::string>(&found->value);
  if (text == nullptr) throw argument_error("the result is no portfolio");
  return parse(*text, fields);
}

std::string describe_losses(double expected, double worst) {
  if (std::isinf(expected) || std::isinf(worst)) {
    return "its loss against tuning each size is not known, because too few were compared";
  }
  return fmt::format("{:.1f} % slower than tuning each size, {:.1f} % at most at nine of ten",
                     100 * expected, 100 * worst);
}

std::optional<std::string> describe_portfolio(const std::vector<named_value>& result) {
  const bool may_be = result.size() == 1 && result.front().name == portfolio_column;
  const auto* text = may_be ? std::get_if<std::string>(&result.front().value) : nullptr;
  if (text == nullptr) return std::nullopt;
  try {
    const input document = parse_input(*text);
    if (document.is_discarded()) return std::nullopt;
    const std::size_t tunings = array_member(document, "configurations").size();
    std::size_t leaves = 0;
    for (const input& item : array_member(document, "tree")) {
      leaves += number(item, "coordinate") < 0 ? 1 : 0;
    }
    return fmt::format(
        "portfolio of {} tunings {}, compared at {} sizes: {}{}", tunings,
        document.contains("factors") ? std::string("chosen by their costs")
                                     : fmt::format("in {} leaves", leaves),
        count(document, "sizes"),
        describe_losses(number(document, "expected_loss"), number(document, "worst_loss")),
        document.contains("unchecked")
            ? fmt::format("; {} {} are not checked", count(document, "unchecked"),
                          document.contains("factors") ? "tunings" : "leaves")
            : std::string());
  } catch (const argument_error&) {
    return std::nullopt;
  }
}

std::vector<std::string> describe_tunings(const std::vector<named_value>& result) {
  std::vector<std::string> lines;
  if (!describe_portfolio(result)) return lines;
  try {
    const input document = parse_input(std::get<std::string>(result.front().value));
    const auto& tunings = array_member(document, "configurations");
    std::vector<std::size_t> leaves(tunings.size());
    for (const input& item : array_member(document, "tree")) {
      const std::size_t chosen = count(item, "below");
      if (number(item, "coordinate") < 0 && chosen < leaves.size()) ++leaves[chosen];
    }
    for (const input& item : tunings) {
      std::string line;
      for (const auto& [name, value] : item.items()) {
        line += fmt::format("{}{}={}", line.empty() ? "" : ", ", name,
                            value.is_string() ? value.get<std::string>() : value.dump());
      }
      const std::size_t own = leaves[lines.size()];
      if (!document.contains("factors")) {
        line += fmt::format(": in {} {}", own, own == 1 ? "leaf" : "leaves");
      }
      lines.push_back(std::move(line));
    }
  } catch (const argument_error&) {
    lines.clear();
  }
  return lines;
}

std::vector<asked_sizes> unproven_sizes(const std::vector<named_value>& result,
                                        std::vector<asked_sizes> asked) {
  const bool may_be = result.size() == 1 && result.front().name == portfolio_column;
  const auto* text = may_be ? std::get_if<std::string>(&result.front().value) : nullptr;
  if (text == nullptr) return asked;
  try {
    const input document = parse_input(*text);
    if (document.is_discarded()) return asked;
    std::vector<size_range> ranges;
    for (const input& item : array_member(document, "ranges")) {
      ranges.push_back(size_range::parse(text_from_json(item)));
    }
    const std::size_t tunings = array_member(document, "configurations").size();
    const std::vector<proven_sizes> proven = proven_from(document, ranges.size(), tunings);
    const auto left = left_from(document);
    std::erase_if(asked, [&](const asked_sizes& each) {
      return are_inside(ranges, each.sizes) ||
             std::ranges::find(proven, each.sizes, &proven_sizes::sizes) != proven.end() ||
             std::ranges::find(left, each.sizes) != left.end();
    });
  } catch (const argument_error&) {  // an unreadable portfolio serves nothing
  }
  return asked;
}

}  // namespace tune::detail
