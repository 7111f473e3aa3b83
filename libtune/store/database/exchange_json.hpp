// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions, fields and values in JSON so that they come back exactly, for the documents that
// exchange.hpp describes and the lines of missed_keys.hpp. Not a public header.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune::detail {

using json = nlohmann::ordered_json;
// Ordered objects copy all that is in them while they grow, which takes a deep stack.
using input = nlohmann::json;

/// @throws argument_error that says what is wrong with a document, as all that follow do
[[noreturn]] void refuse_document(const std::string& reason);

/// Whether bytes are UTF-8 as JSON demands it: no overlong forms, no surrogates.
bool is_utf8(const std::string& text);
/// The bytes that to_hex wrote as digits; nothing if they are anything else.
std::optional<std::string> from_hex(std::string_view digits);

/// The text, or {"text": hex} where it is no UTF-8.
json text_to_json(const std::string& text);
/// The number, or "nan", "inf" or "-inf".
json real_to_json(double d);
json exact_json(const value& v);
json exact_json(const std::vector<named_value>& values);
json exact_json(const std::vector<field_description>& fields);
/// {"name", "version", "key_fields", "value_fields"}
json exact_json(const function_identity& function);
/// The whole identity, by the names of its columns.
json exact_json(const device_identity& device);

const input& member(const input& object, const char* name);
const input& array_member(const input& object, const char* name);
std::string bytes_from_hex(const input& digits);
std::string text_from_json(const input& item);
std::optional<double> word_for_real(const input& item);
std::int64_t signed_from_json(const input& item);
/// @param alternative  what it was, by alternative_name
value value_from_json(const input& item, std::string_view alternative);
/// The member of this name as values of all these fields and no others.
std::vector<named_value> values_from_json(const input& object, const char* name,
                                          const std::vector<field_description>& fields);
/// A function from an object that may have other members.
function_identity function_from_json(const input& object);
device_identity device_from_json(const input& object);

}  // namespace tune::detail
