// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_stream.hpp"

namespace tune {

/// The contents of a database as one JSON document, for people and for other databases:
///
///   {"format": "libtune tuning results", "format_version": 1, "functions": [{
///      "name": ..., "version": ..., "key_fields": [{"name", "type", "optional"}], "value_fields",
///      "results":  [{"arguments": {...}, "values": {...}, "columns": {"device_name": ...}}],
///      "searches": [{"columns": {...}, "trials": [{"configuration": [[name, kind, value]],
///                                                  "columns": {...}}]}]}]}
///
/// from_json_document returns the same contents. Values that JSON lacks are objects or words:
/// {"text": hex} for text that is not UTF-8, {"blob": hex}, {"real": "inf"}, and "nan", "inf",
/// "-inf" if a field is a floating-point number.
std::string to_json_document(const database_content& content);

/// Writes the same document of some functions of a database, part by part: memory for one search is
/// enough.
void write_json_document(database_reader& from, std::span<const function_identity> functions,
                         const detail::text_sink& to);

/// Reads the contents of a document. Only its form is checked; a merge checks the contents.
/// @throws argument_error that names the fault of the document
database_content from_json_document(std::string_view text);

}  // namespace tune
