// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/record_memory.hpp"

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

// With the fields, so that a changed key or tuning meets the database and its check again.
std::string text_of(const function_identity& function, const std::vector<named_value>& arguments) {
  std::string text = table_name(function) + '\n' + canonical_text(arguments) + '\n';
  for (const field_description& field : function.value_fields) {
    text += field.name;
    text += field.optional ? '?' : ' ';
    text += value_type_name(field.type);
    text += '\n';
  }
  return text;
}

std::string text_of(const std::string& scope, const device_identity& device) {
  return scope + '\n' + canonical_text(device);
}

}  // namespace

record_memory& record_memory::shared() {
  static detail::never_destroyed<record_memory> memory;
  return *memory;
}

std::optional<record> record_memory::find(const std::string& scope,
                                          const function_identity& function,
                                          const record_key& key) const {
  const std::string outer = text_of(function, key.arguments);
  const std::string inner = text_of(scope, key.device);
  const std::lock_guard lock(mutex_);
  const auto known = finds_.find(outer);
  if (known == finds_.end()) return std::nullopt;
  const auto found = known->second.find(inner);
  return found == known->second.end() ? std::nullopt : std::optional<record>(found->second);
}

std::uint64_t record_memory::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

void record_memory::remember(const std::string& scope, const function_identity& function,
                             const record_key& key, const record& found, std::uint64_t generation) {
  const std::string outer = text_of(function, key.arguments);
  const std::string inner = text_of(scope, key.device);
  const std::lock_guard lock(mutex_);
  if (generation != generation_) return;
  if (finds_.size() >= most_ && !finds_.contains(outer)) finds_.clear();
  finds_[outer].insert_or_assign(inner, found);
}

void record_memory::forget(const function_identity& function,
                           const std::vector<named_value>& arguments) {
  const std::string outer = text_of(function, arguments);
  const std::lock_guard lock(mutex_);
  finds_.erase(outer);
  ++generation_;
}

void record_memory::forget_all() {
  const std::lock_guard lock(mutex_);
  finds_.clear();
  ++generation_;
}

}  // namespace tune
