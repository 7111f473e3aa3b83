// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategies.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/search/model/surrogate.hpp"

namespace tune {
namespace {

struct named_strategy {
  std::string name;
  strategy_factory make;
};

/// All strategies: the library's, then the registered ones.
struct strategy_registry {
  std::mutex mutex;
  // Add new strategies of the library here.
  std::vector<named_strategy> all{
      {"exhaustive", detail::make_exhaustive}, {"random", detail::make_random},
      {"local", detail::make_local},           {"genetic", detail::make_genetic},
      {"model", detail::make_model},           {"near", detail::make_near}};
};

strategy_registry& registry() {
  static detail::never_destroyed<strategy_registry> strategies;
  return *strategies;
}

// The stored name for searches of listed configurations.
constexpr std::string_view reserved_name = "shortlist";

bool can_be_named(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return detail::is_word(c) || c == '-' || c == '.';
  });
}

constexpr std::size_t small_space = 64;
constexpr double effort = 6;

// Makes the order of untried configurations independent of the algorithm's draws.
constexpr std::uint64_t other_stream = 0x9e3779b97f4a7c15;

constexpr std::size_t most_in_order = 64;

// Multiples of the golden section divide a circle more evenly than those of any other number,
// whatever their count. A stride without a common divisor visits each place once.
std::size_t stride_of(std::size_t size) {
  if (size <= most_in_order) return 1;
  auto stride = static_cast<std::size_t>(static_cast<double>(size) * (std::numbers::phi - 1));
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

class exhaustive_strategy final : public strategy {
 public:
  exhaustive_strategy(search_space searched, const strategy_options& options)
      : strategy(std::move(searched), options), stride_(stride_of(space().size())) {}

  bool learns() const noexcept override { return false; }

 private:
  std::optional<std::size_t> do_ask() override {
    // Both are less than the size, which avoids overflow of the sum.
    const std::size_t size = space().size();
    const std::size_t now = next_;
    next_ = now >= size - stride_ ? now - (size - stride_) : now + stride_;
    return now;
  }

  std::size_t stride_;
  std::size_t next_ = 0;
};

class random_strategy final : public strategy {
 public:
  random_strategy(search_space searched, const strategy_options& options)
      : strategy(std::move(searched), options), order_(space().size(), options.seed) {}

  bool learns() const noexcept override { return false; }

 private:
  std::optional<std::size_t> do_ask() override { return order_.next(); }

  detail::random_order order_;
};

std::vector<std::size_t> without_repetitions(std::vector<std::size_t> listed) {
  std::unordered_set<std::size_t> seen;
  std::erase_if(listed, [&](std::size_t index) { return !seen.insert(index).second; });
  return listed;
}

class shortlist_strategy final : public strategy {
 public:
  shortlist_strategy(search_space searched, std::vector<std::size_t> listed)
      : strategy(std::move(searched), {.max_count = listed.size()}), listed_(std::move(listed)) {
    for (const std::size_t index : listed_) {
      if (index < space().size()) continue;
      throw argument_error(
          fmt::format("configuration {} is listed of a space of {}", index, space().size()));
    }
  }

  bool learns() const noexcept override { return false; }

 private:
  std::optional<std::size_t> do_ask() override { return listed_[next_++]; }

  std::vector<std::size_t> listed_;
  std::size_t next_ = 0;
};

class model_strategy final : public learning_strategy {
 public:
  model_strategy(search_space searched, const strategy_options& options)
      : learning_strategy(std::move(searched), options) {}

 private:
  std::optional<std::size_t> do_propose() override {
    if (model().is_exhausted() && end_early()) return std::nullopt;
    const auto index = model().most_promising();
    if (index) model().expect(*index);
    return index;
  }
  void do_learn(std::size_t index, std::optional<double> score) override {
    model().learn(index, score);
  }

  detail::surrogate& model() {
    if (!model_) model_.emplace(space(), random());
    return *model_;
  }

  std::optional<detail::surrogate> model_;  // made when it is first needed
};

}  // namespace

bool register_strategy(std::string name, strategy_factory make) {
  if (!can_be_named(name)) {
    throw argument_error(fmt::format(
        "a search strategy cannot be named '{}': use letters, digits, '-', '_' and '.'", name));
  }
  const std::lock_guard lock(registry().mutex);
  auto& all = registry().all;
  const bool is_taken = std::ranges::find(all, name, &named_strategy::name) != all.end();
  if (is_taken || name == reserved_name || !make) {
    throw argument_error(fmt::format("the search strategy '{}' cannot be registered: {}", name,
                                     make ? "a strategy has this name" : "its factory is empty"));
  }
  all.push_back({std::move(name), std::move(make)});
  return true;
}

std::vector<std::string> strategy_names() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const named_strategy& item : registry().all) names.push_back(item.name);
  return names;
}

argument_error detail::unknown_strategy(std::string_view name) {
  return argument_error(
      fmt::format("there is no search strategy '{}' in this process; the strategies are {}; one of "
                  "your own has to be registered before tune::serve_if_worker is called",
                  name, fmt::join(strategy_names(), ", ")));
}

std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options) {
  strategy_factory make;
  {
    const std::lock_guard lock(registry().mutex);
    const auto found = std::ranges::find(registry().all, name, &named_strategy::name);
    if (found != registry().all.end()) make = found->make;
  }
  if (!make) throw detail::unknown_strategy(name);
  if (auto made = make(space, options)) return made;
  throw argument_error(fmt::format("the factory of the search strategy '{}' returned null", name));
}

default_search choose_search(std::size_t configurations, search_limit limit) noexcept {
  if (configurations <= small_space) return {"exhaustive", configurations};
  if (limit == search_limit::given) return {"model", configurations};
  const double most = std::ceil(effort * std::sqrt(static_cast<double>(configurations)));
  return {"model", std::min(configurations, std::max(small_space, static_cast<std::size_t>(most)))};
}

learning_strategy::learning_strategy(search_space space, const strategy_options& options)
    : strategy(std::move(space), options),
      random_(options.seed ^ other_stream),
      untried_(this->space().size(), options.seed) {}

std::optional<std::size_t> learning_strategy::random_untried() {
  while (const auto index = untried_.next()) {
    if (!tried(*index)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> learning_strategy::do_ask() {
  if (tried_.size() == space().size()) return std::nullopt;
  std::optional<std::size_t> index = do_propose();
  if (!index && !ended_early()) index = random_untried();
  if (index) tried_.insert(*index);
  return index;
}

void learning_strategy::do_tell(std::size_t index, std::optional<double> score) {
  tried_.insert(index);
  if (told_.insert(index).second) do_learn(index, score);
}

std::unique_ptr<strategy> make_shortlist(const search_space& space,
                                         std::vector<std::size_t> listed) {
  return std::make_unique<shortlist_strategy>(space, without_repetitions(std::move(listed)));
}

namespace detail {

std::unique_ptr<strategy> make_exhaustive(const search_space& space, const strategy_options& with) {
  return std::make_unique<exhaustive_strategy>(space, with);
}

std::unique_ptr<strategy> make_random(const search_space& space, const strategy_options& with) {
  return std::make_unique<random_strategy>(space, with);
}

}  // namespace detail

std::unique_ptr<strategy> detail::make_model(const search_space& space,
                                             const strategy_options& with) {
  return std::make_unique<model_strategy>(space, with);
}

}  // namespace tune
