// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_key.hpp"

#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/behind/tuned_behind.hpp"
#include "libtune/extra/live/live_correction.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {
namespace {

tuning_goal goal_of(const live_function& parts) {
  return resolve_goal(*tuning_options_of(parts.context), parts.function->goal());
}

function_identity identity_of(const live_function& parts) {
  function_identity identity = parts.function->identity();
  const tuning_goal goal = goal_of(parts);
  if (!goal.is_time()) identity.name = name_with_goal(identity.name, goal);
  return identity;
}

}  // namespace

live_key::live_key(live_function function)
    : parts_(std::move(function)),
      is_by_time_(goal_of(parts_).is_time()),
      identity_(identity_of(parts_)),
      key_{parts_.key, parts_.context.device().info().identity},
      subject_{.function = parts_.function->identity().name,
               .version = parts_.function->identity().version,
               .arguments = parts_.key,
               .device = parts_.context.device().info(),
               .test_default = parts_.function->test_default()} {}

void live_key::obtain() {
  graded_values found = obtain_graded(*parts_.function, parts_.context, parts_.key, nullptr);
  values = std::move(found.values);
  is_result = found.grade == lookup_grade::exact;
  current = parts_.make(values);
  const auto stored = find_stored();
  if (stored && stored->values == values && stored->score) score_ns = stored->score->count();
}

live_key::~live_key() {
  if (is_forked()) static_cast<void>(news.release());
}

std::optional<better_tuning> live_key::find_stored() const {
  return find_stored_result(parts_.context, identity_, key_);
}

bool live_key::may_try(const std::vector<named_value>& tuning) const {
  const std::string text = canonical_text(tuning);
  return text != canonical_text(values) && !beaten_.contains(text);
}

void live_key::note_loss(const std::vector<named_value>& tuning) {
  beaten_.insert(canonical_text(tuning));
}

void live_key::tune_again() const {
  try {
    const tuning_options options = *tuning_options_of(parts_.context);
    static_cast<void>(
        request_new_tuning_behind(*parts_.function, parts_.context, parts_.key, options));
  } catch (const std::exception& failure) {
    log(log_level::warning, fmt::format("{} is not tuned again, though its times have changed: {}",
                                        describe(subject_), failure.what()));
  }
}

}  // namespace tune::detail
