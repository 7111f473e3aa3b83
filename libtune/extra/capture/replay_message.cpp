// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/replay_message.hpp"

#include <algorithm>
#include <array>

namespace tune::detail {
namespace {

constexpr std::array<std::string_view, 4> kinds{"ready", "begun", "ended", "error"};
constexpr std::array<std::string_view, 3> outcomes{"same", "different", "failed"};

template <std::size_t Count>
std::size_t index_in(const std::array<std::string_view, Count>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) refuse_document("'" + name + "' is no known word");
  return static_cast<std::size_t>(found - names.begin());
}

std::size_t natural(const input& item) {
  if (!item.is_number_unsigned()) refuse_document("a number is negative, or no whole number");
  return item.get<std::size_t>();
}

std::string text_in(const input& object, const char* name) {
  return text_from_json(member(object, name));
}

}  // namespace

std::string to_line(const replay_request& request) {
  json places = json::array();
  for (const auto& [frame, call] : request.places) places.push_back({frame, call});
  return json_text({{"file", text_to_json(request.file)}, {"places", std::move(places)}}) + '\n';
}

replay_request request_from_line(std::string_view line) {
  const input document = parse_input(line);
  replay_request request{.file = text_in(document, "file"), .places = {}};
  for (const input& each : array_member(document, "places")) {
    if (!each.is_array() || each.size() != 2) refuse_document("a place has no two numbers");
    request.places.emplace_back(natural(each[0]), natural(each[1]));
  }
  return request;
}

std::string to_line(const replay_message& message) {
  json document{{"kind", kinds[static_cast<std::size_t>(message.what)]}, {"index", message.index}};
  document["text"] = text_to_json(message.call ? message.call->text : message.text);
  if (message.call) {
    document["frame"] = message.call->frame;
    document["name"] = text_to_json(message.call->name);
    document["type"] = text_to_json(message.call->type);
    document["device"] = text_to_json(message.call->device);
    document["outcome"] = replay_outcome_name(message.call->outcome);
  }
  return json_text(document) + '\n';
}

replay_message message_from_line(std::string_view line) {
  const input document = parse_input(line);
  replay_message message;
  message.what = static_cast<replay_message::kind>(index_in(kinds, text_in(document, "kind")));
  message.index = natural(member(document, "index"));
  message.text = text_in(document, "text");
  if (message.what != replay_message::kind::ended) return message;
  message.call = replayed_call{.frame = natural(member(document, "frame")),
                               .name = text_in(document, "name"),
                               .type = text_in(document, "type"),
                               .device = text_in(document, "device"),
                               .text = message.text};
  message.call->outcome =
      static_cast<replay_outcome>(index_in(outcomes, text_in(document, "outcome")));
  return message;
}

}  // namespace tune::detail
