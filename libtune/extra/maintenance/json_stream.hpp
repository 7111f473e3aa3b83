// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/json.hpp"

namespace tune::detail {

/// Takes a part of a text.
using text_sink = std::function<void(std::string_view part)>;

/// Writes a JSON document of any size part by part, in the layout of json::dump.
class json_stream {
 public:
  /// @param indent  spaces for each level
  /// @param text    makes the text of a value with that indent
  json_stream(text_sink to, int indent, std::string (*text)(const json& item, int indent));

  /// Begins an array or an object, as an element of an array or under a key of an object.
  void begin_array(std::string_view key = {}) { begin('[', key); }
  void begin_object(std::string_view key = {}) { begin('{', key); }
  /// Writes a value in the same places.
  void add(const json& item, std::string_view key = {});
  /// Writes the members of an object into the present one.
  void add_members(const json& object);
  void end();

 private:
  void begin(char bracket, std::string_view key);
  void place(std::string_view key);
  void new_line();

  struct level {
    char end = 0;
    bool is_empty = true;
  };

  text_sink to_;
  int indent_;
  std::string (*text_)(const json& item, int indent);
  std::vector<level> levels_;
};

}  // namespace tune::detail
