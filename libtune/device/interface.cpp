// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/interface.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/fill_parts.hpp"
#include "libtune/device/graph_interface.hpp"

namespace tune::detail {
namespace {

// Divisions of 64 bits are slow enough to be seen in the cost of a launch.
constexpr bool is_multiple(std::size_t global, std::size_t local) noexcept {
  if (local == 1) return true;
  if (((global | local) >> 32) == 0 && local != 0) {
    return static_cast<std::uint32_t>(global) % static_cast<std::uint32_t>(local) == 0;
  }
  return local != 0 && global % local == 0;
}

constexpr bool divides(const nd_range& range) noexcept {
  return is_multiple(range.global.x, range.local.x) && is_multiple(range.global.y, range.local.y) &&
         is_multiple(range.global.z, range.local.z);
}

constexpr bool is_empty(const work_size& size) noexcept {
  return size.x == 0 || size.y == 0 || size.z == 0;
}

std::string to_text(const work_size& size) {
  return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

[[noreturn]] void throw_indivisible(const kernel_interface& kernel, const nd_range& range) {
  throw device_error(
      "launch of kernel '" + kernel.info().name + "'", kernel.context()->info().identity.name,
      fmt::format("the global size {} (counted in work items) is not a multiple of the work group "
                  "{}; round it up",
                  to_text(range.global), to_text(range.local)),
      device_failure::invalid_launch);
}

// What one side of a copy touches.
fill_region region_of(const copy_side& side, const copy_request& request) noexcept {
  return {.offset_bytes = side.offset_bytes,
          .row_pitch_bytes = side.row_pitch_bytes,
          .slice_pitch_bytes = side.slice_pitch_bytes,
          .row_bytes = request.row_bytes,
          .rows = request.rows,
          .slices = request.slices};
}

// Drivers either do not name the sizes or do not look at them.
void check_work_group(const kernel_interface& kernel, const work_size& local) {
  const work_size& required = kernel.info().required_work_group_size;
  if (required.x == 0 || required == local) return;
  throw device_error(
      "launch of kernel '" + kernel.info().name + "'", kernel.context()->info().identity.name,
      fmt::format("it requires a work group of {} (REQD_WORK_GROUP_SIZE) and was launched with {}",
                  to_text(required), to_text(local)),
      device_failure::invalid_launch);
}

bool has_host_side(const copy_request& request) noexcept {
  return request.source.buffer == nullptr || request.destination.buffer == nullptr;
}

bool is_empty(const copy_request& request) noexcept {
  return request.row_bytes == 0 || request.rows == 0 || request.slices == 0;
}

[[noreturn]] void throw_foreign_context(const char* what, const device_info& queue_device) {
  throw argument_error(fmt::format(
      "the {} belongs to another context than the command queue on device '{}'; make both from "
      "one context",
      what, queue_device.identity.name));
}

// Puts the queue into capture and back. A tuning queue does not record what it captures, for that
// is not run: only the launches of the graph are.
class capture_scope {
 public:
  capture_scope(possessions*& captured, possessions& used, bool& recording) noexcept
      : captured_(captured),
        recording_(recording),
        was_recording_(std::exchange(recording, false)) {
    captured_ = &used;
  }
  capture_scope(const capture_scope&) = delete;
  capture_scope& operator=(const capture_scope&) = delete;
  ~capture_scope() {
    captured_ = nullptr;
    recording_ = was_recording_;
  }

 private:
  possessions*& captured_;
  bool& recording_;
  bool was_recording_;
};

// A door for what belongs to a device.
template <class... Arguments>
void check_device_door(sealed_action action, const device_info& device, const char* format,
                       const Arguments&... arguments) {
  const auto what = [&] {
    return fmt::format(fmt::runtime(format), arguments...) + " on device '" + device.identity.name +
           "'";
  };
  refuse_if_forked(what);
  check_seal(action, what);
}

void note_release(std::size_t bytes, const char* what, const device_info& device) noexcept {
  note_seal(sealed_action::release, [&] {
    return fmt::format("release {} bytes of {} on device '{}'", bytes, what, device.identity.name);
  });
}

}  // namespace

std::shared_ptr<context_interface> device_interface::create_context(context_options options) const {
  check_device_door(sealed_action::allocate, info(), "create a context");
  return do_create_context(options);
}

std::unique_ptr<kernel_interface> program_interface::create_kernel(const std::string& name) const {
  check_device_door(sealed_action::load, context_->info(), "create kernel '{}'", name);
  return do_create_kernel(name);
}

void kernel_interface::refuse_argument(std::size_t index, const std::string& reason) const {
  throw device_error(fmt::format("setting argument {} of kernel '{}'", index, info_.name),
                     context_->info().identity.name, reason, device_failure::invalid_launch);
}

void kernel_interface::throw_no_argument(std::size_t index, std::size_t count) const {
  refuse_argument(index, fmt::format("the kernel takes {} argument{}, counted from 0", count,
                                     count == 1 ? "" : "s"));
}

void kernel_interface::throw_wrong_argument(std::size_t index, const std::string& given,
                                            const std::string& taken) const {
  refuse_argument(index, fmt::format("{} given, the parameter takes {}", given, taken));
}

void kernel_interface::throw_unset_argument(std::size_t index, std::size_t count) const {
  throw device_error(
      fmt::format("launch of kernel '{}'", info_.name), context_->info().identity.name,
      fmt::format("argument {} is not set; the kernel takes {}, counted from 0", index, count),
      device_failure::invalid_launch);
}

pinned_memory_interface::~pinned_memory_interface() {
  if (device_ != nullptr) note_release(bytes_, "pinned memory", device_->info());
}

buffer_interface::~buffer_interface() {
  if (allocated_) note_release(bytes_, "memory", context_->info());
}

buffer_interface::buffer_interface(std::shared_ptr<const buffer_interface> parent,
                                   std::size_t offset_bytes, std::size_t bytes)
    : context_(parent->context_),
      parent_(std::move(parent)),
      bytes_(bytes),
      host_data_(parent_->host_data_ != nullptr
                     ? static_cast<std::byte*>(parent_->host_data_) + offset_bytes
                     : nullptr) {}

queue_interface::queue_interface(std::shared_ptr<context_interface> context,
                                 queue_settings settings)
    : context_(std::move(context)), settings_(settings) {}

queue_interface::~queue_interface() = default;

void queue_interface::check_launch(const kernel_interface& kernel, const nd_range& range) const {
  if (!divides(range)) throw_indivisible(kernel, range);
  check_work_group(kernel, range.local);
  if (kernel.context() != context_) throw_foreign_context("kernel", context_->info());
}

void queue_interface::launch(kernel_interface& kernel, const nd_range& range) {
  check_launch(kernel, range);
  if (is_empty(range.global)) {
    // Whoever records counts launches, those that do nothing too.
    if (recording_) recorded_.push_back(do_mark());
    return;
  }
  if (!recording_) {
    do_launch(kernel, range, nullptr);
    if (captured_ != nullptr) kernel.collect(*captured_);
    return;
  }
  event_pointer event;
  do_launch(kernel, range, &event);
  recorded_.push_back(std::move(event));
}

std::shared_ptr<event_interface> queue_interface::launch_with_event(kernel_interface& kernel,
                                                                    const nd_range& range) {
  check_launch(kernel, range);
  refuse_while_capturing("a launch with an event");
  event_pointer event;
  if (is_empty(range.global)) {
    event = do_mark();
  } else {
    do_launch(kernel, range, &event);
  }
  if (recording_) recorded_.push_back(event);
  return event;
}

void queue_interface::copy(const copy_request& request) {
  for (const copy_side* side : {&request.source, &request.destination}) {
    if (side->buffer == nullptr) continue;
    if (side->buffer->context() != context_) throw_foreign_context("buffer", context_->info());
    if (is_empty(request)) continue;
    const fill_region region = region_of(*side, request);
    if (!fits(region, side->buffer->bytes())) {
      throw argument_error(fmt::format("a copy of {} leaves the buffer of {} bytes",
                                       to_text(region), side->buffer->bytes()));
    }
  }
  if (is_empty(request)) return;
  if (request.blocking && has_host_side(request)) refuse_while_capturing("a blocking copy");
  do_copy(request);
  if (captured_ == nullptr) return;
  for (const copy_side* side : {&request.source, &request.destination}) {
    if (side->buffer != nullptr) keep(*side->buffer);
  }
}

void queue_interface::fill(const buffer_interface& buffer, const fill_region& region,
                           std::span<const std::byte> pattern) {
  if (buffer.context() != context_) throw_foreign_context("buffer", context_->info());
  check_fill(region, pattern.size(), buffer.bytes());
  if (is_empty(region)) return;
  event_pointer event;
  do_fill(buffer, merged(region), shortest(pattern), recording_ ? &event : nullptr);
  if (recording_) recorded_.push_back(std::move(event));
  if (captured_ != nullptr) keep(buffer);
}

std::shared_ptr<event_interface> queue_interface::mark() {
  refuse_while_capturing("a marker");
  return do_mark();
}

void queue_interface::wait_for(std::span<const std::shared_ptr<event_interface>> events) {
  if (!events.empty()) refuse_while_capturing("waiting for events");
  do_wait_for(events);
}

void queue_interface::flush() {
  if (captured_ == nullptr) do_flush();
}

void queue_interface::finish() {
  refuse_while_capturing("finish");
  do_finish();
}

bool queue_interface::capture(std::shared_ptr<graph_interface>& graph,
                              const std::function<void()>& enqueue) {
  refuse_while_capturing("another capture");
  if (graph != nullptr && graph->context() != context_) {
    throw_foreign_context("command graph", context_->info());
  }
  possessions used;
  {
    const capture_scope scope(captured_, used, recording_);
    if (!do_capture(graph, enqueue)) return false;
  }
  graph->keep(std::move(used));
  return true;
}

void queue_interface::check_new_graph() const {
  check_device_door(sealed_action::allocate, context_->info(), "make a command graph");
}

bool queue_interface::do_capture(std::shared_ptr<graph_interface>&, const std::function<void()>&) {
  return false;
}

void queue_interface::launch(graph_interface& graph) {
  if (graph.context() != context_) throw_foreign_context("command graph", context_->info());
  refuse_while_capturing("a command graph");
  event_pointer event;
  graph.launch(*this, recording_ ? &event : nullptr);
  if (recording_) recorded_.push_back(std::move(event));
}

void queue_interface::refuse_while_capturing(const char* what) const {
  if (captured_ == nullptr) return;
  throw device_error(fmt::format("{} during command_queue::capture", what),
                     context_->info().identity.name,
                     "a command graph takes launches, fills and copies that do not block, and "
                     "nothing else; do this before or after the capture");
}

void queue_interface::keep(const buffer_interface& buffer) {
  captured_->push_back(buffer.shared_from_this());
}

void* queue_interface::map(buffer_interface& buffer, bool blocking) {
  if (buffer.context() != context_) throw_foreign_context("buffer", context_->info());
  refuse_while_capturing("mapping memory");
  if (buffer.host_data() != nullptr) {
    if (blocking) finish();
    return buffer.host_data();
  }
  void* data = buffer.do_map(*this, blocking);
  if (data != nullptr) return data;
  throw argument_error(fmt::format(
      "a buffer of {} bytes on device '{}' is not managed memory, and cannot be mapped; make it "
      "with create_managed_buffer, or copy",
      buffer.bytes(), context_->info().identity.name));
}

void queue_interface::unmap(buffer_interface& buffer, void* data) {
  if (buffer.host_data() == nullptr) buffer.do_unmap(*this, data);
}

void queue_interface::start_recording() {
  refuse_while_capturing("start_recording");
  if (!settings_.profiling) {
    throw argument_error("only a queue made by create_tuning_command_queue records its commands");
  }
  recorded_.clear();
  recording_ = true;
}

std::vector<std::shared_ptr<event_interface>> queue_interface::stop_recording() {
  refuse_while_capturing("stop_recording");
  recording_ = false;
  return std::exchange(recorded_, {});
}

std::shared_ptr<buffer_interface> context_interface::create_buffer(std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes", bytes);
  auto made = do_create_buffer(bytes);
  made->allocated_ = true;
  return made;
}

std::shared_ptr<buffer_interface> context_interface::create_managed_buffer(std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes of managed memory", bytes);
  auto made = do_create_managed_buffer(bytes);
  made->allocated_ = true;
  return made;
}

std::shared_ptr<pinned_memory_interface> context_interface::create_pinned_memory(
    std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes of pinned memory", bytes);
  auto made = do_create_pinned_memory(bytes);
  made->device_ = device_;
  return made;
}

std::shared_ptr<queue_interface> context_interface::create_queue(queue_settings settings) {
  check_device_door(sealed_action::allocate, info(), "create a command queue");
  return do_create_queue(settings);
}

std::shared_ptr<program_interface> context_interface::create_program(const program_source& source) {
  check_device_door(sealed_action::compile, info(), "compile '{}'", source.name);
  return do_create_program(source);
}

std::shared_ptr<program_interface> context_interface::create_program_from_binary(
    const std::string& name, std::span<const std::byte> binary) {
  check_device_door(sealed_action::load, info(), "load program '{}'", name);
  return do_create_program_from_binary(name, binary);
}

std::shared_ptr<buffer_interface> context_interface::create_sub_buffer(
    const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes) {
  const std::string& name = info().identity.name;
  if (parent->context().get() != this) {
    throw argument_error(
        fmt::format("the parent of a sub-buffer belongs to another context on device '{}'", name));
  }
  if (bytes == 0) throw argument_error("a buffer needs at least one byte");
  if (offset_bytes > parent->bytes() || bytes > parent->bytes() - offset_bytes) {
    throw argument_error(fmt::format("a sub-buffer of {} bytes at {} leaves its buffer of {} bytes",
                                     bytes, offset_bytes, parent->bytes()));
  }
  const std::size_t alignment = info().limits.buffer_alignment_bytes;
  if (offset_bytes % alignment != 0) {
    throw argument_error(
        fmt::format("a sub-buffer at {} is not aligned to the {} bytes of device '{}' "
                    "(device_limits::buffer_alignment_bytes)",
                    offset_bytes, alignment, name));
  }
  return do_create_sub_buffer(parent, offset_bytes, bytes);
}

void context_interface::attach(const void* key, std::shared_ptr<const void> value) {
  const std::lock_guard lock(attachments_mutex_);
  for (auto& [known, attached] : attachments_) {
    if (known == key) {
      attached.swap(value);  // the old one is destroyed after the lock, whatever it does then
      return;
    }
  }
  attachments_.emplace_back(key, std::move(value));
}

std::shared_ptr<const void> context_interface::attachment(const void* key) const {
  const std::lock_guard lock(attachments_mutex_);
  for (const auto& [known, attached] : attachments_) {
    if (known == key) return attached;
  }
  return nullptr;
}

}  // namespace tune::detail
