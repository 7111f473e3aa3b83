// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The strategies whose order does not depend on any answer.
#include <algorithm>
#include <fmt/format.h>
#include <numbers>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategies.hpp"

namespace tune {
namespace {

constexpr std::size_t most_in_order = 64;

// Multiples of the golden section divide a circle more evenly than those of any other number,
// however many there are. Without a common divisor they meet each place once.
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

 private:
  std::optional<std::size_t> do_ask() override {
    // Both are less than the size, so that the sum does not overflow.
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

 private:
  std::optional<std::size_t> do_ask() override { return listed_[next_++]; }

  std::vector<std::size_t> listed_;
  std::size_t next_ = 0;
};

}  // namespace

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
}  // namespace tune
