// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/patient_wait.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "libtune/store/files/key_lock.hpp"
#include "libtune/store/files/lock_holder.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"

namespace tune {

patient_wait::patient_wait(const std::string& name, const tuning_subject& subject,
                           const tuning_options& options, std::chrono::milliseconds limit)
    : name_(name), report_(wait_cause::search, subject, options.observers, limit) {}

void patient_wait::look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder,
                        const std::string& folder) {
  report_.look_for(wait_cause::search, waited, holder);
  if (!mark_) {
    std::vector<std::uint64_t> had;
    for (const std::string& scope : detail::scopes()) had.push_back(key_lock::hash(scope));
    if (had.empty()) return;
    mark_.emplace(folder, std::move(had), key_lock::hash(name_));
  }
  if (mark_->has_to_give_way()) throw goes_on_without{};
}

void patient_wait::look_for_database(std::chrono::nanoseconds waited, const std::string& path) {
  report_.look_for(wait_cause::database, waited, find_lock_holder(path));
}

void patient_wait::end() {
  mark_.reset();
  report_.end();
}

}  // namespace tune
