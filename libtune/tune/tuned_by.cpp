// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuned_by.hpp"

#include <mutex>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

struct declaration_table {
  std::mutex mutex{};
  std::map<std::string, std::shared_ptr<const tuning_declaration>, std::less<>> declared{};
};

declaration_table& all_declarations() {
  static never_destroyed<declaration_table> table;
  return *table;
}

}  // namespace

void add_tuning_declaration(const std::type_info& type, tuning_declaration declared) {
  declaration_table& table = all_declarations();
  const std::lock_guard lock(table.mutex);
  table.declared.emplace(class_name(type),
                         std::make_shared<const tuning_declaration>(std::move(declared)));
}

std::shared_ptr<const tuning_declaration> find_tuning_declaration(const std::string& type) {
  declaration_table& table = all_declarations();
  const std::lock_guard lock(table.mutex);
  const auto found = table.declared.find(type);
  return found == table.declared.end() ? nullptr : found->second;
}

}  // namespace tune::detail
