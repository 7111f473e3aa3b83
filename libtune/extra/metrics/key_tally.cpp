// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/key_tally.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

constexpr std::array origin_words{"exact",    "nearest",      "locked",
                                  "searched", "test_default", "failed"};
constexpr std::array change_words{"trying", "kept", "taken_back", "refused", "drifted"};

template <class Enum>
constexpr std::size_t index_of(Enum item) noexcept {
  return static_cast<std::size_t>(item);
}

}  // namespace

key_tally& key_tally::shared() {
  static never_destroyed<key_tally> tally;
  return *tally;
}

// Called under the lock. Null if too many keys are kept already.
key_tally::key* key_tally::find(const tuning_subject& subject) {
  key made{.function = subject.function,
           .version = subject.version,
           .device = subject.device.identity.name,
           .platform = subject.device.identity.platform,
           .arguments = to_string(subject.arguments)};
  const std::string name = fmt::format("{}\n{}\n{}\n{}\n{}", made.function, made.version,
                                       made.device, made.platform, made.arguments);
  auto known = keys_.find(name);
  if (known == keys_.end()) {
    if (keys_.size() >= most_keys) {
      ++left_out_;
      return nullptr;
    }
    known = keys_.emplace(name, std::move(made)).first;
  }
  ++known->second.events;
  return &known->second;
}

void key_tally::note(const tuning_subject& subject, tuning_origin origin) {
  const std::lock_guard lock(mutex_);
  ++answers_[subject.function][index_of(origin)];
  key* const to = find(subject);
  if (to != nullptr && origin != tuning_origin::failed) to->origin = origin;
}

void key_tally::note(const live_event& event) {
  const std::lock_guard lock(mutex_);
  key* const to = find(event.subject);
  if (to == nullptr) return;
  ++to->changes[index_of(event.change)];
  // A candidate comes from a search for this very key.
  if (event.change == live_change::kept) to->origin = tuning_origin::searched;
}

void key_tally::write(metric_page& to, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [function, counts] : answers_) {
    for (std::size_t i = 0; i < origins; ++i) {
      to.counter("libtune_answers_total",
                 "Calls of autotuners by the application, by the origin of the tuning.",
                 {{"function", function}, {"origin", origin_words[i]}},
                 static_cast<double>(counts[i]));
    }
  }
  std::array<std::size_t, origins> grades{};
  for (const auto& [name, each] : keys_) ++grades[index_of(each.origin)];
  for (std::size_t i = 0; i < origins; ++i) {
    to.gauge("libtune_keys", "Keys by the grade of their tuning in service.",
             {{"grade", origin_words[i]}}, static_cast<double>(grades[i]));
  }
  write_keys(to, most);
  to.counter("libtune_keys_left_out_total",
             "Answers and live changes of keys beyond the most that are kept.", {},
             static_cast<double>(left_out_));
}

void key_tally::write_keys(metric_page& to, std::size_t most) const {
  std::vector<const key*> shown;
  for (const auto& [name, each] : keys_) shown.push_back(&each);
  std::ranges::stable_sort(shown, std::ranges::greater{}, &key::events);
  shown.resize(std::min(shown.size(), most));
  for (const key* const each : shown) {
    const std::string version = std::to_string(each->version);
    to.gauge("libtune_key_info", "A key with the grade of its tuning in service.",
             {{"function", each->function},
              {"version", version},
              {"device", each->device},
              {"platform", each->platform},
              {"key", each->arguments},
              {"grade", origin_words[index_of(each->origin)]}},
             1);
    if (std::ranges::all_of(each->changes, [](auto count) { return count == 0; })) continue;
    for (std::size_t i = 0; i < change_kinds; ++i) {
      to.counter(
          "libtune_live_changes_total",
          "Changes of live pipelines: candidates tried, kept, taken back and refused; drifts.",
          {{"function", each->function},
           {"version", version},
           {"device", each->device},
           {"platform", each->platform},
           {"key", each->arguments},
           {"change", change_words[i]}},
          static_cast<double>(each->changes[i]));
    }
  }
}

}  // namespace tune::detail
