// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/joined_searches.hpp"

#include <variant>

namespace tune::detail {

prior_knowledge joined_searches::read_prior(const search_identity& search) {
  const std::size_t place = asked_++;
  if (place < searches_.size() && searches_[place]->identity() != search) searches_.resize(place);
  const auto now = std::chrono::steady_clock::now();
  if (place == searches_.size()) {
    searches_.push_back(std::make_unique<search_memory>(
        search, read_prior_ ? read_prior_(search) : prior_knowledge{}, now));
  }
  return searches_[place]->read_prior(now);
}

void joined_searches::on(const tuning_event& event) {
  // An author's function may pass its observers to nested tunings.
  const bool is_own = std::visit(
      [&](const auto& item) {
        return item.subject.function == subject_.function &&
               item.subject.version == subject_.version &&
               item.subject.arguments == subject_.arguments;
      },
      event);
  const bool is_of_search =
      !std::holds_alternative<lookup_event>(event) && !std::holds_alternative<waiting_event>(event);
  if (!is_own || !is_of_search || asked_ == 0) return notify(observers_, event);
  const auto joined = searches_[asked_ - 1]->join(event, std::chrono::steady_clock::now());
  if (!joined) return;
  const auto* made = std::get_if<trial_event>(&*joined);
  if (made != nullptr && made->stage == trial_stage::finished) ++made_;
  notify(observers_, *joined);
}

}  // namespace tune::detail
