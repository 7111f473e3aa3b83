// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/graph_interface.hpp"

namespace tune::cuda {

/// What a stream was given during a capture: a graph of the driver that cannot be launched yet.
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

}  // namespace tune::cuda
