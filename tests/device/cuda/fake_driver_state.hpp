// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the parts of the fake driver share: its objects, its state, and the table of its functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/cuda/fake_driver.hpp"
#include "tests/device/cuda/fake_graphs.hpp"

namespace fake_cuda {

struct context_object {
  int references = 0;
};
struct green_object {
  context_object converted = {};  // what cuCtxFromGreenCtx returns
  unsigned multiprocessors = 0;
  int streams = 0;
};
struct stream_object {
  CUcontext context;
  stream_capture capture = {};
  green_object* green = nullptr;
};
struct event_object {
  CUcontext context;
  bool timed;
  std::uint64_t time_ns;
};

/// Objects of all kinds but primary contexts.
extern std::atomic<int> live;
extern std::atomic<std::uint64_t> clock_ns;
extern context_object primary;
extern thread_local std::vector<CUcontext> stack;  // the current context is the last
extern CUstream global_capture;  // that is captured with the global mode; null: none
extern thread_local CUstreamCaptureMode capture_mode;

inline CUcontext handle_of(context_object& context) {
  return reinterpret_cast<CUcontext>(&context);
}
inline CUcontext current() { return stack.empty() ? nullptr : stack.back(); }
inline stream_object& stream_of(CUstream handle) {
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): each caller has a stream
  return *reinterpret_cast<stream_object*>(handle);
}
inline event_object& event_of(CUevent handle) { return *reinterpret_cast<event_object*>(handle); }
// NOLINTNEXTLINE(performance-no-int-to-ptr): an address is memory of the host here
inline void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Most functions work on the stream's context, which has to be current.
inline CUresult on(CUstream stream) {
  return current() == stream_of(stream).context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
inline CUresult in_any_context() {
  return current() != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// Runs a command, or keeps it where the stream captures.
template <class Command>
CUresult run_on(CUstream stream, const char* kind, Command&& command) {
  if (stream != nullptr && stream_of(stream).capture.is_active()) {
    return stream_of(stream).capture.add(kind, std::forward<Command>(command));
  }
  command();
  return CUDA_SUCCESS;
}

// What ends a capture with the global mode as a failure.
inline CUresult forbidden_by_captures() {
  if (global_capture == nullptr || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_SUCCESS;
  }
  return stream_of(global_capture).capture.invalidate();
}

// What a graph cannot have in it.
inline CUresult run_only_on(CUstream stream) {
  if (stream != nullptr && stream_of(stream).capture.is_active()) {
    return stream_of(stream).capture.invalidate();
  }
  return on(stream);
}

/// How often, and whether it has to fail.
CUresult enter(const char* name);

using table = std::map<std::string, void*, std::less<>>;

// The type is checked here, for the table cannot.
template <class Function>
void add(table& functions, const char* name, Function function) {
  functions[name] = reinterpret_cast<void*>(function);
}

#define ENTER(name) \
  if (const CUresult failure = enter(name); failure != CUDA_SUCCESS) return failure

// Each adds the functions of a subject.
void add_memory(table& functions);
void add_fills(table& functions);
void add_streams(table& functions);
void add_graphs(table& functions);
void add_green_contexts(table& functions);
void add_programs(table& functions);

}  // namespace fake_cuda
