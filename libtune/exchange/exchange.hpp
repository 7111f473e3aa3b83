// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "libtune/store/maintenance/database_content.hpp"

namespace tune {

/// The contents of a database as one JSON document, for people and for other databases:
///
///   {"format": "libtune tuning results", "format_version": 1, "functions": [{
///      "name": ..., "version": ..., "key_fields": [{"name", "type", "optional"}], "value_fields",
///      "results":  [{"arguments": {...}, "values": {...}, "columns": {"device_name": ...}}],
///      "searches": [{"columns": {...}, "trials": [{"configuration": [[name, kind, value]],
///                                                  "columns": {...}}]}]}]}
///
/// from_exchange_text gives back the same contents. What JSON cannot say is an object or a word:
/// {"text": hex} for text that is no UTF-8, {"blob": hex}, {"real": "inf"}, and "nan", "inf",
/// "-inf" where a field is a floating number.
std::string to_exchange_text(const database_content& content);

/// What such a document holds. Only its form is checked here; whether a database takes it, when it
/// is merged. @throws argument_error that says what is wrong with the document
database_content from_exchange_text(std::string_view text);

}  // namespace tune
