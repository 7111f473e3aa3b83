// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams, events and graphs of the fake driver.
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "tests/device/cuda/fake_driver_state.hpp"

namespace fake_cuda {

void add_streams(table& t) {
  add<PFN_cuStreamCreate_v2000>(t, "cuStreamCreate", [](CUstream* stream, unsigned flags) {
    ENTER("cuStreamCreate");
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = reinterpret_cast<CUstream>(new stream_object{current()});
    ++live;
    return in_any_context();
  });
  add<PFN_cuStreamDestroy_v4000>(t, "cuStreamDestroy", [](CUstream stream) {
    if (green_object* const green = stream_of(stream).green) --green->streams;
    delete &stream_of(stream);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuStreamQuery_v2000>(t, "cuStreamQuery",
                               [](CUstream stream) { return run_only_on(stream); });
  add<PFN_cuStreamSynchronize_v2000>(t, "cuStreamSynchronize", [](CUstream stream) {
    ENTER("cuStreamSynchronize");
    return run_only_on(stream);
  });
  add<PFN_cuStreamWaitEvent_v3020>(t, "cuStreamWaitEvent", [](CUstream stream, CUevent, unsigned) {
    return run_only_on(stream);
  });
  add<PFN_cuStreamGetCtx_v9020>(t, "cuStreamGetCtx", [](CUstream stream, CUcontext* context) {
    *context = stream == nullptr                    ? current()
               : stream_of(stream).green != nullptr ? handle_of(stream_of(stream).green->converted)
                                                    : stream_of(stream).context;
    return CUDA_SUCCESS;
  });
  add<PFN_cuEventCreate_v2000>(t, "cuEventCreate", [](CUevent* event, unsigned flags) {
    const bool timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    // Not by operator new, which tests count.
    // NOLINTNEXTLINE(clang-analyzer-unix.MallocSizeof): a handle stands for the object
    *event = static_cast<CUevent>(std::malloc(sizeof(event_object)));
    new (*event) event_object{current(), timed, 0};
    ++live;
    return in_any_context();
  });
  add<PFN_cuEventDestroy_v4000>(t, "cuEventDestroy", [](CUevent event) {
    std::free(event);
    --live;
    return in_any_context();
  });
  add<PFN_cuEventRecord_v2000>(t, "cuEventRecord", [](CUevent event, CUstream stream) {
    ENTER("cuEventRecord");
    event_of(event).time_ns = clock_ns += 500;
    return run_only_on(stream);
  });
  add<PFN_cuEventQuery_v2000>(t, "cuEventQuery", [](CUevent) { return enter("cuEventQuery"); });
  add<PFN_cuEventSynchronize_v2000>(t, "cuEventSynchronize",
                                    [](CUevent) { return in_any_context(); });
  add<PFN_cuEventElapsedTime_v2000>(
      t, "cuEventElapsedTime", [](float* milliseconds, CUevent from, CUevent to) {
        const event_object& first = event_of(from);
        const event_object& second = event_of(to);
        if (!first.timed || !second.timed || first.time_ns > second.time_ns) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        *milliseconds =
            static_cast<float>(static_cast<double>(second.time_ns - first.time_ns) / 1e6);
        return CUDA_SUCCESS;
      });
}

namespace {

void add_capture(table& t) {
  add<PFN_cuStreamBeginCapture_v10010>(
      t, "cuStreamBeginCapture", [](CUstream stream, CUstreamCaptureMode mode) {
        ENTER("cuStreamBeginCapture");
        if (stream == nullptr || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
        if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL) global_capture = stream;
        return stream_of(stream).capture.begin();
      });
  add<PFN_cuStreamIsCapturing_v10000>(
      t, "cuStreamIsCapturing", [](CUstream stream, CUstreamCaptureStatus* status) {
        const bool is_active = stream != CU_STREAM_LEGACY && stream != nullptr &&
                               stream_of(stream).capture.is_active();
        *status = is_active ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
        return in_any_context();
      });
  add<PFN_cuThreadExchangeStreamCaptureMode_v10010>(t, "cuThreadExchangeStreamCaptureMode",
                                                    [](CUstreamCaptureMode* mode) {
                                                      std::swap(*mode, capture_mode);
                                                      return CUDA_SUCCESS;
                                                    });
  add<PFN_cuStreamEndCapture_v10000>(t, "cuStreamEndCapture", [](CUstream stream, CUgraph* graph) {
    ENTER("cuStreamEndCapture");
    *graph = nullptr;
    if (global_capture == stream) global_capture = nullptr;
    const std::unique_ptr<graph_object> ended = stream_of(stream).capture.end();
    if (ended == nullptr) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = reinterpret_cast<CUgraph>(new graph_object(*ended));
    ++live;
    return CUDA_SUCCESS;
  });
}

}  // namespace

void add_graphs(table& t) {
  add_capture(t);
  add<PFN_cuGraphDestroy_v10000>(t, "cuGraphDestroy", [](CUgraph graph) {
    delete reinterpret_cast<graph_object*>(graph);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuGraphInstantiateWithFlags_v11040>(
      t, "cuGraphInstantiateWithFlags",
      [](CUgraphExec* made, CUgraph graph, unsigned long long flags) {
        ENTER("cuGraphInstantiateWithFlags");
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        *made = reinterpret_cast<CUgraphExec>(
            new graph_object(*reinterpret_cast<graph_object*>(graph)));
        ++live;
        return in_any_context();
      });
  add<PFN_cuGraphExecUpdate_v12000>(
      t, "cuGraphExecUpdate", [](CUgraphExec target, CUgraph graph, CUgraphExecUpdateResultInfo*) {
        ENTER("cuGraphExecUpdate");
        auto& old = *reinterpret_cast<graph_object*>(target);
        const auto& wanted = *reinterpret_cast<graph_object*>(graph);
        if (!same_kinds(old, wanted)) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        old = wanted;
        return in_any_context();
      });
  add<PFN_cuGraphUpload_v11010>(t, "cuGraphUpload", [](CUgraphExec, CUstream stream) {
    ENTER("cuGraphUpload");
    return run_only_on(stream);
  });
  add<PFN_cuGraphLaunch_v10000>(t, "cuGraphLaunch", [](CUgraphExec graph, CUstream stream) {
    ENTER("cuGraphLaunch");
    if (const CUresult status = run_only_on(stream); status != CUDA_SUCCESS) return status;
    for (auto& item : *reinterpret_cast<graph_object*>(graph)) item.run();
    return CUDA_SUCCESS;
  });
  add<PFN_cuGraphExecDestroy_v10000>(t, "cuGraphExecDestroy", [](CUgraphExec graph) {
    delete reinterpret_cast<graph_object*>(graph);
    --live;
    return in_any_context();
  });
}

}  // namespace fake_cuda
