// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategies.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libtune/base/error.hpp"
#include "libtune/search/annealing.hpp"
#include "libtune/search/differential.hpp"
#include "libtune/search/exhaustive.hpp"
#include "libtune/search/genetic.hpp"
#include "libtune/search/local.hpp"
#include "libtune/search/model.hpp"
#include "libtune/search/random.hpp"

namespace tune {
namespace {

template <class Strategy>
std::unique_ptr<strategy> make(const search_space& space, const strategy_options& options) {
  return std::make_unique<Strategy>(space, options);
}

// A new strategy is added here.
struct listed {
  std::string_view name;
  std::unique_ptr<strategy> (*make)(const search_space&, const strategy_options&);
};
constexpr std::array all{
    listed{"exhaustive", make<exhaustive_strategy>},
    listed{"random", make<random_strategy>},
    listed{"local", make<local_strategy>},
    listed{"genetic", make<genetic_strategy>},
    listed{"differential", make<differential_strategy>},
    listed{"annealing", make<annealing_strategy>},
    listed{"model", make<model_strategy>},
};

constexpr auto names = [] {
  std::array<std::string_view, all.size()> result;
  std::ranges::transform(all, result.begin(), &listed::name);
  return result;
}();

}  // namespace

std::span<const std::string_view> strategy_names() noexcept { return names; }

std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options) {
  const auto* found = std::ranges::find(all, name, &listed::name);
  if (found == all.end()) {
    throw argument_error(fmt::format("there is no search strategy '{}'; the strategies are {}",
                                     name, fmt::join(names, ", ")));
  }
  return found->make(space, options);
}

std::string_view choose_strategy(std::size_t configurations,
                                 std::optional<std::size_t> budget) noexcept {
  // Without a limit the order matters only to those who stop a search, as they would a long one.
  constexpr std::size_t soon = 1000;
  const bool all = budget ? *budget >= configurations : configurations <= soon;
  return all ? "exhaustive" : "model";
}

}  // namespace tune
