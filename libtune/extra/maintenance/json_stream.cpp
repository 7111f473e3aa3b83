// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/json_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tune::detail {

json_stream::json_stream(text_sink to, int indent,
                         std::string (*text)(const json& item, int indent))
    : to_(std::move(to)), indent_(indent), text_(text) {}

void json_stream::new_line() {
  to_('\n' + std::string(levels_.size() * static_cast<std::size_t>(indent_), ' '));
}

void json_stream::place(std::string_view key) {
  if (levels_.empty()) return;
  if (!levels_.back().is_empty) to_(",");
  levels_.back().is_empty = false;
  new_line();
  if (levels_.back().end == '}') to_(text_(std::string(key), indent_) + ": ");
}

void json_stream::begin(char bracket, std::string_view key) {
  place(key);
  to_(std::string_view(&bracket, 1));
  levels_.push_back({.end = bracket == '{' ? '}' : ']'});
}

void json_stream::add(const json& item, std::string_view key) {
  place(key);
  const std::string text = text_(item, indent_);
  const std::string margin(levels_.size() * static_cast<std::size_t>(indent_), ' ');
  // A line break of the text is one of the layout: strings have it as \n.
  std::string moved;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    moved.append(text, at, next - at);
    if (moved.back() == '\n') moved += margin;
    at = next;
  }
  to_(moved);
}

void json_stream::add_members(const json& object) {
  for (const auto& [key, item] : object.items()) add(item, key);
}

void json_stream::end() {
  const level ended = levels_.back();
  levels_.pop_back();
  if (!ended.is_empty) new_line();
  to_(std::string_view(&ended.end, 1));
}

}  // namespace tune::detail
