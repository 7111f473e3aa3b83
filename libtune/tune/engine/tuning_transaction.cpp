// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_transaction.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/engine/similar_results.hpp"
#include "libtune/tune/engine/tolerant.hpp"

namespace tune {
namespace {

search_start start_in(tuning_mode mode, search_start otherwise) {
  return mode == tuning_mode::force ? search_start::anew : otherwise;
}

}  // namespace

tuning_transaction::tuning_transaction(std::shared_ptr<const tuning_layers> layers,
                                       function_identity function, record_key key, tuning_mode mode,
                                       check_function check, std::chrono::milliseconds wait,
                                       search_start start)
    : layers_(std::move(layers)),
      function_(std::move(function)),
      key_(std::move(key)),
      mode_(mode),
      start_(start_in(mode, start)),
      check_(std::move(check)),
      wait_(wait),
      recorder_(std::make_shared<trial_recorder>(layers_->user(), function_, key_, start_)) {}

prior_knowledge tuning_transaction::read_prior(const search_identity& search) const {
  prior_knowledge known = recorder_->read_prior(search);
  if (start_ == search_start::continued) {
    known.similar = similar_results(*layers_, function_, key_);
  }
  return known;
}

std::vector<named_value> tuning_transaction::store(const tuned_values& made) {
  std::vector<named_value> best = made.values;
  // A result that is not stored is searched for once more, by whoever comes next.
  stored_ = warn_on_database_error(
      [&] { wait_while_busy(wait_, [&] { best = store_in_database(made); }); });
  if (stored_) {
    recorder_->result_stored();
  } else {
    layers_->remember(function_, key_, best);
  }
  return best;
}

std::vector<named_value> tuning_transaction::store_in_database(const tuned_values& made) const {
  std::optional<double> score_ns;
  if (made.score) score_ns = made.score->count();
  tuning_database& database = *layers_->user();
  if (mode_ != tuning_mode::force && mode_ != tuning_mode::resume) {
    record first = database.store_first(function_, key_, made.values, score_ns);
    if (!check_ || check_(first)) return std::move(first.values);
  }
  database.store(function_, key_, made.values, score_ns);
  return made.values;
}

std::string search_name(const function_identity& function, const record_key& key) {
  return fmt::format("{}\n{}\n{}", table_name(function), canonical_text(key.device),
                     canonical_text(key.arguments));
}

}  // namespace tune
