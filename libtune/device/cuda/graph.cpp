// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/graph.hpp"

#include <utility>

#include "libtune/base/seal.hpp"
#include "libtune/device/cuda/queue.hpp"

namespace tune::cuda {
namespace {

CUgraphExec instantiate(const cuda_context& context, const captured_graph& captured) {
  const auto entered = context.enter();
  CUgraphExec made = nullptr;
  context.check(context.api().graph_instantiate(&made, captured.handle(), 0),
                "cuGraphInstantiateWithFlags");
  return made;
}

void release(const cuda_context& context, CUgraphExec graph) noexcept {
  context.release("cuGraphExecDestroy", [&] { return context.api().graph_exec_destroy(graph); });
}

// Relaxed, so that the driver does not refuse what enqueue() frees or allocates on the way: that
// is no part of the graph, and the graph keeps alive what is. What cannot be captured is refused
// before the driver sees it.
void begin_capture(const cuda_context& context, CUstream stream) {
  const auto entered = context.enter();
  context.check(context.api().capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                "cuStreamBeginCapture");
}

}  // namespace

captured_graph::captured_graph(const cuda_context& context, CUstream stream,
                               const std::function<void()>& enqueue)
    : context_(context) {
  const driver_api& api = context.api();
  begin_capture(context, stream);
  try {
    enqueue();
  } catch (...) {
    // It may have failed already, which the exception tells more of.
    context.release("cuStreamEndCapture", [&] {
      CUgraph unwanted = nullptr;
      api.capture_end(stream, &unwanted);
      return unwanted != nullptr ? api.graph_destroy(unwanted) : CUDA_SUCCESS;
    });
    throw;
  }
  const auto entered = context.enter();
  context.check(api.capture_end(stream, &handle_), "cuStreamEndCapture");
}

captured_graph::~captured_graph() {
  context_.release("cuGraphDestroy", [&] { return context_.api().graph_destroy(handle_); });
}

cuda_graph::cuda_graph(const std::shared_ptr<cuda_context>& context, const captured_graph& captured)
    : graph_interface(context), handle_(instantiate(*context, captured)) {}

cuda_graph::~cuda_graph() { release(cuda(), handle_); }

void cuda_graph::replace(const captured_graph& captured) {
  {
    const auto entered = cuda().enter();
    CUgraphExecUpdateResultInfo result{};
    const CUresult status = cuda().api().graph_update(handle_, captured.handle(), &result);
    if (status == CUDA_SUCCESS) return;
    if (status != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) cuda().check(status, "cuGraphExecUpdate");
  }
  detail::check_seal(sealed_action::allocate, [&] {
    return "make a command graph of other commands anew on device '" + cuda().info().identity.name +
           "'";
  });
  release(cuda(), std::exchange(handle_, instantiate(cuda(), captured)));
}

void cuda_graph::upload(CUstream stream) const {
  const auto entered = cuda().enter();
  log_failure(cuda().api(), cuda().api().graph_upload(handle_, stream), "cuGraphUpload");
}

void cuda_graph::do_launch(detail::queue_interface& queue,
                           std::shared_ptr<detail::event_interface>* event) {
  static_cast<cuda_queue&>(queue).launch_graph(handle_, event);
}

}  // namespace tune::cuda
