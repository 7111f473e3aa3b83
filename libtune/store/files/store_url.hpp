// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune {

/// True if a text names a shared store instead of a file.
bool is_store_url(const std::string& text);

/// @throws argument_error if a text names a shared store, but must be the path of a file
void require_file_path(const std::string& text);

/// Returns the URL for people: "postgresql://user@host:5432/database", without password and
/// options.
std::string shown_url(const std::string& url);

/// Returns a message with the password of a URL removed, as a precaution.
std::string without_password(std::string text, const std::string& url);

}  // namespace tune
