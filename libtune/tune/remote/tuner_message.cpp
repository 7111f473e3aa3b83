// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/tuner_message.hpp"

#include <iterator>
#include <utility>

#include "libtune/tune/remote/message_fields.hpp"

namespace tune::detail {
namespace {

constexpr frame_form form{.magic = 0x4E54544C,  // "LTTN"
                          .longest_content_bytes = longest_tuner_message_bytes};

template <class Item>
std::uint64_t encoded_bytes(const Item& item) {
  wire_writer writer;
  field_writer fields(writer);
  fields(item);
  return writer.bytes().size();
}

/// Fills one part after the other.
class divider {
 public:
  explicit divider(std::uint64_t most_bytes) : most_bytes_(most_bytes) { parts_.emplace_back(); }

  template <class Item>
  void add(std::vector<Item> prior_knowledge::*list, std::vector<Item>& items) {
    for (Item& item : items) {
      const std::uint64_t bytes = encoded_bytes(item);
      if (bytes > longest_tuner_message_bytes / 2) continue;
      if (filled_ > 0 && filled_ + bytes > most_bytes_) next();
      filled_ += bytes;
      (parts_.back().known.*list).push_back(std::move(item));
    }
  }
  std::vector<recall_answer> take() { return std::move(parts_); }

 private:
  void next() {
    parts_.back().more = true;
    parts_.emplace_back();
    filled_ = 0;
  }

  std::uint64_t most_bytes_;
  std::vector<recall_answer> parts_;
  std::uint64_t filled_ = 0;
};

template <class Item>
void append_items(std::vector<Item>& whole, std::vector<Item>& part) {
  whole.insert(whole.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

}  // namespace

std::vector<recall_answer> divide(prior_knowledge known, std::uint64_t most_bytes) {
  divider parts(most_bytes);
  parts.add(&prior_knowledge::denied, known.denied);
  parts.add(&prior_knowledge::similar, known.similar);
  parts.add(&prior_knowledge::unfinished, known.unfinished);
  parts.add(&prior_knowledge::compile_failures, known.compile_failures);
  std::vector<recall_answer> all = parts.take();
  all.front().known.spent = known.spent;
  return all;
}

void append(prior_knowledge& whole, prior_knowledge part) {
  append_items(whole.denied, part.denied);
  append_items(whole.similar, part.similar);
  append_items(whole.unfinished, part.unfinished);
  append_items(whole.compile_failures, part.compile_failures);
  whole.spent.time += part.spent.time;
  whole.spent.trials += part.spent.trials;
}

std::vector<std::byte> encode(const tuner_message& message) {
  return encode_message(form, message, "a message is too long to be sent");
}

tuner_message_reader::tuner_message_reader() noexcept : frames_(form) {}

std::optional<tuner_message> tuner_message_reader::next() {
  return next_message<tuner_message, tuner_greeting>(frames_);
}

}  // namespace tune::detail
