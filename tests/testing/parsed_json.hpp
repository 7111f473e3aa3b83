// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <clocale>
#include <nlohmann/json.hpp>
#include <string>

namespace tune::testing {

/// Reads JSON as another program would: the parser takes the decimal sign of the thread's locale,
/// which is the one of C during this call.
inline nlohmann::json parsed_json(const std::string& text) {
  const ::locale_t plain = ::newlocale(LC_NUMERIC_MASK, "C", nullptr);
  const ::locale_t before = ::uselocale(plain);
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  ::uselocale(before);
  ::freelocale(plain);
  return document;
}

}  // namespace tune::testing
