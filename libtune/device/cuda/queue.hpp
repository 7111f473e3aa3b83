// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::cuda {

/// The commands of a stream during a capture: a graph of the driver that cannot be launched yet.
class captured_graph {
 public:
  /// Calls enqueue() while the stream captures. If that throws, the capture is ended all the same,
  /// its graph destroyed, and the exception goes on. @throws device_error
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

  /// Becomes what was captured: by an update where the driver can, which is the faster way, else
  /// anew. @throws device_error
  void replace(const captured_graph& captured);

  /// Enqueues what the first launch would have to do besides, and will if this fails.
  void upload(CUstream stream) const;

 private:
  void do_launch(detail::queue_interface& queue,
                 std::shared_ptr<detail::event_interface>* event) override;

  const cuda_context& cuda() const noexcept { return static_cast<const cuda_context&>(*context()); }

  CUgraphExec handle_;
};

class cuda_event;

/// A stream.
class cuda_queue final : public detail::queue_interface {
 public:
  cuda_queue(const std::shared_ptr<cuda_context>& context, CUstream handle, ownership owner,
             detail::queue_settings settings);
  ~cuda_queue() override;

  CUstream handle() const noexcept { return handle_; }

  /// For cuda_graph: enqueues it, with an event where event is not null.
  void launch_graph(CUgraphExec graph, std::shared_ptr<detail::event_interface>* event);

 private:
  using event_pointer = std::shared_ptr<detail::event_interface>;

  void do_launch(detail::kernel_interface& kernel, const nd_range& range,
                 event_pointer* event) override;
  void do_copy(const detail::copy_request& request) override;
  void do_fill(const detail::buffer_interface& buffer, const fill_region& region,
               std::span<const std::byte> pattern, event_pointer* event) override;
  event_pointer do_mark() override;
  void do_wait_for(std::span<const event_pointer> events) override;
  void do_flush() override;
  void do_finish() override;
  bool do_capture(std::shared_ptr<detail::graph_interface>& graph,
                  const std::function<void()>& enqueue) override;

  std::shared_ptr<cuda_event> make_event(bool is_marker);

  /// Enqueues a command between the events that tell its time. The context is current.
  template <class Command>
  event_pointer timed(Command&& command);

  cuda_context& cuda() const noexcept { return static_cast<cuda_context&>(*context()); }

  CUstream handle_;
  ownership ownership_;
  bool is_default_;  // one of the streams that every context has under the same handle
  std::shared_ptr<detail::event_memory> events_ = std::make_shared<detail::event_memory>();
};

}  // namespace tune::cuda
