// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/queue.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "libtune/base/seal.hpp"
#include "libtune/device/cuda/fill.hpp"
#include "libtune/device/cuda/memory.hpp"
#include "libtune/device/cuda/program.hpp"

namespace tune::cuda {
namespace {

// Several times the host's time for enqueueing two events and a launch.
constexpr std::chrono::microseconds delay_length{20};

constexpr const char* delay_name = "delay.kernel";

program_source delay_source() {
  return {.name = delay_name,
          .text = R"(
extern "C" __global__ void delay(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
})",
          .options = {}};
}

long long cycles_of(const device_limits& limits) {
  constexpr long long usual_clock_khz = 1'500'000;
  const auto known = static_cast<long long>(limits.clock_khz);
  return (known > 0 ? known : usual_clock_khz) * delay_length.count() / 1000;
}

std::vector<std::byte> compile_delay(const cuda_context& context) {
  return context.cuda().compiler().compile_to_cubin(delay_source(),
                                                    *context.info().hardware.compute_capability);
}

}  // namespace

delay_kernel::delay_kernel(const cuda_context& context)
    : context_(context),
      library_(context, delay_name, compile_delay(context)),
      kernel_(library_.kernel("delay").handle),
      cycles_(cycles_of(context.info().limits)) {}

CUresult delay_kernel::launch(CUstream stream) const {
  long long cycles = cycles_;
  std::array<void*, 1> arguments{&cycles};
  return context_.api().launch_kernel(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 1, 1, 1, 0,
                                      stream, arguments.data(), nullptr);
}

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

// Relaxed, so that the driver does not refuse memory that enqueue() releases or allocates: that is
// not part of the graph, which keeps its own memory alive. Commands that cannot be captured are
// refused before they reach the driver.
void begin_capture(const cuda_context& context, CUstream stream) {
  const auto entered = context.enter();
  context.check(context.api().capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                "cuStreamBeginCapture");
}

// Larger counts exceed every limit; a conversion must not turn them into valid ones.
unsigned count(std::size_t value) noexcept {
  constexpr std::size_t most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(value < most ? value : most);
}

// Most launches have one or two axes, and division is the most expensive part of this code.
unsigned groups(std::size_t global, std::size_t local) noexcept {
  return count(local == 1 ? global : global / local);
}

// The first driver that captures early launches in graphs, in CUDA's form, and the first compute
// capability that supports them.
constexpr int early_launch_driver = 12030;
constexpr int early_launch_generation = 9;

bool launches_early(const cuda_context& context) noexcept {
  const auto& capability = context.info().hardware.compute_capability;
  return capability && capability->major >= early_launch_generation &&
         context.api().version >= early_launch_driver;
}

CUresult launch_on(const cuda_context& context, cuda_kernel& kernel, const nd_range& range,
                   CUstream stream) {
  const driver_api& api = context.api();
  const work_size& global = range.global;
  const work_size& local = range.local;
  const bool begins_early = range.begins_early && launches_early(context);
  if (range.cluster > 1 || begins_early) {
    std::array<CUlaunchAttribute, 2> attributes{};
    unsigned used = 0;
    if (range.cluster > 1) {
      CUlaunchAttribute& cluster = attributes[used++];
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim.x = count(range.cluster);
      cluster.value.clusterDim.y = 1;
      cluster.value.clusterDim.z = 1;
    }
    if (begins_early) {
      CUlaunchAttribute& early = attributes[used++];
      early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      early.value.programmaticStreamSerializationAllowed = 1;
    }
    CUlaunchConfig config{};
    config.gridDimX = groups(global.x, local.x);
    config.gridDimY = groups(global.y, local.y);
    config.gridDimZ = groups(global.z, local.z);
    config.blockDimX = count(local.x);
    config.blockDimY = count(local.y);
    config.blockDimZ = count(local.z);
    config.sharedMemBytes = count(range.local_memory_bytes);
    config.hStream = stream;
    config.attrs = attributes.data();
    config.numAttrs = used;
    return api.launch_kernel_with(&config, kernel.handle(), kernel.arguments(), nullptr);
  }
  return api.launch_kernel(kernel.handle(), groups(global.x, local.x), groups(global.y, local.y),
                           groups(global.z, local.z), count(local.x), count(local.y),
                           count(local.z), count(range.local_memory_bytes), stream,
                           kernel.arguments(), nullptr);
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
    // The capture may have failed already; the pending exception has the reason.
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

cuda_queue::cuda_queue(const std::shared_ptr<cuda_context>& context, CUstream handle,
                       ownership owner, detail::queue_settings settings)
    : queue_interface(context, settings),
      handle_(handle),
      ownership_(owner),
      is_default_(handle == nullptr || handle == CU_STREAM_LEGACY ||
                  handle == CU_STREAM_PER_THREAD) {
  context->add_stream(handle_);
}

// Commands under way may use kernels and buffers that are released next.
cuda_queue::~cuda_queue() {
  if (!detail::is_forked()) cuda().remove_stream(handle_);
  if (ownership_ == ownership::borrowed) return;
  const driver_api& api = cuda().api();
  cuda().release("a command queue", [&] {
    const CUresult finished = api.stream_synchronize(handle_);
    const CUresult destroyed = api.stream_destroy(handle_);
    return finished != CUDA_SUCCESS ? finished : destroyed;
  });
}

std::shared_ptr<cuda_event> cuda_queue::make_event(bool is_marker) {
  return detail::make_event<cuda_event>(events_, std::static_pointer_cast<cuda_context>(context()),
                                        profiling(), is_marker);
}

template <class Command>
cuda_queue::event_pointer cuda_queue::timed(Command&& command) {
  auto event = make_event(false);
  const delay_kernel* lead = profiling() ? cuda().timing_delay() : nullptr;
  if (lead != nullptr) cuda().check(lead->launch(handle_), "launch of the timing kernel");
  event->record_start(handle_);
  command();
  event->record_end(handle_);
  return event;
}

// A kernel, unlike a function of a module, takes its context from the stream, so no context has to
// be current. The default streams are the exception, because they do not determine a context.
void cuda_queue::do_launch(detail::kernel_interface& kernel, const nd_range& range,
                           event_pointer* event) {
  auto& launched = static_cast<cuda_kernel&>(kernel);
  launched.allow_dynamic_local_memory(range.local_memory_bytes);
  const auto run = [&] {
    const CUresult status = launch_on(cuda(), launched, range, handle_);
    if (status != CUDA_SUCCESS) throw_launch_error(status, launched, range);
  };
  if (event == nullptr && !is_default_) {
    run();
    return;
  }
  const auto entered = cuda().enter();
  if (event != nullptr) {
    *event = timed(run);
  } else {
    run();
  }
}

void cuda_queue::do_copy(const detail::copy_request& request, std::vector<event_pointer>* events) {
  const auto entered = cuda().enter();
  const auto run = [&] { enqueue_copy(cuda(), handle_, request); };
  if (events != nullptr) {
    events->push_back(timed(run));
    return;
  }
  run();
  const bool has_host = request.source.buffer == nullptr || request.destination.buffer == nullptr;
  if (request.blocking && has_host) {
    cuda().check(cuda().api().stream_synchronize(handle_), "cuStreamSynchronize");
  }
}

void cuda_queue::do_fill(const detail::buffer_interface& buffer, const fill_region& region,
                         std::span<const std::byte> pattern, event_pointer* event) {
  const auto entered = cuda().enter();
  const auto& filled = static_cast<const cuda_buffer&>(buffer);
  const auto run = [&] { enqueue_fill(cuda(), handle_, filled, region, pattern); };
  if (event != nullptr) {
    *event = timed(run);
  } else {
    run();
  }
}

void cuda_queue::do_enqueue_foreign(const std::function<void()>& enqueue, event_pointer* event) {
  const auto entered = cuda().enter();
  if (event != nullptr) {
    *event = timed(enqueue);
  } else {
    enqueue();
  }
}

cuda_queue::event_pointer cuda_queue::do_mark() {
  const auto entered = cuda().enter();
  auto event = make_event(true);
  event->record_end(handle_);
  return event;
}

void cuda_queue::do_wait_for(std::span<const event_pointer> events) {
  if (events.empty()) return;
  const auto entered = cuda().enter();
  for (const event_pointer& event : events) {
    cuda().check(
        cuda().api().stream_wait_event(handle_, static_cast<const cuda_event&>(*event).end(), 0),
        "cuStreamWaitEvent");
  }
}

// On Linux enqueued commands are submitted immediately; elsewhere a query submits them.
void cuda_queue::do_flush() {
  const auto entered = cuda().enter();
  const CUresult status = cuda().api().stream_query(handle_);
  if (status != CUDA_ERROR_NOT_READY) cuda().check(status, "cuStreamQuery");
}

void cuda_queue::do_finish() {
  const auto entered = cuda().enter();
  cuda().check(cuda().api().stream_synchronize(handle_), "cuStreamSynchronize");
}

namespace {

// Hides a stream from do_find_capture: captures by libtune do not affect other threads that tune.
class [[nodiscard]] unseen_stream {
 public:
  unseen_stream(cuda_context& context, CUstream stream) : context_(context), stream_(stream) {
    context_.remove_stream(stream_);
  }
  ~unseen_stream() { context_.add_stream(stream_); }
  unseen_stream(const unseen_stream&) = delete;
  unseen_stream& operator=(const unseen_stream&) = delete;

 private:
  cuda_context& context_;
  CUstream stream_;
};

}  // namespace

// The driver cannot capture the legacy default stream.
bool cuda_queue::do_capture(std::shared_ptr<detail::graph_interface>& graph,
                            const std::function<void()>& enqueue) {
  if (handle_ == nullptr || handle_ == CU_STREAM_LEGACY) return false;
  if (graph == nullptr) check_new_graph();
  const unseen_stream not_the_applications(cuda(), handle_);
  const captured_graph captured(cuda(), handle_, enqueue);
  if (graph != nullptr) {
    static_cast<cuda_graph&>(*graph).replace(captured);
  } else {
    graph =
        std::make_shared<cuda_graph>(std::static_pointer_cast<cuda_context>(context()), captured);
  }
  static_cast<cuda_graph&>(*graph).upload(handle_);
  return true;
}

void cuda_queue::launch_graph(CUgraphExec graph, event_pointer* event) {
  const auto entered = cuda().enter();
  const auto run = [&] {
    cuda().check(cuda().api().graph_launch(graph, handle_), "cuGraphLaunch");
  };
  if (event != nullptr) {
    *event = timed(run);
  } else {
    run();
  }
}

}  // namespace tune::cuda
