// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/store_url.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr std::array<std::string_view, 2> schemes{"postgresql://", "postgres://"};

/// True for host names with numeric ports, as they stand between user and path in a URL.
bool is_host_list(std::string_view text) {
  bool in_port = false;
  bool in_brackets = false;
  return std::ranges::all_of(text, [&](char c) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '[' || c == ']') in_brackets = c == '[';
    if (c == ',') in_port = false;
    if (c == ':' && !in_brackets) return !std::exchange(in_port, true);
    if (in_port) return is_digit;
    return is_digit || is_letter || std::string_view(".-_:,[]%").find(c) != std::string_view::npos;
  });
}

bool is_plain_name(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return std::string_view(":@?#&=/ ").find(c) != std::string_view::npos; });
}

}  // namespace

bool is_store_url(const std::string& text) {
  return std::ranges::any_of(schemes, [&](auto scheme) { return text.starts_with(scheme); });
}

void require_file_path(const std::string& text) {
  if (!is_store_url(text)) return;
  throw argument_error("'" + shown_url(text) +
                       "' is a server, and a tuning database is a file; name a server with "
                       "LIBTUNE_SHARED_DB or tuning_options::shared_store");
}

// Leaves out everything that may be a password.
std::string shown_url(const std::string& url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string::npos || !is_store_url(url)) return "(a URL that cannot be read)";
  const std::string scheme = url.substr(0, begin + 3);
  const std::string_view all = std::string_view(url).substr(begin + 3);
  const std::string_view whole = all.substr(0, all.find('?'));
  if (all.size() > whole.size() && all.find('@', whole.size()) != std::string_view::npos &&
      whole.find('@') == std::string_view::npos) {
    return scheme + "...";
  }
  const std::size_t at = whole.rfind('@');
  std::string_view user = at == std::string_view::npos ? "" : whole.substr(0, at);
  const std::string_view place = at == std::string_view::npos ? whole : whole.substr(at + 1);
  user = user.substr(0, user.find(':'));
  const std::size_t slash = std::min(place.find('/'), place.size());
  const std::string_view host = place.substr(0, slash);
  const std::string_view base = place.substr(std::min(slash + 1, place.size()));
  std::string text = scheme;
  if (!user.empty() && is_plain_name(user)) text += std::string(user) + '@';
  text += is_host_list(host) ? std::string(host) : "...";
  if (!base.empty()) text += '/' + (is_plain_name(base) ? std::string(base) : "...");
  return text;
}

std::string without_password(std::string text, const std::string& url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t at = url.rfind('@');
  if (at == std::string::npos || at < begin) return text;
  const std::size_t colon = url.find(':', begin);
  if (colon == std::string::npos || colon > at) return text;
  const std::string password = url.substr(colon + 1, at - colon - 1);
  for (std::size_t found = 0;
       !password.empty() && (found = text.find(password, found)) != std::string::npos;) {
    text.replace(found, password.size(), "...");
    found += 3;
  }
  return text;
}

}  // namespace tune
