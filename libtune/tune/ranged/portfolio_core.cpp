// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ranged/portfolio_core.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/base/log.hpp"
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
    // There may have been fewer terms when it was written. The last factor is the constant.
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

/// Portfolios of libtune 0.1.0 and before have none.
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

/// Earlier portfolios have none.
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

std::uint64_t hash_of(std::span<const std::uint64_t> sizes) noexcept {
  std::uint64_t hash = sizes.size();
  for (const std::uint64_t size : sizes) {
    hash = (hash ^ size) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
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
  made.orders = orders_from(document, made.configurations.size());
  made.factors = factors_from(document, made.configurations.size());
  made.proven = proven_from(document, made.ranges.size(), made.configurations.size());
  made.left = left_from(document);
  made.expected_loss = number(document, "expected_loss");
  made.worst_loss = number(document, "worst_loss");
  made.sizes = count(document, "sizes");
  made.compared = count(document, "compared");
  if (document.contains("unchecked")) made.unchecked = count(document, "unchecked");
  return made;
}

std::string describe_losses(double expected, double worst) {
  if (std::isinf(expected) || std::isinf(worst)) {
    return "how much slower than tuning each size is not known, for too few were compared";
  }
  return fmt::format("{:.1f} % slower than tuning each size, {:.1f} % at most at nine of ten",
                     100 * expected, 100 * worst);
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
    const input document =
        input::parse(std::get<std::string>(result.front().value), nullptr, false);
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
    const input document = input::parse(*text, nullptr, false);
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
  } catch (const argument_error&) {  // what cannot be read serves nothing
  }
  return asked;
}

bool size_tally::count(std::span<const std::uint64_t> sizes, std::uint64_t times) noexcept {
  if (sizes.size() > most_ranges) return true;
  const std::uint64_t hash = hash_of(sizes);
  const std::uint32_t tag = static_cast<std::uint32_t>(hash) | 1;
  for (std::size_t tries = 0; tries < most_tries; ++tries) {
    const std::size_t place = ((hash >> 32) + tries) % most;
    slot& at = slots_[place];
    std::uint32_t found = tags_[place].load(std::memory_order_relaxed);
    if (found == 0 && tags_[place].compare_exchange_strong(found, tag, std::memory_order_relaxed)) {
      at.length = static_cast<std::uint8_t>(sizes.size());
      std::ranges::copy(sizes, at.sizes.begin());
      at.count.store(times, std::memory_order_relaxed);
      at.is_ready.store(true, std::memory_order_release);
      return true;
    }
    if (found != tag) continue;
    // Another thread may be writing it; nobody waits for a count.
    if (!at.is_ready.load(std::memory_order_acquire)) return true;
    bool is_same = at.length == sizes.size();
    for (std::size_t d = 0; d < sizes.size(); ++d) is_same = is_same && at.sizes[d] == sizes[d];
    if (is_same) {
      at.count.fetch_add(times, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

std::vector<asked_sizes> size_tally::take() {
  std::vector<asked_sizes> counted;
  for (slot& each : slots_) {
    if (!each.is_ready.load(std::memory_order_acquire)) continue;
    const std::uint64_t count = each.count.exchange(0, std::memory_order_relaxed);
    if (count == 0) continue;
    counted.push_back(
        {.sizes = {each.sizes.begin(), each.sizes.begin() + each.length}, .count = count});
  }
  return counted;
}

std::optional<std::size_t> choice_cache::find(std::span<const std::uint64_t> sizes,
                                              std::uint64_t hash) noexcept {
  entry& at = entries_[hash % most];
  const std::uint32_t version = at.version.load(std::memory_order_acquire);
  if (version == 0 || version % 2 != 0) return std::nullopt;
  bool is_same = true;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    is_same = is_same && at.sizes[d].load(std::memory_order_acquire) == sizes[d];
  }
  const std::uint32_t choice = at.choice.load(std::memory_order_acquire);
  const bool is_whole = at.version.load(std::memory_order_relaxed) == version;
  if (!is_same || !is_whole) return std::nullopt;
  at.count.fetch_add(1, std::memory_order_relaxed);
  return choice;
}

choice_cache::counted choice_cache::remember(std::span<const std::uint64_t> sizes,
                                             std::uint64_t hash, std::size_t choice) noexcept {
  counted left;
  entry& at = entries_[hash % most];
  std::uint32_t version = at.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 ||
      !at.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    std::ranges::copy(sizes, left.sizes.begin());
    left.count = 1;
    return left;
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    left.sizes[d] = at.sizes[d].load(std::memory_order_relaxed);
    at.sizes[d].store(sizes[d], std::memory_order_release);
  }
  // Not by an exchange, which takes longer.
  left.count = at.count.load(std::memory_order_relaxed);
  at.count.store(1, std::memory_order_relaxed);
  at.choice.store(static_cast<std::uint32_t>(choice), std::memory_order_release);
  at.version.store(version + 2, std::memory_order_release);
  return left;
}

std::vector<choice_cache::counted> choice_cache::take() {
  std::vector<counted> all;
  for (entry& at : entries_) {
    const std::uint32_t version = at.version.load(std::memory_order_acquire);
    if (version == 0 || version % 2 != 0) continue;
    counted each;
    for (std::size_t d = 0; d < each.sizes.size(); ++d) {
      each.sizes[d] = at.sizes[d].load(std::memory_order_acquire);
    }
    if (at.version.load(std::memory_order_relaxed) != version) continue;
    each.count = at.count.exchange(0, std::memory_order_relaxed);
    if (each.count > 0) all.push_back(each);
  }
  return all;
}

portfolio_core::portfolio_core(stored_portfolio stored, size_features features, listener asked)
    : stored_(std::move(stored)), features_(std::move(features)), asked_(std::move(asked)) {
  for (const proven_sizes& each : stored_.proven) {
    has_proven_.set(hash_of(each.sizes) % has_proven_.size());
  }
}

portfolio_core::~portfolio_core() {
  try {
    note_sizes();
  } catch (const std::exception& failure) {
    log(log_level::debug, std::string("sizes that were asked for are lost: ") + failure.what());
  }
}

void portfolio_core::note_sizes() const {
  if (!asked_) return;
  // There is room for some only: for those that were asked for most.
  std::vector<choice_cache::counted> last = chosen_.take();
  std::ranges::stable_sort(last, std::ranges::greater(), &choice_cache::counted::count);
  for (const choice_cache::counted& each : last) {
    count(std::span(each.sizes).first(stored_.ranges.size()), each.count);
  }
  std::vector<asked_sizes> asked = exact_.take();
  for (asked_sizes& each : rounded_.take()) asked.push_back(std::move(each));
  if (!asked.empty()) asked_(*this, asked);
}

// Of sizes in the ranges their neighbours tell as much.
void portfolio_core::count(std::span<const std::uint64_t> sizes,
                           std::uint64_t times) const noexcept {
  if (!asked_ || times == 0) return;
  if (exact_.count(sizes, times) || !are_inside(stored_.ranges, sizes)) return;
  std::array<std::uint64_t, most_ranges> rounded{};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const size_range& range = stored_.ranges[d];
    const int dropped = std::max(static_cast<int>(std::bit_width(sizes[d])) - 2, 0);
    const std::uint64_t near = sizes[d] >> dropped << dropped;
    const std::uint64_t multiple = range.multiple();
    rounded[d] = std::max(multiple == 1 ? near : near / multiple * multiple, range.low());
  }
  rounded_.count(std::span(rounded).first(sizes.size()), times);
}

bool portfolio_core::is_proven(std::span<const std::uint64_t> sizes) const noexcept {
  return find_proven(sizes, hash_of(sizes)) != nullptr;
}

const proven_sizes* portfolio_core::find_proven(std::span<const std::uint64_t> sizes,
                                                std::uint64_t hash) const noexcept {
  if (!has_proven_[hash % has_proven_.size()]) return nullptr;
  const auto found = std::ranges::lower_bound(
      stored_.proven, sizes,
      [](const auto& a, const auto& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      },
      [](const proven_sizes& each) { return std::span(each.sizes); });
  const bool is_found = found != stored_.proven.end() && std::ranges::equal(found->sizes, sizes);
  return is_found ? &*found : nullptr;
}

// To find a choice takes from some tens to some hundreds of nanoseconds, so the last are kept.
std::size_t portfolio_core::choose(std::span<const std::uint64_t> sizes,
                                   const std::function<bool(std::size_t)>& fits,
                                   std::span<const cost_function> costs) const noexcept {
  const std::uint64_t hash = hash_of(sizes);
  if (sizes.size() != stored_.ranges.size()) {
    count(sizes, 1);
    return find_choice(sizes, hash, fits, costs);
  }
  if (const auto known = chosen_.find(sizes, hash)) return *known;
  const std::size_t chosen = find_choice(sizes, hash, fits, costs);
  const choice_cache::counted left = chosen_.remember(sizes, hash, chosen);
  count(std::span(left.sizes).first(sizes.size()), left.count);
  return chosen;
}

// What was measured at these very sizes needs no prediction. A choice that does not fit gives way
// to the others in the order of the leaf, and at last to the fallback. Outside of the ranges it
// has to be proven: by a measurement there, or by fits.
std::size_t portfolio_core::find_choice(std::span<const std::uint64_t> sizes, std::uint64_t hash,
                                        const std::function<bool(std::size_t)>& fits,
                                        std::span<const cost_function> costs) const noexcept {
  const std::size_t fallback = stored_.configurations.size() - 1;
  if (sizes.size() > most_ranges) return fallback;
  const auto first_of = [&](places all) -> std::size_t {
    for (const std::uint32_t place : all) {
      if (!fits || fits(place)) return place;
    }
    return fallback;
  };
  if (const proven_sizes* const known = find_proven(sizes, hash)) return first_of(known->order);
  if (!fits && !are_inside(stored_.ranges, sizes)) return fallback;
  const bool has_costs = !stored_.factors.empty() && costs.size() == stored_.factors.size();
  if (has_costs && sizes.size() == stored_.ranges.size()) {
    return find_cheapest(
               stored_.factors, [&](std::size_t place) { return costs[place](sizes); },
               [&](std::size_t place) { return !fits || fits(place); })
        .value_or(fallback);
  }
  const std::size_t leaf = stored_.tree.leaf(point_of(sizes, features_));
  const std::uint32_t chosen = stored_.tree.nodes()[leaf].below;
  if (!fits || fits(chosen)) return chosen;
  if (!stored_.orders.empty()) return first_of(stored_.orders[leaf]);
  for (std::size_t other = 0; other < fallback; ++other) {
    if (fits(other)) return other;
  }
  return fallback;
}

void note_sizes(const portfolio_core& core) { core.note_sizes(); }

std::size_t choose(const portfolio_core& core, std::span<const std::uint64_t> sizes,
                   const std::function<bool(std::size_t)>& fits,
                   std::span<const cost_function> costs) noexcept {
  return core.choose(sizes, fits, costs);
}

}  // namespace tune::detail
