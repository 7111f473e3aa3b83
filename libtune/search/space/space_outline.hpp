// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"

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

/// Whether a number is one of another type, with nothing cut off. A floating number may be rounded
/// to a shorter type, which nobody writes otherwise, but does not become infinite.
template <class Member, class Given>
constexpr bool is_exact(const Given& given) noexcept {
  if constexpr (std::integral<Member> && std::floating_point<Given>) {
    // Powers of two, so exact whatever the types; NaN is in no range.
    constexpr auto end = static_cast<Given>(std::numeric_limits<Member>::max() / 2 + 1) * 2;
    constexpr auto begin = static_cast<Given>(std::numeric_limits<Member>::lowest());
    if constexpr (std::same_as<Member, bool>) return given == 0 || given == 1;
    return given >= begin && given < end && static_cast<Given>(static_cast<Member>(given)) == given;
  } else if constexpr (std::floating_point<Member> && std::floating_point<Given>) {
    constexpr auto most = std::numeric_limits<Member>::max();
    return !(given > most || given < -most) || given - given != 0;
  } else if constexpr (std::integral<Given> && std::integral<Member>) {
    const auto converted = static_cast<Member>(given);
    return static_cast<Given>(converted) == given && (converted < Member{}) == (given < Given{});
  } else if constexpr (std::integral<Given>) {
    return is_exact<Given>(static_cast<Member>(given)) &&
           static_cast<Given>(static_cast<Member>(given)) == given;
  }
  return true;
}

template <class T>
struct number_in {
  using type = T;
};
template <class T>
struct number_in<std::optional<T>> {
  using type = T;
};

/// A candidate as the member's type. @throws argument_error if a number does not fit: 256 in a
/// std::uint8_t, 1.5 in an int
template <class Member, class Given>
Member exact_candidate(const std::string& field, Given&& given) {
  using plain = std::remove_cvref_t<Given>;
  using number = typename number_in<Member>::type;
  if constexpr (std::is_arithmetic_v<number> && std::is_arithmetic_v<plain> &&
                !std::same_as<plain, bool>) {
    if (!is_exact<number>(static_cast<plain>(given))) {
      throw_inexact_candidate(field, value_traits<plain>::to_value(given));
    }
  }
  return static_cast<Member>(std::forward<Given>(given));
}

}  // namespace tune::detail
