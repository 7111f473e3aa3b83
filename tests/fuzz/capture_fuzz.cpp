// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The index of a file of captured frames, messages of replays, and settings of a capture, as text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/extra/capture/frame_index.hpp"
#include "libtune/extra/capture/replay_message.hpp"

namespace {

void read_index(std::string_view text) {
  constexpr std::uint64_t file_bytes = std::uint64_t{1} << 30;
  const auto index = tune::detail::index_from_text(text, file_bytes);
  const std::string written = tune::detail::index_text(index);
  const auto again = tune::detail::index_from_text(written, file_bytes);
  if (tune::detail::index_text(again) != written) std::abort();
}

void read_request(std::string_view text) {
  const auto request = tune::detail::request_from_line(text);
  if (tune::detail::request_from_line(to_line(request)).places != request.places) std::abort();
}

void read_message(std::string_view text) { tune::detail::message_from_line(text); }

void read_settings(std::string_view text) { tune::capture_options_from_text(text); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {read_index, read_request, read_message, read_settings}) {
    try {
      read(text);
    } catch (const tune::error&) {  // NOLINT(bugprone-empty-catch): the text is refused
    }
  }
  return 0;
}
