// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/extra/ranged/portfolio.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/tune/autotuner.hpp"

namespace tune {

namespace detail {

class portfolio_core;

/// The parts of a ranged autotuner, with the types of its key and tuning erased.
struct ranged_parts {
  /// Its function is empty; its other members are of the tuning.
  autotuner_parts base{};
  std::vector<std::string> ranges{};  ///< the members of the key that are ranges
  std::function<std::vector<named_value>(tuning_session&, const std::vector<named_value>&,
                                         std::span<const std::uint64_t>)>
      tunes{};
  size_features features{};
  std::function<bool(const std::vector<named_value>&, std::span<const std::uint64_t>)> fits{};
  /// The cost function of a key and a tuning on a device.
  std::function<cost_function(const std::vector<named_value>&, const std::vector<named_value>&,
                              const device_limits&)>
      costs{};
  /// The replacement of the test default, for a key on a device; may be empty.
  std::function<std::vector<named_value>(const std::vector<named_value>&, const device&)>
      fallback{};
  portfolio_limits limits{};
};

/// Makes portfolios. Immutable, so thread-safe.
class ranged_tuner;

std::shared_ptr<const ranged_tuner> make_ranged_tuner(ranged_parts parts);
/// Returns the portfolio of a key, as ranged_autotuner does. @param options  null: the context's
std::shared_ptr<const portfolio_core> obtain_portfolio(const ranged_tuner& tuner,
                                                       const context& context,
                                                       const std::vector<named_value>& key,
                                                       const tuning_options* options);
portfolio_facts facts_of(const portfolio_core& core);
std::vector<std::vector<named_value>> configurations_of(const portfolio_core& core);

}  // namespace detail

/// A registered, named and versioned function that tunes an operation for whole ranges of sizes.
/// For a key with members of type tune::size_range it finds a portfolio: a few tunings and a choice
/// among them by sizes, which costs nanoseconds and never fails. Like an autotuner it looks in the
/// tuning database first, and stores its results. Make it a static object of the template that it
/// tunes. Immutable, and so thread-safe.
///
///   struct gemm_key { tune::dtype type{}; tune::size_range m{1, 8192}, n{1, 8192}, k{1, 8192}; };
///   ...
///   static const tune::ranged_autotuner<gemm_key, gemm_tuning> autotune;
///   gemm_template(context, key) : portfolio_(autotune.portfolio(context, key)) {
///     for (const gemm_tuning& each : portfolio_.tunings()) programs_.push_back(build(each));
///   }
///   gemm instantiate(queue, m, n, k) { auto& program = programs_[portfolio_.choose({m, n, k})]; }
///
/// The function is called at a few sizes, for a search of the whole space each. The best
/// configurations are measured, and checked, at many sizes that fill the ranges; a few of them are
/// chosen, and a tree is fitted. Then the neighbourhood of the choice is searched at new sizes:
/// this gives the loss, and the best of these configurations join. portfolio_facts has the loss.
template <class Key, class Tuning>
class ranged_autotuner {
  static_assert(fielded<Key>, "list the members of the key with LIBTUNE_FIELDS");
  static_assert(fielded<Tuning>, "list the members of the tuning with LIBTUNE_FIELDS");

 public:
  /// True if a tuning may be launched for these sizes, in the order of the ranges. The choice calls
  /// it: it must be quick, and not allocate or throw.
  using fit_function = std::function<bool(const Tuning&, std::span<const std::uint64_t>)>;

  /// Returns a function for the terms of the run time of a tuning on a device, such as waves of
  /// work groups times the steps of one, launches, bytes. The choice calls it, as it calls
  /// fit_function.
  using cost_maker = std::function<cost_function(const Key&, const Tuning&, const device_limits&)>;

  /// The name, the version, the test default and the way to choose.
  struct definition {
    std::string name;  ///< such as "gemm_template.autotune"; names the database table
    int version = 0;   ///< results of other versions are not used
    /// Works on every device and at all sizes; it, or fallback, is a tuning of each portfolio.
    Tuning test{};
    /// Additional criteria of the choice, beside the sizes; may be empty.
    size_features features{};
    /// May be empty: then every tuning counts as working at all sizes of the ranges, and the test
    /// default is chosen outside of them.
    fit_function fits{};
    /// May be empty. The factors of the terms are fitted for each tuning; the tuning with the least
    /// sum is chosen, if that loses less at held-out sizes than the tree by sizes and features. A
    /// few terms that follow the program's structure predict better than many sizes. The factors
    /// are stored, so a change of the terms needs another version.
    cost_maker costs{};
    /// May be empty. Returns a tuning that works at all sizes on this device, as the test default
    /// does, and is good at some of them: it replaces the test default among the tunings. If it is
    /// in the space it is checked at the least sizes, and after a failure the test default is used;
    /// its other sizes are not checked, as for the test default.
    std::function<Tuning(const Key&, const device&)> fallback{};
    portfolio_limits limits{};  ///< the greatest number of tunings and the target loss
    tuning_goal goal{};         ///< objectives and constraints; the least time by default
  };

  /// Finds the best tuning at one size of each range, in their order, with tuning_session::tune.
  using function =
      std::function<Tuning(tuning_session&, const Key&, std::span<const std::uint64_t>)>;

  /// @throws argument_error as autotuner's constructor does, and for a key without ranges or with
  ///         more than four
  ranged_autotuner(definition defined, function tunes) {
    detail::ranged_parts parts;
    parts.base.name = std::move(defined.name);
    parts.base.version = defined.version;
    parts.base.key_fields = describe_fields<Key>();
    parts.base.tuning_fields = describe_fields<Tuning>();
    parts.base.test_default = to_values(defined.test);
    parts.base.check = [](const std::vector<named_value>& values) {
      static_cast<void>(from_values<Tuning>(values));
    };
    parts.base.goal = std::move(defined.goal);
    const Key example{};
    for_each_field(example, [&](const char* name, const auto& member) {
      if (std::is_same_v<std::remove_cvref_t<decltype(member)>, size_range>) {
        parts.ranges.emplace_back(name);
      }
    });
    parts.tunes = [tunes = std::move(tunes)](tuning_session& session,
                                             const std::vector<named_value>& key,
                                             std::span<const std::uint64_t> sizes) {
      return to_values(tunes(session, from_values<Key>(key), sizes));
    };
    parts.features = std::move(defined.features);
    parts.limits = defined.limits;
    if (defined.fits) {
      parts.fits = [fits = defined.fits](const std::vector<named_value>& tuning,
                                         std::span<const std::uint64_t> sizes) {
        return fits(from_values<Tuning>(tuning), sizes);
      };
      fits_ = std::move(defined.fits);
    }
    if (defined.costs) {
      parts.costs = [costs = defined.costs](const std::vector<named_value>& key,
                                            const std::vector<named_value>& tuning,
                                            const device_limits& limits) {
        return costs(from_values<Key>(key), from_values<Tuning>(tuning), limits);
      };
      costs_ = std::move(defined.costs);
    }
    if (defined.fallback) {
      parts.fallback = [named = std::move(defined.fallback)](const std::vector<named_value>& key,
                                                             const device& on) {
        return to_values(named(from_values<Key>(key), on));
      };
    }
    tuner_ = detail::make_ranged_tuner(std::move(parts));
  }

  /// Returns the portfolio for the ranges of this key on the context's device, with the context's
  /// options. In a test program made with libtune's test main it has only the test default, unless
  /// the test uses force_autotune. @throws as autotuner's call
  tune::portfolio<Tuning> portfolio(const context& context, const Key& key = {}) const {
    return make(context, key, detail::obtain_portfolio(*tuner_, context, to_values(key), nullptr));
  }
  /// Like the above, with other options.
  tune::portfolio<Tuning> portfolio(const context& context, const Key& key,
                                    const tuning_options& options) const {
    return make(context, key, detail::obtain_portfolio(*tuner_, context, to_values(key), &options));
  }

 private:
  tune::portfolio<Tuning> make(const context& context, const Key& key,
                               std::shared_ptr<const detail::portfolio_core> core) const {
    std::vector<Tuning> tunings;
    for (const auto& each : detail::configurations_of(*core)) {
      tunings.push_back(from_values<Tuning>(each));
    }
    std::vector<cost_function> costs;
    for (const Tuning& each : tunings) {
      if (costs_) costs.push_back(costs_(key, each, context.device().limits()));
    }
    auto facts = detail::facts_of(*core);
    return {std::move(core), std::move(facts), std::move(tunings), fits_, std::move(costs)};
  }

  std::shared_ptr<const detail::ranged_tuner> tuner_;
  fit_function fits_;
  cost_maker costs_;
};

}  // namespace tune
