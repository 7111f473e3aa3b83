// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/program.hpp"

#include <algorithm>

#include "libtune/extra/bare/formula/arithmetic.hpp"

namespace tune::detail::formulas {

std::optional<bool> program::holds(std::span<const std::size_t> choice) {
  std::size_t place = 0;
  if (!known_.empty()) {
    for (const read& each : reads_) place += choice[each.parameter] * each.stride;
    if (known_[place] != truth::unknown) return known_[place] == truth::yes;
  }
  std::size_t first = instructions_.size();
  for (read& each : reads_) {
    const std::size_t now = choice[each.parameter];
    if (now == each.chosen) continue;
    each.chosen = now;
    words_[each.to] = each.candidates[now];
    first = std::min(first, each.first);
  }
  run(first, instructions_.size());
  const word& result = words_[result_];
  if (result.is_void) return std::nullopt;
  if (!known_.empty()) known_[place] = result.whole != 0 ? truth::yes : truth::no;
  return result.whole != 0;
}

// One case for each instruction.
[[gnu::always_inline]] inline void program::run(const instruction& each) {
  const word a = words_[each.a];
  const word b = words_[each.b];
  word& to = words_[each.to];
  to.is_void = a.is_void || b.is_void;
  switch (each.what) {
    case code::add: to.is_void |= __builtin_add_overflow(a.whole, b.whole, &to.whole); return;
    case code::subtract: to.is_void |= __builtin_sub_overflow(a.whole, b.whole, &to.whole); return;
    case code::multiply: to.is_void |= __builtin_mul_overflow(a.whole, b.whole, &to.whole); return;
    case code::quotient:
    case code::remainder:
      to.whole = 0;
      to.is_void |= b.whole == 0 || b.whole == -1;
      if (to.is_void) return;
      to.whole = each.what == code::quotient ? floor_quotient(a.whole, b.whole)
                                             : floor_remainder(a.whole, b.whole);
      return;
    case code::divide:
      to.is_void |= b.whole == 0;
      to.real = to.is_void ? 0 : true_quotient(a.whole, b.whole);
      return;
    case code::bit_and: to.whole = a.whole & b.whole; return;
    case code::bit_or: to.whole = a.whole | b.whole; return;
    case code::bit_xor: to.whole = a.whole ^ b.whole; return;
    case code::less: to.whole = a.whole < b.whole ? 1 : 0; return;
    case code::less_equal: to.whole = a.whole <= b.whole ? 1 : 0; return;
    case code::equal: to.whole = a.whole == b.whole ? 1 : 0; return;
    case code::unequal: to.whole = a.whole != b.whole ? 1 : 0; return;
    case code::to_real: {
      constexpr std::int64_t exact = std::int64_t{1} << 53;
      to.is_void |= a.whole > exact || a.whole < -exact;
      to.real = static_cast<double>(a.whole);
      return;
    }
    case code::real_add: to.real = a.real + b.real; return;
    case code::real_subtract: to.real = a.real - b.real; return;
    case code::real_multiply: to.real = a.real * b.real; return;
    case code::real_divide:
    case code::real_quotient:
    case code::real_remainder:
      to.is_void |= b.real == 0;
      if (to.is_void) return;
      to.real = each.what == code::real_divide     ? a.real / b.real
                : each.what == code::real_quotient ? floor_quotient(a.real, b.real)
                                                   : floor_remainder(a.real, b.real);
      return;
    case code::real_less: to.whole = a.real < b.real ? 1 : 0; return;
    case code::real_less_equal: to.whole = a.real <= b.real ? 1 : 0; return;
    case code::real_equal: to.whole = a.real == b.real ? 1 : 0; return;
    case code::real_unequal: to.whole = a.real != b.real ? 1 : 0; return;
    case code::negate: to.whole = a.whole == 0 ? 1 : 0; return;
    case code::both: to = a.is_void || a.whole == 0 ? a : b; return;
    case code::either: to = a.is_void || a.whole != 0 ? a : b; return;
    case code::choose: to = a.is_void ? a : a.whole != 0 ? b : words_[each.c]; return;
  }
}

void program::run(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) run(instructions_[i]);
}

}  // namespace tune::detail::formulas
