// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A service for tests, which delivers when and what it is told to.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/testing/fake_context.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"

namespace sample {

/// The binary that a fake device takes for a source.
inline tune::prebuilt_program made_of(const tune::wanted_program& wanted) {
  const std::string text = std::string(tune::testing::fake_program::magic) + wanted.source.text;
  tune::prebuilt_program made{.what = tune::prebuilt_program::status::made};
  for (const char c : text) made.binary.push_back(static_cast<std::byte>(c));
  return made;
}

/// A search of one parameter, x = 0 ... count - 1.
inline tune::search_problem numbered_problem(std::size_t count,
                                             std::function<tune::measure(std::size_t)> generate) {
  std::vector<tune::value> candidates;
  for (std::size_t i = 0; i < count; ++i) candidates.emplace_back(static_cast<std::int64_t>(i));
  const tune::search_space space({{"x", candidates}});
  return {.space = space,
          .configuration = [space](std::size_t i) { return space.values(i); },
          .needs = [](std::size_t) { return std::nullopt; },
          .generate = std::move(generate)};
}

class fake_compile_service final : public tune::compile_service {
 public:
  explicit fake_compile_service(std::size_t capacity = 4) : capacity_(capacity) {}

  /// What becomes of a program; made, unless this says otherwise.
  std::function<tune::prebuilt_program(const tune::wanted_program&)> make = made_of;
  /// Whether the program that was ordered last is delivered first.
  bool last_first = false;
  /// Whether nothing is delivered.
  bool holds = false;
  /// What find knows of.
  std::function<std::optional<tune::prebuilt_program>(const tune::wanted_program&)> known;

  std::string missing;  // why it has no helpers

  std::vector<double> costs;  // that were told with the orders
  /// What the compiler is said to have taken.
  std::function<std::chrono::nanoseconds(const tune::wanted_program&)> elapsed;

  std::size_t expected() const noexcept { return expected_; }
  std::size_t on_order() const noexcept { return orders_.size(); }
  std::size_t ordered() const noexcept { return ordered_; }
  std::size_t most_on_order() const noexcept { return most_on_order_; }

 private:
  using order_pair = std::pair<tune::program_order, tune::wanted_program>;

  std::size_t do_capacity() const override { return capacity_; }
  void do_expect(std::size_t programs) override { expected_ = programs; }
  std::optional<tune::prebuilt_program> do_find(const tune::wanted_program& wanted) override {
    return known ? known(wanted) : std::nullopt;
  }
  void do_order(tune::program_order order, const tune::wanted_program& wanted,
                double cost) override {
    costs.push_back(cost);
    ++ordered_;
    orders_.emplace_back(order, wanted);
    most_on_order_ = std::max(most_on_order_, orders_.size());
  }
  std::vector<tune::delivered_program> do_deliver(time_point) override {
    if (orders_.empty() || holds) return {};
    const auto place = last_first ? orders_.end() - 1 : orders_.begin();
    const order_pair next = *place;
    orders_.erase(place);
    std::vector<tune::delivered_program> delivered;
    delivered.push_back({next.first, make(next.second),
                         elapsed ? elapsed(next.second) : std::chrono::nanoseconds(0)});
    return delivered;
  }
  std::string do_shortcoming() const override { return missing; }

  std::size_t capacity_;
  std::vector<order_pair> orders_;
  std::size_t expected_ = 0;
  std::size_t ordered_ = 0;
  std::size_t most_on_order_ = 0;
};

}  // namespace sample
