// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/extra/ranged/session_source.hpp"
#include "libtune/extra/ranged/stored_portfolio.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/session.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

using values = std::vector<named_value>;

std::vector<size_range> ranges_of(const std::vector<std::string>& names, const values& key) {
  std::vector<size_range> ranges;
  ranges.reserve(names.size());
  for (const std::string& name : names) {
    ranges.push_back(value_traits<size_range>::from_value(find_value(key, name.c_str())));
  }
  return ranges;
}

/// True if these sizes are possible in a range.
bool are_sizes(std::span<const std::uint64_t> sizes) {
  return std::ranges::all_of(
      sizes, [](std::uint64_t size) { return size > 0 && size <= size_range::most; });
}

/// Returns the requested sizes outside of the ranges that could not be measured.
std::vector<size_list> left_of(const portfolio_plan& plan,
                               const std::vector<proven_sizes>& proven) {
  std::vector<size_list> left;
  for (const asked_sizes& each : plan.asked) {
    const bool is_known =
        are_inside(plan.ranges, each.sizes) ||
        std::ranges::find(proven, each.sizes, &proven_sizes::sizes) != proven.end();
    if (!is_known) left.push_back(each.sizes);
  }
  return left;
}

/// Returns the sizes that programs have requested from this portfolio, for any goal.
std::vector<asked_sizes> asked_of(const ranged_parts& parts, const tuning_session& session,
                                  const values& key) {
  std::vector<asked_sizes> asked;
  if (current_test_mode() != test_mode::off) return asked;
  missed_keys::contents noted;
  try {
    noted = missed_keys(resolve_settings(session.options()).missed).read();
  } catch (const error& failure) {
    log(log_level::debug,
        std::string("the file of missed sizes cannot be read: ") + failure.what());
  }
  const auto& device = session.context().device().info().identity;
  for (const missed_key& each : noted.keys) {
    const bool is_own = own_name(each.function.name) == parts.base.name &&
                        each.function.version == parts.base.version && each.key.device == device &&
                        each.key.arguments == key;
    if (!is_own) continue;
    for (const asked_count& one : each.asked) {
      const bool is_one = one.sizes.size() == parts.ranges.size() && are_sizes(one.sizes);
      if (is_one) asked.push_back({one.sizes, one.count});
    }
  }
  return asked;
}

}  // namespace

class ranged_tuner {
 public:
  explicit ranged_tuner(ranged_parts parts)
      : parts_(std::make_shared<ranged_parts>(std::move(parts))) {
    const std::size_t count = parts_->ranges.size();
    if (count == 0 || count > most_ranges) {
      throw argument_error(
          fmt::format("the key of '{}' has {} members of type tune::size_range; it takes "
                      "1 to {} of them, or an autotuner for exact keys",
                      parts_->base.name, count, most_ranges));
    }
    autotuner_parts own{.name = parts_->base.name,
                        .version = parts_->base.version,
                        .key_fields = parts_->base.key_fields,
                        .tuning_fields = {{portfolio_column, value_type::string}},
                        .test_default = of_tests().result(),
                        .tunes = {},
                        .check = {},
                        .goal = parts_->base.goal};
    own.tunes = [parts = parts_](tuning_session& session, const values& key) {
      return build(*parts, session, key);
    };
    own.check = [parts = parts_](const values& result) {
      const auto stored = stored_portfolio::of_result(result, parts->base.tuning_fields);
      for (const values& each : stored.configurations) parts->base.check(each);
    };
    core_ = make_autotuner(own);
  }

  std::shared_ptr<const portfolio_core> obtain(const context& context, const values& key,
                                               const tuning_options* options) const {
    const std::vector<size_range> ranges = ranges_of(parts_->ranges, key);
    const values result = obtain_tuning(*core_, context, key, options);
    stored_portfolio stored = stored_portfolio::of_result(result, parts_->base.tuning_fields);
    if (stored.ranges.size() != ranges.size()) stored.ranges = ranges;
    const tuning_settings settings =
        resolve_settings(options != nullptr ? *options : *tuning_options_of(context));
    if (current_test_mode() != test_mode::off) {
      return std::make_shared<const portfolio_core>(std::move(stored), parts_->features, nullptr);
    }
    function_identity identity = core_->identity();
    identity.name = name_with_goal(identity.name, resolve_goal(settings.search, parts_->base.goal));
    const auto remember = [parts = parts_, key, missed = settings.missed,
                           device = context.device().info().identity, identity](
                              const portfolio_core& core, const std::vector<asked_sizes>& asked) {
      std::vector<asked_count> noted;
      for (const asked_sizes& each : asked) {
        if (each.sizes.size() != parts->ranges.size() || !are_sizes(each.sizes)) continue;
        noted.push_back({each.sizes, each.count});
        if (are_inside(core.stored().ranges, each.sizes) || core.is_proven(each.sizes)) continue;
        warn_once(fmt::format(
            "'{}' was asked for {}, which is in no range of its portfolio, {}, and gets {}; the "
            "next tuning takes it into account ('tunedb pretune --missed')",
            parts->base.name, describe_sizes(parts->ranges, each.sizes), to_string(key),
            parts->fits       ? "the tuning that fits it"
            : parts->fallback ? "the one that works everywhere"
                              : "the test default"));
      }
      missed_keys(missed).remember(identity, {key, device}, noted);
    };
    return std::make_shared<const portfolio_core>(std::move(stored), parts_->features, remember);
  }

 private:
  stored_portfolio of_tests() const {
    return {.configurations = {parts_->base.test_default}, .expected_loss = 0, .worst_loss = 0};
  }

  /// Returns the tuning for all sizes: the one that the author gives for the device, unless it
  /// fails its check at the least sizes.
  static values fallback_of(const ranged_parts& parts, const device& device, const values& key,
                            std::span<const size_range> ranges, session_source& source) {
    if (!parts.fallback) return parts.base.test_default;
    values named = parts.fallback(key, device);
    if (named == parts.base.test_default) return named;
    size_list least;
    for (const size_range& range : ranges) least.push_back(range.low());
    const std::string fault = source.fault_of(named, least);
    if (fault.empty()) return named;
    log(log_level::warning,
        fmt::format("'{}': the tuning that is to work at all sizes on device '{}', {}, fails at "
                    "{}: {}; the test default is used instead",
                    parts.base.name, device.name(), to_string(named),
                    describe_sizes(parts.ranges, least), fault));
    return parts.base.test_default;
  }

  static values build(const ranged_parts& parts, tuning_session& session, const values& key) {
    portfolio_plan plan{.ranges = ranges_of(parts.ranges, key), .features = parts.features};
    if (parts.costs) {
      plan.costs = [&parts, &key, limits = session.context().device().limits()](
                       const values& tuning) { return parts.costs(key, tuning, limits); };
    }
    plan.asked = asked_of(parts, session, key);
    plan.limits = parts.limits;
    plan.limits.configurations = std::max<std::size_t>(parts.limits.configurations, 2);
    const bool is_one_size = std::ranges::all_of(
        plan.ranges, [](const size_range& each) { return each.low() == each.high(); });
    if (is_one_size) plan.most_compared = 0;  // the best of a search are enough
    session_source source(session, parts, key);
    const values fallback =
        fallback_of(parts, session.context().device(), key, plan.ranges, source);
    const built_portfolio built = build_portfolio(plan, fallback, source);
    // A portfolio that works nowhere must not be stored for others.
    if (built.sizes == 0) source.rethrow_failure();
    const stored_portfolio stored{.ranges = plan.ranges,
                                  .configurations = built.configurations,
                                  .tree = built.tree,
                                  .factors = built.factors,
                                  .corrections = built.corrections,
                                  .orders = built.orders,
                                  .proven = built.proven,
                                  .left = left_of(plan, built.proven),
                                  .expected_loss = built.expected_loss,
                                  .worst_loss = built.worst_loss,
                                  .sizes = built.sizes,
                                  .compared = built.compared,
                                  .unchecked = built.unchecked};
    log(log_level::info,
        fmt::format(
            "'{}' has a portfolio of {} tunings for {}: {}; {} configurations were compared "
            "at {} sizes, in {}",
            parts.base.name, stored.configurations.size(), to_string(key),
            describe_losses(stored.expected_loss, stored.worst_loss), stored.compared, stored.sizes,
            source.effort()));
    if (const std::string failures = source.failures(); !failures.empty()) {
      log(log_level::info, fmt::format("'{}': {}", parts.base.name, failures));
    }
    if (stored.unchecked > 0) {
      log(log_level::warning,
          fmt::format(
              "'{}': {} choices of {} are not checked, because the time ended or no size was "
              "found for them; they are taken to work at all sizes of the ranges",
              parts.base.name, stored.unchecked,
              stored.factors.empty() ? stored.tree.leaves() : stored.configurations.size()));
    }
    return stored.result();
  }

  std::shared_ptr<const ranged_parts> parts_;
  std::shared_ptr<const autotuner_core> core_;
};

std::shared_ptr<const ranged_tuner> make_ranged_tuner(ranged_parts parts) {
  return std::make_shared<const ranged_tuner>(std::move(parts));
}

std::shared_ptr<const portfolio_core> obtain_portfolio(const ranged_tuner& tuner,
                                                       const context& context,
                                                       const std::vector<named_value>& key,
                                                       const tuning_options* options) {
  return tuner.obtain(context, key, options);
}

portfolio_facts facts_of(const portfolio_core& core) {
  const stored_portfolio& stored = core.stored();
  return {.ranges = stored.ranges,
          .expected_loss = stored.expected_loss,
          .worst_loss = stored.worst_loss,
          .sizes = stored.sizes,
          .compared = stored.compared,
          .leaves = stored.factors.empty() ? stored.tree.leaves() : 0,
          .unchecked = stored.unchecked};
}

std::vector<std::vector<named_value>> configurations_of(const portfolio_core& core) {
  return core.stored().configurations;
}

}  // namespace tune::detail
