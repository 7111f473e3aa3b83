// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/by_name.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "operations/by_name/makers/makers.hpp"
#include "operations/by_name/operation_maker.hpp"

namespace tune::operations {
namespace {

using maker_list = std::vector<std::shared_ptr<const operation_maker>>;

/// The table of makers, in the order of registration.
struct maker_table {
  maker_table() {
    for (auto* const each : {makers::fill, makers::transpose, makers::hreduce, makers::maskedsum,
                             makers::percentile5, makers::fft, makers::gemm}) {
      all.push_back(std::make_shared<const operation_maker>(each()));
    }
  }

  std::mutex mutex{};  // guards the other member
  maker_list all{};
};

maker_table& the_table() {
  static detail::never_destroyed<maker_table> table;
  return *table;
}

/// All makers at this time.
maker_list registered() {
  maker_table& table = the_table();
  const std::lock_guard lock(table.mutex);
  return table.all;
}

}  // namespace

std::string_view parameter_stage_name(parameter_stage stage) noexcept {
  constexpr std::array<std::string_view, 3> names{"key", "size", "setting"};
  return names[static_cast<std::size_t>(stage)];
}

void register_operation(operation_maker added) {
  maker_table& table = the_table();
  const std::lock_guard lock(table.mutex);
  for (const auto& each : table.all) {
    if (each->name() != added.name()) continue;
    throw argument_error(
        fmt::format("an operation '{}' is registered already; choose another name", each->name()));
  }
  table.all.push_back(std::make_shared<const operation_maker>(std::move(added)));
}

std::vector<parameter_description> describe_parameters() {
  std::vector<parameter_description> all;
  for (const auto& each : registered()) {
    all.insert(all.end(), each->parameters().begin(), each->parameters().end());
  }
  return all;
}

std::shared_ptr<const template_by_name> make_template(const context& context,
                                                      std::string_view operation,
                                                      const configuration& key) {
  std::vector<std::string> names;
  for (const auto& each : registered()) {
    if (each->name() == operation) return each->make(context, key);
    names.push_back(each->name());
  }
  throw argument_error(fmt::format("no operation '{}' can be made by name; the names are {}",
                                   operation, fmt::join(names, ", ")));
}

}  // namespace tune::operations
