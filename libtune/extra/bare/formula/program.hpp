// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/bare/formula/syntax.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail::formulas {

class program_builder;

/// A part of a formula over the candidates of numeric parameters, as a list of instructions. A
/// space asks millions of times, and mostly changes the last parameters only: the instructions are
/// in the order of the last parameter that they need, and only those behind the first change run
/// again.
///
/// Arithmetic is that of `evaluate`. A result without a value, such as a division by zero, and one
/// beyond 53 or 64 bits are only marked: `or`, `and` and `if` may still leave them out.
///
/// A value: a copy runs on its own. Used by one thread at a time.
class program {
 public:
  /// @param parameter_of  the parameter of each name of the formula
  /// @returns empty if the part needs `evaluate`: texts, lists, most functions, mixed candidates
  static std::optional<program> make(const formula& of, node_index from,
                                     std::span<const std::size_t> parameter_of,
                                     std::span<const parameter> parameters);

  /// The truth for a choice of candidates; empty if `evaluate` has to find it, or the reason why
  /// there is no value.
  std::optional<bool> holds(std::span<const std::size_t> choice);

 private:
  friend class program_builder;

  enum class code : std::uint8_t {
    to_real,
    add,
    subtract,
    multiply,
    quotient,
    remainder,
    divide,
    bit_and,
    bit_or,
    bit_xor,
    less,
    less_equal,
    equal,
    unequal,
    real_add,
    real_subtract,
    real_multiply,
    real_quotient,
    real_remainder,
    real_divide,
    real_less,
    real_less_equal,
    real_equal,
    real_unequal,
    negate,  // of a truth
    both,
    either,
    choose,  // the second or third by the first
  };

  struct word {
    union {
      std::int64_t whole;
      double real;
    };
    bool is_void;  // without a value
  };

  struct instruction {
    code what;
    std::uint16_t to;
    std::uint16_t a;
    std::uint16_t b;
    std::uint16_t c;
  };

  struct read {
    std::size_t parameter;
    std::vector<word> candidates;
    std::uint16_t to;
    std::size_t first;   // the instruction that needs it or a later one
    std::size_t chosen;  // in the last run
    std::size_t stride;  // in known_
  };

  /// The truths by the place of a combination in known_.
  enum class truth : std::uint8_t { unknown, no, yes };

  void run(const instruction& each);
  /// Runs the instructions from one to another.
  void run(std::size_t first, std::size_t last);

  std::vector<instruction> instructions_;
  std::vector<word> words_;
  std::vector<read> reads_;   // in the order of the parameters
  std::vector<truth> known_;  // of all combinations of the candidates; empty if they are many
  std::uint16_t result_ = 0;
};

}  // namespace tune::detail::formulas
