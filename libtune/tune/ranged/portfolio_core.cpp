// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ranged/portfolio_core.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/tune/ranged/portfolio.hpp"

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

size_tree tree_from(const input& object, std::size_t configurations) {
  std::vector<size_tree::node> nodes;
  for (const input& item : array_member(object, "tree")) {
    nodes.push_back({.threshold = number(item, "threshold"),
                     .coordinate = static_cast<std::int32_t>(number(item, "coordinate")),
                     .below = static_cast<std::uint32_t>(count(item, "below")),
                     .above = static_cast<std::uint32_t>(count(item, "above"))});
    const size_tree::node& node = nodes.back();
    if (node.coordinate >= static_cast<std::int32_t>(size_point().size())) {
      refuse_document("its tree compares a coordinate that no size has");
    }
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
  for (const size_tree::node& each : tree.nodes()) {
    document["tree"].push_back({{"coordinate", each.coordinate},
                                {"threshold", real_to_json(each.threshold)},
                                {"below", each.below},
                                {"above", each.above}});
  }
  document["expected_loss"] = real_to_json(expected_loss);
  document["worst_loss"] = real_to_json(worst_loss);
  document["sizes"] = sizes;
  document["compared"] = compared;
  return json_text(document);
}

stored_portfolio stored_portfolio::parse(const std::string& text,
                                         const std::vector<field_description>& fields) {
  const input document = input::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) refuse_document("it is no JSON object");
  if (member(document, "portfolio") != text_version) {
    refuse_document("it is a portfolio of another version");
  }
  stored_portfolio made;
  for (const input& item : array_member(document, "ranges")) {
    made.ranges.push_back(size_range::parse(text_from_json(item)));
  }
  for (const input& item : array_member(document, "configurations")) {
    made.configurations.push_back(values_from_json({{"tuning", item}}, "tuning", fields));
  }
  if (made.configurations.empty()) refuse_document("it has no configuration");
  made.tree = tree_from(document, made.configurations.size());
  made.expected_loss = number(document, "expected_loss");
  made.worst_loss = number(document, "worst_loss");
  made.sizes = count(document, "sizes");
  made.compared = count(document, "compared");
  return made;
}

std::optional<std::string> describe_portfolio(const std::vector<named_value>& result) {
  const bool may_be = result.size() == 1 && result.front().name == portfolio_column;
  const auto* text = may_be ? std::get_if<std::string>(&result.front().value) : nullptr;
  if (text == nullptr) return std::nullopt;
  try {
    const input document = input::parse(*text, nullptr, false);
    if (document.is_discarded()) return std::nullopt;
    const std::size_t tunings = array_member(document, "configurations").size();
    std::size_t leaves = 0;
    for (const input& item : array_member(document, "tree")) {
      leaves += number(item, "coordinate") < 0 ? 1 : 0;
    }
    return fmt::format(
        "portfolio of {} tunings in {} leaves, compared at {} sizes: {:.1f} % slower than tuning "
        "each size, {:.1f} % at most at nine of ten",
        tunings, leaves, count(document, "sizes"), 100 * number(document, "expected_loss"),
        100 * number(document, "worst_loss"));
  } catch (const argument_error&) {
    return std::nullopt;
  }
}

void size_tally::count(std::span<const std::uint64_t> sizes) noexcept {
  if (sizes.size() > most_ranges) return;
  std::uint64_t hash = sizes.size();
  for (const std::uint64_t size : sizes) hash = (hash ^ size) * 0x9E3779B97F4A7C15U;
  for (std::size_t tries = 0; tries < most; ++tries) {
    slot& at = slots_[((hash >> 32) + tries) % most];
    std::uint8_t expected = empty;
    if (at.state.compare_exchange_strong(expected, writing, std::memory_order_acquire)) {
      at.length = static_cast<std::uint8_t>(sizes.size());
      std::ranges::copy(sizes, at.sizes.begin());
      at.count.store(1, std::memory_order_relaxed);
      at.state.store(ready, std::memory_order_release);
      return;
    }
    if (expected == writing) return;  // by another thread; nobody waits for a count
    if (std::ranges::equal(std::span(at.sizes).first(at.length), sizes)) {
      at.count.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

std::vector<asked_sizes> size_tally::all() const {
  std::vector<asked_sizes> counted;
  for (const slot& each : slots_) {
    if (each.state.load(std::memory_order_acquire) != ready) continue;
    counted.push_back({.sizes = {each.sizes.begin(), each.sizes.begin() + each.length},
                       .count = each.count.load(std::memory_order_relaxed)});
  }
  return counted;
}

portfolio_core::portfolio_core(stored_portfolio stored, size_features features,
                               std::function<void(const std::vector<asked_sizes>&)> outside)
    : stored_(std::move(stored)), features_(std::move(features)), outside_(std::move(outside)) {}

portfolio_core::~portfolio_core() {
  if (!outside_) return;
  const std::vector<asked_sizes> asked = asked_outside_.all();
  if (!asked.empty()) outside_(asked);
}

bool portfolio_core::is_inside(std::span<const std::uint64_t> sizes) const noexcept {
  if (sizes.size() != stored_.ranges.size()) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!stored_.ranges[d].contains(sizes[d])) return false;
  }
  return true;
}

// A choice that does not fit gives way to the others in order, and at last to the test default.
std::size_t portfolio_core::choose(std::span<const std::uint64_t> sizes,
                                   const std::function<bool(std::size_t)>& fits) const noexcept {
  const std::size_t fallback = stored_.configurations.size() - 1;
  if (sizes.size() > most_ranges) return fallback;
  if (!is_inside(sizes)) {
    asked_outside_.count(sizes);
    if (!fits) return fallback;
  }
  const std::size_t chosen = stored_.tree.choose(point_of(sizes, features_));
  if (!fits || fits(chosen)) return chosen;
  for (std::size_t other = 0; other < fallback; ++other) {
    if (fits(other)) return other;
  }
  return fallback;
}

std::size_t choose(const portfolio_core& core, std::span<const std::uint64_t> sizes,
                   const std::function<bool(std::size_t)>& fits) noexcept {
  return core.choose(sizes, fits);
}

}  // namespace tune::detail
