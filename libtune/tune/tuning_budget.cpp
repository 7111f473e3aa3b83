// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuning_budget.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <system_error>
#include <utility>

#include "libtune/base/word_table.hpp"

namespace tune {
namespace {

struct unit {
  std::string_view name;
  double nanoseconds;
};

constexpr std::array units{unit{"ns", 1},  unit{"us", 1e3},   unit{"ms", 1e6},
                           unit{"s", 1e9}, unit{"min", 60e9}, unit{"h", 3600e9}};

// Above it a count of nanoseconds does not fit in 64 bits.
constexpr double longest = 250.0 * 365 * 24 * 3600e9;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Parses a positive number at the start of the text, and removes it.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || !(number > Number{0})) return std::nullopt;
  text = trimmed(text.substr(static_cast<std::size_t>(stop - text.data())));
  return number;
}

std::optional<double> duration_ns(std::string_view text) {
  const auto number = take_number<double>(text);
  if (!number) return std::nullopt;
  for (const unit& known : units) {
    if (known.name != text) continue;
    const double nanoseconds = *number * known.nanoseconds;
    return nanoseconds <= longest ? std::optional(nanoseconds) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> count_of_trials(std::string_view text) {
  const auto number = take_number<std::size_t>(text);
  return text == "trials" || text == "trial" ? number : std::nullopt;
}

// Returns true if the text is a limit of a kind that the budget does not have yet.
bool add_limit(tuning_budget& budget, std::string_view text) {
  constexpr std::string_view target = "target ";
  if (text.starts_with(target)) {
    const auto ns = duration_ns(trimmed(text.substr(target.size())));
    return ns && !std::exchange(budget.target, run_time(ns.value_or(0)));
  }
  constexpr std::string_view within = "within ";
  if (text.starts_with(within)) {
    std::string_view rest = trimmed(text.substr(within.size()));
    const auto percent = take_number<double>(rest);
    if (!percent || rest != "%" || !(*percent <= 1000)) return false;
    return !std::exchange(budget.within, *percent / 100);
  }
  if (const auto trials = count_of_trials(text)) return !std::exchange(budget.trials, trials);
  const auto ns = duration_ns(text);
  if (!ns) return false;
  const std::chrono::nanoseconds time(std::llround(std::ceil(*ns)));
  return !std::exchange(budget.time, time);
}

std::string duration_text(double nanoseconds) {
  const unit* largest = &units.front();
  for (const unit& known : units) {
    if (nanoseconds >= known.nanoseconds) largest = &known;
  }
  return fmt::format("{:g} {}", nanoseconds / largest->nanoseconds, largest->name);
}

}  // namespace

std::optional<tuning_budget> budget_from_text(std::string_view text) {
  tuning_budget budget;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    if (!add_limit(budget, trimmed(text.substr(0, comma)))) return std::nullopt;
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return budget;
}

std::string to_string(const tuning_budget& budget) {
  std::string text;
  const auto add = [&](const std::string& limit) { text += (text.empty() ? "" : ", ") + limit; };
  if (budget.time) add(duration_text(static_cast<double>(budget.time->count())));
  if (budget.trials) add(fmt::format("{} trials", *budget.trials));
  if (budget.target) add("target " + duration_text(budget.target->count()));
  if (budget.within) add(fmt::format("within {:g} %", 100 * *budget.within));
  return text;
}

namespace {

struct byte_unit {
  std::string_view name;
  double bytes;
};

constexpr std::array byte_units{byte_unit{"B", 1},        byte_unit{"kB", 1e3},
                                byte_unit{"MB", 1e6},     byte_unit{"GB", 1e9},
                                byte_unit{"KiB", 0x1p10}, byte_unit{"MiB", 0x1p20},
                                byte_unit{"GiB", 0x1p30}};

}  // namespace

std::optional<memory_budget> memory_budget_from_text(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number<double>(text);
  if (!number) return std::nullopt;
  if (text == "%") {
    return *number <= 100 ? std::optional(memory_budget{.share = *number / 100}) : std::nullopt;
  }
  constexpr double most = 0x1p60;
  for (const byte_unit& known : byte_units) {
    const double bytes = *number * known.bytes;
    if (known.name == text && bytes >= 1 && bytes <= most) {
      return memory_budget{.bytes = static_cast<std::size_t>(bytes)};
    }
  }
  return std::nullopt;
}

std::string to_string(const memory_budget& budget) {
  if (budget.bytes == 0) return fmt::format("{:g} %", 100 * budget.share);
  const byte_unit* largest = &byte_units.front();
  for (const byte_unit& known : byte_units) {
    const auto whole = static_cast<std::size_t>(known.bytes);
    if (budget.bytes % whole == 0) largest = &known;
  }
  return fmt::format("{:g} {}", static_cast<double>(budget.bytes) / largest->bytes, largest->name);
}

std::string_view search_end_name(search_end end) noexcept {
  constexpr detail::word_table<search_end, 5> words{
      {"complete", "time", "trials", "target", "no more gain expected"}};
  return words.word(end);
}

}  // namespace tune
