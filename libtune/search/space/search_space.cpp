// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/search_space.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/enumeration.hpp"
#include "libtune/search/space/random_source.hpp"

namespace tune {
namespace {

detail::combination_factory factory(std::size_t parameters, std::vector<restriction> restrictions) {
  for (const restriction& item : restrictions) {
    if (item.allows) continue;
    throw argument_error("the restriction '" + item.description + "' has no function");
  }
  auto shared = std::make_shared<const std::vector<restriction>>(std::move(restrictions));
  return [parameters, shared = std::move(shared)]() -> detail::combination {
    auto choice = std::make_shared<std::vector<std::size_t>>(parameters, 0);
    return {[choice](std::size_t i, std::size_t candidate) { (*choice)[i] = candidate; },
            [choice, shared](std::size_t i) { return (*shared)[i].allows(*choice); }};
  };
}

/// Returns an item that equals another in the compared member, or null. Must be fast, because a
/// space from a file may have a million items.
template <class Item, class Compared>
const Item* find_twice(const std::vector<Item>& items, Compared compared) {
  std::vector<const Item*> sorted;
  sorted.reserve(items.size());
  for (const Item& item : items) sorted.push_back(&item);
  const auto key = [&](const Item* item) -> const auto& { return std::invoke(compared, *item); };
  std::ranges::sort(sorted, std::less<>(), key);
  const auto twice = std::ranges::adjacent_find(sorted, std::equal_to<>(), key);
  return twice == sorted.end() ? nullptr : *twice;
}

void check_candidates(const parameter& item) {
  if (item.candidates.empty()) {
    throw argument_error("the parameter '" + item.name +
                         "' has no candidates; give it at least one");
  }
  for (const value& candidate : item.candidates) {
    // Only NaN differs from itself. It could be neither found nor distinguished from another NaN.
    // NOLINTNEXTLINE(misc-redundant-expression)
    if (candidate != candidate) {
      throw argument_error("the parameter '" + item.name + "' has NaN as a candidate");
    }
  }
  if (const value* twice = find_twice(item.candidates, std::identity())) {
    throw argument_error(
        fmt::format("the parameter '{}' has the candidate {} twice", item.name, to_string(*twice)));
  }
}

void check_names(const std::vector<parameter>& parameters) {
  if (const parameter* twice = find_twice(parameters, &parameter::name)) {
    throw argument_error("the space has two parameters of the name '" + twice->name + "'");
  }
}

void check_reads(const restriction& item, std::size_t parameters) {
  if (!item.reads) return;
  for (const std::size_t read : *item.reads) {
    if (read < parameters) continue;
    throw argument_error(fmt::format("the restriction '{}' reads parameter {} of a space of {}",
                                     item.description, read, parameters));
  }
}

std::size_t count_combinations(const std::vector<parameter>& parameters) {
  std::size_t count = 1;
  for (const parameter& item : parameters) {
    if (count > std::numeric_limits<std::size_t>::max() / item.candidates.size()) {
      throw argument_error(fmt::format(
          "with the parameter '{}' the space has more combinations than a 64-bit number can count; "
          "give fewer parameters or candidates",
          item.name));
    }
    count *= item.candidates.size();
  }
  return count;
}

}  // namespace

struct search_space::state {
  std::vector<parameter> parameters;
  std::vector<restriction> restrictions;
  detail::combination_factory make_combination;
  std::size_t cartesian_size;

  std::mutex mutex;  // guards found until it has a value; after that, found is only read
  std::optional<detail::enumeration> found;

  state(std::vector<parameter> given, std::vector<restriction> conditions,
        detail::combination_factory make)
      : parameters(std::move(given)),
        restrictions(std::move(conditions)),
        make_combination(std::move(make)) {
    for (const parameter& item : parameters) check_candidates(item);
    check_names(parameters);
    for (const auto& item : restrictions) check_reads(item, parameters.size());
    cartesian_size = count_combinations(parameters);
  }

  /// The first choice in nested order that all restrictions allow; empty if it was not found within
  /// a few steps, as where they allow nothing.
  std::optional<std::vector<std::size_t>> first_choice() const {
    constexpr std::size_t most_steps = 10'000;
    // The restrictions by the last parameter that they read, in their order.
    std::vector<std::vector<std::size_t>> decided(parameters.size() + 1);
    for (std::size_t i = 0; i < restrictions.size(); ++i) {
      const auto& reads = restrictions[i].reads;
      const std::size_t last = !reads           ? parameters.size()
                               : reads->empty() ? 0
                                                : std::ranges::max(*reads) + 1;
      decided[last].push_back(i);
    }
    detail::combination tried = make_combination();
    const auto allows = [&](std::size_t set) {
      return std::ranges::all_of(decided[set], [&](std::size_t i) { return tried.allowed_by(i); });
    };
    std::vector<std::size_t> choice;
    try {
      bool goes_on = allows(0);
      for (std::size_t step = 0; goes_on && step < most_steps; ++step) {
        if (choice.size() == parameters.size()) return choice;
        choice.push_back(0);
        tried.set(choice.size() - 1, 0);
        while (goes_on && !allows(choice.size())) {
          while (!choice.empty() &&
                 choice.back() + 1 == parameters[choice.size() - 1].candidates.size()) {
            choice.pop_back();
          }
          goes_on = !choice.empty() && ++step < most_steps;
          if (goes_on) tried.set(choice.size() - 1, ++choice.back());
        }
      }
    } catch (const std::exception&) {
      return std::nullopt;  // finding all of them throws it again
    }
    return std::nullopt;
  }

  /// The candidates with these values; empty if a value is missing or no candidate.
  std::optional<std::vector<std::size_t>> choice_of(std::span<const named_value> values) const {
    std::vector<std::size_t> chosen;
    for (const parameter& item : parameters) {
      const auto given = std::ranges::find(values, item.name, &named_value::name);
      if (given == values.end()) return std::nullopt;
      const auto candidate = std::ranges::find(item.candidates, given->value);
      if (candidate == item.candidates.end()) return std::nullopt;
      chosen.push_back(static_cast<std::size_t>(candidate - item.candidates.begin()));
    }
    return chosen;
  }

  /// True if all restrictions allow a choice; empty if none forbids it and one throws. One may
  /// throw where an earlier one forbids.
  std::optional<bool> allows(std::span<const std::size_t> choice) const {
    detail::combination tried = make_combination();
    for (std::size_t i = 0; i < choice.size(); ++i) tried.set(i, choice[i]);
    bool is_known = true;
    for (std::size_t i = 0; i < restrictions.size(); ++i) {
      try {
        if (!tried.allowed_by(i)) return false;
      } catch (const std::exception&) {
        is_known = false;
      }
    }
    return is_known ? std::optional(true) : std::nullopt;
  }

  std::vector<named_value> values(std::span<const std::size_t> choice) const {
    std::vector<named_value> all;
    all.reserve(choice.size());
    for (std::size_t i = 0; i < choice.size(); ++i) {
      all.push_back({parameters[i].name, parameters[i].candidates[choice[i]]});
    }
    return all;
  }

  const detail::enumeration& enumerated() {
    const std::lock_guard lock(mutex);
    if (!found) found = detail::enumerate(parameters, restrictions, make_combination());
    return *found;
  }
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): the declaration serves both kinds of caller
search_space::search_space(std::vector<parameter> parameters, std::vector<restriction> restrictions)
    // Both are used twice, so the first use must not move.
    : search_space(parameters, restrictions, factory(parameters.size(), restrictions)) {}

search_space::search_space(std::vector<parameter> parameters, std::vector<restriction> restrictions,
                           detail::combination_factory make_combination)
    : state_(std::make_shared<state>(std::move(parameters), std::move(restrictions),
                                     std::move(make_combination))) {}

const std::vector<parameter>& search_space::parameters() const noexcept {
  return state_->parameters;
}

std::size_t search_space::cartesian_size() const noexcept { return state_->cartesian_size; }

const detail::valid_configurations& search_space::valid() const {
  return state_->enumerated().valid;
}

std::size_t search_space::size() const { return valid().size(); }

std::vector<std::size_t> search_space::choice(std::size_t index) const {
  const detail::valid_configurations& all = valid();
  if (index >= all.size()) {
    throw argument_error(
        fmt::format("the space has {} configurations, there is no number {}", all.size(), index));
  }
  return all.choice(index);
}

std::optional<std::size_t> search_space::index_of(std::span<const std::size_t> choice) const {
  if (choice.size() != parameters().size()) {
    throw argument_error(fmt::format("a choice of {} candidates for a space of {} parameters",
                                     choice.size(), parameters().size()));
  }
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const parameter& item = parameters()[i];
    if (choice[i] >= item.candidates.size()) {
      throw argument_error(
          fmt::format("the parameter '{}' has {} candidates, there is no number {}", item.name,
                      item.candidates.size(), choice[i]));
    }
  }
  return valid().number(choice);
}

std::optional<std::vector<named_value>> search_space::first() const {
  if (const auto choice = state_->first_choice()) return state_->values(*choice);
  return size() == 0 ? std::nullopt : std::optional(values(0));
}

std::vector<named_value> search_space::values(std::size_t index) const {
  return state_->values(choice(index));
}

std::optional<std::size_t> search_space::find(std::span<const named_value> values) const {
  const auto chosen = state_->choice_of(values);
  return chosen ? index_of(*chosen) : std::nullopt;
}

bool search_space::contains(std::span<const named_value> values) const {
  const auto chosen = state_->choice_of(values);
  if (!chosen) return false;
  const auto allowed = state_->allows(*chosen);
  return allowed ? *allowed : index_of(*chosen).has_value();
}

std::vector<std::size_t> search_space::sample(std::size_t count, std::uint64_t seed) const {
  count = std::min(count, size());
  detail::random_order order(size(), seed);
  std::vector<std::size_t> drawn;
  drawn.reserve(count);
  while (drawn.size() < count) drawn.push_back(*order.next());
  return drawn;
}

std::vector<removal> search_space::removals() const {
  std::vector<removal> all;
  if (state_->restrictions.empty()) return all;
  const std::vector<std::size_t>& removed = state_->enumerated().removed;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    all.push_back({state_->restrictions[i].description, removed[i]});
  }
  return all;
}

space_outline outline_of(const search_space& space) {
  return {.combinations = space.cartesian_size(),
          .configurations = space.size(),
          .removals = space.removals(),
          .parameters = space.parameters()};
}

// Databases store digests of this text: after a change, no stored space is recognised.
std::string canonical_text(const search_space& space) {
  std::string text = fmt::format("size {}\n", space.size());
  for (const parameter& item : space.parameters()) {
    text += fmt::format("parameter {}:{}", item.name.size(), item.name);
    for (const value& candidate : item.candidates) text += " " + canonical_text(candidate);
    text += '\n';
  }
  for (const removal& item : space.removals()) {
    text += fmt::format("restriction {}:{} {}\n", item.description.size(), item.description,
                        item.combinations);
  }
  return text;
}

}  // namespace tune
