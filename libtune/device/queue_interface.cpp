// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/queue_interface.hpp"

#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/fill.hpp"

namespace tune::detail {
namespace {

constexpr bool is_multiple(std::size_t global, std::size_t local) noexcept {
  return local == 1 || (local != 0 && divide_down(global, local) * local == global);
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

// Returns the bytes that one side of a copy accesses.
fill_region region_of(const copy_side& side, const copy_request& request) noexcept {
  return {.offset_bytes = side.offset_bytes,
          .row_pitch_bytes = side.row_pitch_bytes,
          .slice_pitch_bytes = side.slice_pitch_bytes,
          .row_bytes = request.row_bytes,
          .rows = request.rows,
          .slices = request.slices};
}

// Checked here, because drivers either do not check this or do not report the sizes.
void check_work_group(const kernel_interface& kernel, const work_size& local) {
  const work_size& required = kernel.info().required_work_group_size;
  if (required.x == 0 || required == local) return;
  throw device_error(
      "launch of kernel '" + kernel.info().name + "'", kernel.context()->info().identity.name,
      fmt::format("it requires a work group of {} (REQD_WORK_GROUP_SIZE) and was launched with {}",
                  to_text(required), to_text(local)),
      device_failure::invalid_launch);
}

// The first compute capability with clusters, and the largest cluster of any such device.
constexpr int cluster_generation = 9;
constexpr std::size_t most_of_cluster = 8;

void check_cluster(const kernel_interface& kernel, const nd_range& range) {
  const device_info& device = kernel.context()->info();
  const std::string call = fmt::format("launch of kernel '{}' in clusters of {} work groups",
                                       kernel.info().name, range.cluster);
  if (device.backend != "CUDA" || !device.hardware.compute_capability ||
      device.hardware.compute_capability->major < cluster_generation) {
    throw device_error(call, device.identity.name,
                       "CUDA devices have clusters, from compute capability 9.0 on; give "
                       "nd_range::cluster 1 on others",
                       device_failure::over_limit);
  }
  if (range.cluster == 0 || range.cluster > most_of_cluster) {
    throw device_error(call, device.identity.name,
                       fmt::format("a cluster has 1 to {}", most_of_cluster),
                       device_failure::over_limit);
  }
  if (const std::size_t groups = range.global.x / range.local.x; groups % range.cluster != 0) {
    throw device_error(
        call, device.identity.name,
        fmt::format("there are {} groups along x, which is not a multiple of it", groups),
        device_failure::invalid_launch);
  }
}

bool has_host_side(const copy_request& request) noexcept {
  return request.source.buffer == nullptr || request.destination.buffer == nullptr;
}

[[noreturn]] void throw_foreign_context(const char* what, const device_info& queue_device) {
  throw argument_error(fmt::format(
      "the {} belongs to another context than the command queue on device '{}'; make both from "
      "one context",
      what, queue_device.identity.name));
}

// In a forked process, calls of the parent's driver may never return.
void refuse_in_forked(const char* what, const device_info& device) {
  if (is_forked()) [[unlikely]]
    throw_forked(fmt::format("{} on device '{}'", what, device.identity.name));
}

thread_local int captures = 0;  // of queues, by this thread

// Sets a queue to capture, and back. A tuning queue does not record captured commands, because they
// are not run: it records the launches of the graph.
class capture_scope {
 public:
  capture_scope(possessions*& captured, possessions& used, bool& recording) noexcept
      : captured_(captured),
        recording_(recording),
        was_recording_(std::exchange(recording, false)) {
    captured_ = &used;
    ++captures;
  }
  capture_scope(const capture_scope&) = delete;
  capture_scope& operator=(const capture_scope&) = delete;
  ~capture_scope() {
    --captures;
    captured_ = nullptr;
    recording_ = was_recording_;
  }

 private:
  possessions*& captured_;
  bool& recording_;
  bool was_recording_;
};

/// The commands between two markers, as one event.
class event_between final : public event_interface {
 public:
  event_between(std::shared_ptr<event_interface> start, std::shared_ptr<event_interface> end)
      : start_(std::move(start)), end_(std::move(end)) {}

 private:
  void do_wait() const override { end_->wait(); }
  bool do_is_complete() const override { return end_->is_complete(); }
  std::chrono::nanoseconds do_duration() const override { return end_->time_since(*start_); }
  std::chrono::nanoseconds do_time_since(const event_interface& prior) const override {
    return start_->time_since(prior);
  }

  std::shared_ptr<event_interface> start_;
  std::shared_ptr<event_interface> end_;
};

bool is_regular(const copy_side& side, std::size_t rows) noexcept {
  return side.slice_pitch_bytes % side.row_pitch_bytes == 0 &&
         side.slice_pitch_bytes >= side.row_pitch_bytes * rows;
}

}  // namespace

copy_request without_single_rows(copy_request request) noexcept {
  if (request.rows > 1 || request.slices == 1) return request;
  request.rows = std::exchange(request.slices, 1);
  request.source.row_pitch_bytes = request.source.slice_pitch_bytes;
  request.destination.row_pitch_bytes = request.destination.slice_pitch_bytes;
  return request;
}

bool has_regular_slices(const copy_request& request) noexcept {
  return request.slices == 1 || (request.rows > 1 && is_regular(request.source, request.rows) &&
                                 is_regular(request.destination, request.rows));
}

copy_request nth_slice(copy_request request, std::size_t n) noexcept {
  request.source.offset_bytes += n * request.source.slice_pitch_bytes;
  request.destination.offset_bytes += n * request.destination.slice_pitch_bytes;
  request.slices = 1;
  return request;
}

bool is_capturing_on_this_thread() noexcept { return captures > 0; }

queue_interface::queue_interface(std::shared_ptr<context_interface> context,
                                 queue_settings settings)
    : context_(std::move(context)), settings_(settings) {}

queue_interface::~queue_interface() = default;

void queue_interface::check_launch(const kernel_interface& kernel, const nd_range& range) const {
  refuse_in_forked("launch a kernel", context_->info());
  if (!divides(range)) throw_indivisible(kernel, range);
  check_work_group(kernel, range.local);
  if (range.cluster != 1) check_cluster(kernel, range);
  if (kernel.context() != context_) throw_foreign_context("kernel", context_->info());
}

void queue_interface::launch(kernel_interface& kernel, const nd_range& range) {
  check_launch(kernel, range);
  if (is_empty(range.global)) {
    // A recording also counts launches that do nothing.
    if (recording_) recorded_.push_back(do_mark());
    return;
  }
  if (!recording_) {
    do_launch(kernel, range, nullptr);
    if (captured_ == nullptr) return;
    kernel.collect(*captured_);
    kernel.note_launch(range);
    return;
  }
  event_pointer event;
  do_launch(kernel, range, &event);
  kernel.note_launch(range);
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
  refuse_in_forked("copy memory", context_->info());
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
  do_copy(request, recording_ && !has_host_side(request) ? &recorded_ : nullptr);
  if (captured_ == nullptr) return;
  for (const copy_side* side : {&request.source, &request.destination}) {
    if (side->buffer != nullptr) keep(*side->buffer);
  }
}

void queue_interface::fill(const buffer_interface& buffer, const fill_region& region,
                           std::span<const std::byte> pattern) {
  refuse_in_forked("fill memory", context_->info());
  if (buffer.context() != context_) throw_foreign_context("buffer", context_->info());
  check_fill(region, pattern.size(), buffer.bytes());
  if (is_empty(region)) return;
  event_pointer event;
  do_fill(buffer, merged(region), shortest(pattern), recording_ ? &event : nullptr);
  if (recording_) recorded_.push_back(std::move(event));
  if (captured_ != nullptr) keep(buffer);
}

void queue_interface::enqueue_foreign(const std::function<void()>& enqueue,
                                      std::span<const std::shared_ptr<const void>> used) {
  refuse_in_forked("enqueue the work of a library", context_->info());
  event_pointer event;
  do_enqueue_foreign(enqueue, recording_ ? &event : nullptr);
  if (recording_) recorded_.push_back(std::move(event));
  if (captured_ != nullptr) captured_->insert(captured_->end(), used.begin(), used.end());
}

void queue_interface::do_enqueue_foreign(const std::function<void()>& enqueue,
                                         event_pointer* event) {
  if (event == nullptr) {
    enqueue();
    return;
  }
  event_pointer start = do_mark();
  enqueue();
  *event = std::make_shared<event_between>(std::move(start), do_mark());
}

std::shared_ptr<event_interface> queue_interface::mark() {
  refuse_in_forked("enqueue a marker", context_->info());
  refuse_while_capturing("a marker");
  return do_mark();
}

void queue_interface::wait_for(std::span<const std::shared_ptr<event_interface>> events) {
  refuse_in_forked("wait for events", context_->info());
  if (!events.empty()) refuse_while_capturing("waiting for events");
  do_wait_for(events);
}

void queue_interface::flush() {
  refuse_in_forked("flush a queue", context_->info());
  if (captured_ == nullptr) do_flush();
}

void queue_interface::finish() {
  refuse_in_forked("wait for a queue", context_->info());
  refuse_while_capturing("finish");
  do_finish();
}

bool queue_interface::capture(std::shared_ptr<graph_interface>& graph,
                              const std::function<void()>& enqueue) {
  refuse_in_forked("capture a command graph", context_->info());
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
  const auto what = [&] {
    return "make a command graph on device '" + context_->info().identity.name + "'";
  };
  refuse_if_forked(what);
  check_seal(sealed_action::allocate, what);
}

bool queue_interface::do_capture(std::shared_ptr<graph_interface>&, const std::function<void()>&) {
  return false;
}

void queue_interface::launch(graph_interface& graph) {
  refuse_in_forked("launch a command graph", context_->info());
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
  refuse_in_forked("map memory", context_->info());
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
  if (buffer.host_data() == nullptr && !is_forked()) buffer.do_unmap(*this, data);
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

}  // namespace tune::detail
