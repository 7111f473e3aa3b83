// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/event.hpp"
#include "libtune/device/cuda/program.hpp"
#include "libtune/device/event_memory.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::cuda {

/// A kernel that keeps a stream busy for a while and accesses no memory. It precedes a timed
/// launch, so that the device reaches the first event after the launch itself has been enqueued: an
/// idle device would record the event at once and then wait for the host, and the host's time would
/// count as the kernel's. It ends by itself, so it cannot block anything.
/// Thread-safe.
class delay_kernel {
 public:
  /// Compiles and loads it. The context has to outlive it. @throws device_error, build_error
  explicit delay_kernel(const cuda_context& context);

  /// Enqueues it. The context is current.
  CUresult launch(CUstream stream) const;

 private:
  const cuda_context& context_;
  library_handle library_;
  CUkernel kernel_;
  long long cycles_;
};

/// The commands of a stream during a capture: a graph of the driver before instantiation.
class captured_graph {
 public:
  /// Calls enqueue() while the stream captures. If it throws, the capture is ended, its graph
  /// destroyed, and the exception passed on. @throws device_error
  captured_graph(const cuda_context& context, CUstream stream,
                 const std::function<void()>& enqueue);
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;
  ~captured_graph();

  CUgraph handle() const noexcept { return handle_; }

 private:
  const cuda_context& context_;
  CUgraph handle_ = nullptr;
};

/// A graph that can be launched. Not thread-safe.
class cuda_graph final : public detail::graph_interface {
 public:
  /// @throws device_error
  cuda_graph(const std::shared_ptr<cuda_context>& context, const captured_graph& captured);
  ~cuda_graph() override;

  /// Replaces the commands by captured ones: by an update, which is faster, if the driver can, else
  /// by a new instance. @throws device_error
  void replace(const captured_graph& captured);

  /// Does the additional work of a first launch in advance. If this fails, the first launch does
  /// it.
  void upload(CUstream stream) const;

 private:
  void do_launch(detail::queue_interface& queue,
                 std::shared_ptr<detail::event_interface>* event) override;

  const cuda_context& cuda() const noexcept { return static_cast<const cuda_context&>(*context()); }

  CUgraphExec handle_;
};

/// A stream.
class cuda_queue final : public detail::queue_interface {
 public:
  cuda_queue(const std::shared_ptr<cuda_context>& context, CUstream handle, ownership owner,
             detail::queue_settings settings);
  ~cuda_queue() override;

  CUstream handle() const noexcept { return handle_; }

  /// For cuda_graph: enqueues the graph, with an event if event is not null.
  void launch_graph(CUgraphExec graph, std::shared_ptr<detail::event_interface>* event);

 private:
  using event_pointer = std::shared_ptr<detail::event_interface>;

  void do_launch(detail::kernel_interface& kernel, const nd_range& range,
                 event_pointer* event) override;
  void do_copy(const detail::copy_request& request, std::vector<event_pointer>* events) override;
  void do_fill(const detail::buffer_interface& buffer, const fill_region& region,
               std::span<const std::byte> pattern, event_pointer* event) override;
  void do_enqueue_foreign(const std::function<void()>& enqueue, event_pointer* event) override;
  event_pointer do_mark() override;
  void do_wait_for(std::span<const event_pointer> events) override;
  void do_flush() override;
  void do_finish() override;
  bool do_capture(std::shared_ptr<detail::graph_interface>& graph,
                  const std::function<void()>& enqueue) override;

  std::shared_ptr<cuda_event> make_event(bool is_marker);

  /// Enqueues a command between the events that time it. The context is current.
  template <class Command>
  event_pointer timed(Command&& command);

  cuda_context& cuda() const noexcept { return static_cast<cuda_context&>(*context()); }

  CUstream handle_;
  ownership ownership_;
  bool is_default_;  // one of the streams that have the same handle in every context
  std::shared_ptr<detail::event_memory> events_ = std::make_shared<detail::event_memory>();
};

}  // namespace tune::cuda
