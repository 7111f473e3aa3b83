// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_message.hpp"

#include "libtune/process/wire.hpp"

namespace tune::detail {

template <>
inline constexpr auto last_of<compile_result::status> = compile_result::status::unavailable;

void describe(auto& wire, is<compute_capability> auto& item) { wire(item.major, item.minor); }
void describe(auto& wire, is<kernel_header> auto& item) { wire(item.name, item.text); }
void describe(auto& wire, is<included_file> auto& item) { wire(item.path, item.digest); }
void describe(auto& wire, is<program_source> auto& item) {
  wire(item.name, item.text, item.options, item.headers);
}
void describe(auto& wire, is<work_size> auto& item) { wire(item.x, item.y, item.z); }
void describe(auto& wire, is<nd_range> auto& item) {
  wire(item.global, item.local, item.local_memory_bytes, item.cluster);
}
void describe(auto& wire, is<compile_result> auto& item) {
  wire(item.what, item.text, item.binary, item.elapsed, item.included);
}

// These two come first, and never change in later versions.
void describe(auto& wire, is<worker_greeting> auto& item) { wire(item.protocol, item.library); }
void describe(auto& wire, is<compile_target> auto& item) {
  wire(item.backend, item.platform, item.device, item.driver_version, item.compiler_identity,
       item.compute_capability);
}
void describe(auto& wire, is<prepare_order> auto& item) { wire(item.target); }
void describe(auto& wire, is<compile_order> auto& item) {
  wire(item.id, item.target, item.source, item.launches, item.folder);
}
void describe(auto& wire, is<compile_report> auto& item) { wire(item.id, item.result); }

namespace {

constexpr frame_form worker_frames{.magic = 0x4B57544C,  // "LTWK"
                                   .longest_content_bytes = longest_message_bytes};

}  // namespace

std::vector<std::byte> encode(const worker_message& message) {
  return encode_message(worker_frames, message, "the program is too large to be sent");
}

worker_message_reader::worker_message_reader() noexcept : frames_(worker_frames) {}

std::optional<worker_message> worker_message_reader::next() {
  return next_message<worker_message, worker_greeting>(frames_);
}

}  // namespace tune::detail
