// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/search_space.hpp"

namespace tune::detail {

/// The part of space<Tuning> that does not depend on the struct: parameters and restrictions by
/// the names of the members.
class space_outline {
 public:
  void add_parameter(parameter added);
  /// An empty description becomes "restriction 1", and so on. Without reads, the restriction is
  /// taken to read every parameter.
  void add_restriction(std::string description, std::vector<std::string> reads);

  /// Members that are no parameters are taken to be fixed, and may be among what is read.
  /// @throws argument_error as search_space does
  search_space make_space(combination_factory make_combination) const;

  /// Whether the fields that are no parameters are equal. Both list the fields in one order.
  bool has_defaults(std::span<const named_value> values,
                    std::span<const named_value> defaults) const;

 private:
  struct named_restriction {
    std::string description;
    std::vector<std::string> reads;
  };

  std::vector<parameter> parameters_;
  std::vector<named_restriction> restrictions_;
};

[[noreturn]] void throw_inexact_candidate(const std::string& field, const value& given);

/// A candidate as the member's type. @throws argument_error if an integer does not fit
template <class Member, class Given>
Member exact_candidate(const std::string& field, Given&& given) {
  using plain = std::remove_cvref_t<Given>;
  auto converted = static_cast<Member>(std::forward<Given>(given));
  if constexpr (std::integral<Member> && std::integral<plain> && !std::same_as<plain, bool>) {
    if (static_cast<plain>(converted) != given || (converted < Member{}) != (given < plain{})) {
      throw_inexact_candidate(field, value_traits<plain>::to_value(given));
    }
  }
  return converted;
}

}  // namespace tune::detail
