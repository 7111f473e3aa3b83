// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_kernel.hpp"

#include <charconv>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune::testing {
namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

}  // namespace

fake_macros::fake_macros(std::string_view program_text) {
  constexpr std::string_view directive = "#define ";
  while (!program_text.empty()) {
    const std::size_t end = program_text.find('\n');
    std::string_view line = trimmed(program_text.substr(0, end));
    program_text.remove_prefix(end == std::string_view::npos ? program_text.size() : end + 1);
    if (!line.starts_with(directive)) continue;
    line = trimmed(line.substr(directive.size()));
    std::size_t length = 0;
    while (length < line.size() && detail::is_word(line[length])) ++length;
    if (length < line.size() && line[length] == '(') continue;
    macros_.insert_or_assign(std::string(line.substr(0, length)),
                             std::string(trimmed(line.substr(length))));
  }
}

const std::string& fake_macros::text(std::string_view name) const {
  const auto found = macros_.find(name);
  if (found != macros_.end()) return found->second;
  throw argument_error(fmt::format(
      "the fake kernel's program defines no macro {}; compile it with tune::defines that have it",
      name));
}

std::int64_t fake_macros::integer(std::string_view name) const {
  std::string_view digits = text(name);
  // Negative numbers are defined in brackets, for use after a minus sign.
  if (digits.starts_with('(') && digits.ends_with(')')) {
    digits = digits.substr(1, digits.size() - 2);
  }
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, failure] = std::from_chars(digits.data(), end, number);
  if (failure == std::errc{} && stopped == end && !digits.empty()) return number;
  throw argument_error(fmt::format("the macro {} is '{}', not an integer", name, text(name)));
}

const fake_argument& fake_launch::at(std::size_t index) const {
  if (index < arguments_.size()) return arguments_[index];
  throw argument_error(fmt::format("fake kernel '{}' asks for argument {} but has {} of them",
                                   kernel_, index, arguments_.size()));
}

const std::byte* fake_launch::scalar_bytes(std::size_t index, std::size_t size) const {
  const fake_argument& value = at(index);
  if (value.bytes.size() == size) return value.bytes.data();
  const std::string given =
      value.memory != nullptr ? "a buffer" : fmt::format("{} bytes", value.bytes.size());
  throw argument_error(
      fmt::format("argument {} of fake kernel '{}' was set to {}, but is read as "
                  "{} bytes",
                  index, kernel_, given, size));
}

std::span<std::byte> fake_launch::buffer_bytes(std::size_t index) const {
  const fake_argument& value = at(index);
  if (value.memory != nullptr) return value.memory->contents();
  throw argument_error(
      fmt::format("argument {} of fake kernel '{}' is not a buffer", index, kernel_));
}

}  // namespace tune::testing
