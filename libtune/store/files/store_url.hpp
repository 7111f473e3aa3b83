// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune {

/// True if a text names a shared store, rather than a file.
bool is_store_url(const std::string& text);

/// @throws argument_error if a text names a shared store, where the path of a file is wanted
void require_file_path(const std::string& text);

/// The URL for people: "postgresql://user@host:5432/database". Neither passwords nor options.
std::string shown_url(const std::string& url);

/// Returns a message without the password of a URL. No message should have it; this makes sure.
std::string without_password(std::string text, const std::string& url);

}  // namespace tune
