// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// VkFFT, as a generator of kernels. Its header calls OpenCL; here the names of those functions are
// macros that lead to the recorder below, so that its programs are compiled by tune::compile (with
// the cache of programs and the seal), its tables are buffers of libtune, and its launches are
// written down. What is left of a plan is that list of launches, which run() puts on the queue; the
// application object of VkFFT goes with the construction.
//
// The only file that includes the header, which is large: no other source is compiled with it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <locale.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/queue_interface.hpp"
#include "operations/fft/backend/plan.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
// What the header includes besides, so that it is not included into the namespace.
#include <inttypes.h>
#include <math.h>
#include <memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tune::operations::detail {
namespace {

/// The memory behind a cl_mem.
struct recorded_memory {
  enum class purpose { own, src, dest, scratch, temporary };

  std::size_t bytes = 0;
  purpose used_as = purpose::own;
  std::optional<buffer> memory{};  // own memory has some once it is used
};

/// An argument of a launch: bytes, or memory.
struct recorded_argument {
  std::vector<std::byte> bytes{};
  recorded_memory::purpose used_as = recorded_memory::purpose::own;
  std::optional<buffer> memory{};  // empty for a slot's memory
};

struct recorded_launch {
  std::shared_ptr<kernel> code;
  nd_range range;
  std::vector<recorded_argument> arguments;
};

class recorder;

/// The object behind a cl_program.
struct recorded_program {
  recorder* owner;
  std::string text;
  std::optional<program> built{};
};

/// The object behind a cl_kernel.
struct recorded_kernel {
  struct argument {
    std::vector<std::byte> bytes{};
    recorded_memory* memory = nullptr;
  };
  recorder* owner;
  std::shared_ptr<kernel> code;
  std::vector<argument> arguments{};
};

/// The object behind a cl_device_id, cl_context and cl_command_queue: the making of one plan.
/// Nothing is thrown through VkFFT; the first exception is kept for afterwards.
class recorder {
 public:
  recorder(const command_queue& queue, std::size_t max_work_group, std::size_t local_memory)
      : queue_(queue),
        context_(queue.context()),
        max_work_group_(max_work_group),
        local_memory_(local_memory) {}

  template <class Action>
  cl_int guard(Action&& action) noexcept {
    if (failure_) return CL_INVALID_OPERATION;
    try {
      action();
      return CL_SUCCESS;
    } catch (...) {
      failure_ = std::current_exception();
      return CL_OUT_OF_RESOURCES;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  /// From now on launches are written down, and not run.
  void start() noexcept { recording_ = true; }
  std::vector<recorded_launch> take_launches() noexcept { return std::move(launches_); }
  bool uses(recorded_memory::purpose wanted) const;

  /// The bytes of the memory that launches use besides, and that nothing was written to before.
  std::size_t temporary_bytes() const noexcept { return temporary_bytes_; }

  recorded_memory* create_memory(std::size_t bytes, const void* contents);
  recorded_memory* slot(recorded_memory::purpose used_as, std::size_t bytes);
  void write(recorded_memory& to, const void* from, std::size_t bytes, std::size_t offset);
  void finish() { queue_.finish(); }

  recorded_program* create_program(std::string text);
  void build(recorded_program& of) const {
    of.built = compile(context_, {"VkFFT.kernel", of.text});
  }
  recorded_kernel* create_kernel(const recorded_program& of, const char* name);
  void set_argument(recorded_kernel& target, std::size_t index, std::size_t bytes,
                    const void* value) const;
  void launch(const recorded_kernel& what, const std::size_t* global, const std::size_t* local);

  cl_int describe_device(cl_device_info what, std::size_t bytes, void* value) const noexcept;

 private:
  buffer& own_memory(recorded_memory& of) const;

  command_queue queue_;
  context context_;
  std::size_t max_work_group_;
  std::size_t local_memory_;
  std::exception_ptr failure_;
  bool recording_ = false;
  std::size_t temporary_bytes_ = 0;
  std::vector<std::unique_ptr<recorded_memory>> memory_;
  std::vector<std::unique_ptr<recorded_program>> programs_;
  std::vector<std::unique_ptr<recorded_kernel>> kernels_;
  std::vector<recorded_launch> launches_;
};

buffer& recorder::own_memory(recorded_memory& of) const {
  if (!of.memory) of.memory = context_.create_buffer(of.bytes);
  return *of.memory;
}

recorded_memory* recorder::create_memory(std::size_t bytes, const void* contents) {
  memory_.push_back(std::make_unique<recorded_memory>(recorded_memory{.bytes = bytes}));
  if (contents != nullptr) write(*memory_.back(), contents, bytes, 0);
  return memory_.back().get();
}

recorded_memory* recorder::slot(recorded_memory::purpose used_as, std::size_t bytes) {
  memory_.push_back(
      std::make_unique<recorded_memory>(recorded_memory{.bytes = bytes, .used_as = used_as}));
  return memory_.back().get();
}

void recorder::write(recorded_memory& to, const void* from, std::size_t bytes, std::size_t offset) {
  queue_.write(own_memory(to), from, bytes, offset);
}

recorded_program* recorder::create_program(std::string text) {
  programs_.push_back(std::make_unique<recorded_program>(recorded_program{this, std::move(text)}));
  return programs_.back().get();
}

recorded_kernel* recorder::create_kernel(const recorded_program& of, const char* name) {
  auto code = std::make_shared<kernel>(of.built->create_kernel(name));
  kernels_.push_back(std::make_unique<recorded_kernel>(recorded_kernel{this, std::move(code)}));
  return kernels_.back().get();
}

// Memory and plain values come by the same call; a value is never the address of a live object.
void recorder::set_argument(recorded_kernel& target, std::size_t index, std::size_t bytes,
                            const void* value) const {
  if (target.arguments.size() <= index) target.arguments.resize(index + 1);
  recorded_kernel::argument& argument = target.arguments[index];
  argument = {};
  if (bytes == sizeof(void*)) {
    void* pointer = nullptr;
    std::memcpy(&pointer, value, sizeof pointer);
    for (const auto& item : memory_) {
      if (item.get() == pointer) argument.memory = item.get();
    }
    if (argument.memory != nullptr) return;
  }
  const auto* first = static_cast<const std::byte*>(value);
  argument.bytes.assign(first, first + bytes);
}

void recorder::launch(const recorded_kernel& what, const std::size_t* global,
                      const std::size_t* local) {
  const nd_range range{{global[0], global[1], global[2]}, {local[0], local[1], local[2]}, 0};
  if (!recording_) {
    for (std::size_t i = 0; i < what.arguments.size(); ++i) {
      const recorded_kernel::argument& argument = what.arguments[i];
      if (argument.memory != nullptr) {
        what.code->set_argument(i, own_memory(*argument.memory));
      } else {
        what.code->set_argument(i, std::span<const std::byte>(argument.bytes));
      }
    }
    queue_.enqueue(*what.code, range);
    return;
  }
  recorded_launch made{what.code, range, {}};
  for (const recorded_kernel::argument& argument : what.arguments) {
    recorded_argument& kept = made.arguments.emplace_back();
    kept.bytes = argument.bytes;
    if (argument.memory == nullptr) continue;
    kept.used_as = argument.memory->used_as;
    if (kept.used_as == recorded_memory::purpose::own) {
      // Memory that nothing was written to is the library's scratch.
      if (argument.memory->memory) {
        kept.memory = argument.memory->memory;
      } else {
        kept.used_as = recorded_memory::purpose::temporary;
        temporary_bytes_ = argument.memory->bytes;
      }
    }
  }
  launches_.push_back(std::move(made));
}

bool recorder::uses(recorded_memory::purpose wanted) const {
  return std::ranges::any_of(launches_, [&](const recorded_launch& launch) {
    return std::ranges::any_of(launch.arguments, [&](const recorded_argument& argument) {
      return argument.bytes.empty() && argument.used_as == wanted;
    });
  });
}

// The PCI numbers by which VkFFT tells vendors apart.
cl_uint vendor_of(const device& device) {
  const std::string text = device.platform_name() + " " + device.name();
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (device.kind() == device_kind::cpu) return 0;
  if (has("NVIDIA")) return 0x10DE;
  if (has("AMD") || has("Radeon")) return 0x1002;
  return has("Intel") ? 0x8086 : 0;
}

cl_int recorder::describe_device(cl_device_info what, std::size_t bytes,
                                 void* value) const noexcept {
  const auto give = [&](const auto& number) {
    std::memcpy(value, &number, std::min(bytes, sizeof number));
    return CL_SUCCESS;
  };
  const device_limits& limits = context_.device().limits();
  switch (what) {
    case CL_DEVICE_VENDOR_ID: return give(vendor_of(context_.device()));
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return give(max_work_group_);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return give(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
      std::array<std::size_t, 3> extents{};
      for (std::size_t i = 0; i < 3; ++i) {
        extents[i] = std::min(limits.max_work_group_extent[i], max_work_group_);
      }
      return give(extents);
    }
    case CL_DEVICE_LOCAL_MEM_SIZE: return give(cl_ulong{local_memory_});
    default: return CL_INVALID_VALUE;
  }
}

template <class T, class Handle>
T& behind(Handle handle) noexcept {
  return *reinterpret_cast<T*>(handle);
}

cl_int describe_device(cl_device_id device, cl_device_info what, std::size_t bytes, void* value,
                       std::size_t*) {
  return behind<recorder>(device).describe_device(what, bytes, value);
}

cl_mem create_buffer(cl_context context, cl_mem_flags, std::size_t bytes, void* contents,
                     cl_int* status) {
  auto& made_by = behind<recorder>(context);
  recorded_memory* made = nullptr;
  *status = made_by.guard([&] { made = made_by.create_memory(bytes, contents); });
  return reinterpret_cast<cl_mem>(made);
}

cl_int write_buffer(cl_command_queue queue, cl_mem to, cl_bool, std::size_t offset,
                    std::size_t bytes, const void* from, cl_uint, const cl_event*, cl_event*) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.write(behind<recorded_memory>(to), from, bytes, offset); });
}

cl_command_queue create_queue(cl_context context, cl_device_id, cl_command_queue_properties,
                              cl_int* status) {
  *status = CL_SUCCESS;
  return reinterpret_cast<cl_command_queue>(context);
}

cl_int finish(cl_command_queue queue) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.finish(); });
}

cl_program create_program(cl_context context, cl_uint, const char** text, const std::size_t* length,
                          cl_int* status) {
  auto& by = behind<recorder>(context);
  recorded_program* made = nullptr;
  *status = by.guard([&] { made = by.create_program(std::string(*text, *length)); });
  return reinterpret_cast<cl_program>(made);
}

cl_int build_program(cl_program handle, cl_uint, const cl_device_id*, const char*, void*, void*) {
  auto& built = behind<recorded_program>(handle);
  return built.owner->guard([&] { built.owner->build(built); });
}

// There is no log here: the exception has it.
cl_int no_build_log(cl_program, cl_device_id, cl_program_build_info, std::size_t bytes, void* text,
                    std::size_t* length) {
  if (length != nullptr) *length = 1;
  if (text != nullptr && bytes > 0) *static_cast<char*>(text) = 0;
  return CL_SUCCESS;
}

cl_kernel create_kernel(cl_program handle, const char* name, cl_int* status) {
  auto& built = behind<recorded_program>(handle);
  recorded_kernel* made = nullptr;
  *status = built.owner->guard([&] { made = built.owner->create_kernel(built, name); });
  return reinterpret_cast<cl_kernel>(made);
}

cl_int set_kernel_argument(cl_kernel handle, cl_uint index, std::size_t bytes, const void* value) {
  auto& target = behind<recorded_kernel>(handle);
  return target.owner->guard([&] { target.owner->set_argument(target, index, bytes, value); });
}

cl_int enqueue_kernel(cl_command_queue queue, cl_kernel handle, cl_uint, const std::size_t*,
                      const std::size_t* global, const std::size_t* local, cl_uint, const cl_event*,
                      cl_event*) {
  auto& by = behind<recorder>(queue);
  return by.guard([&] { by.launch(behind<recorded_kernel>(handle), global, local); });
}

// The recorder owns what it made.
template <class Handle>
cl_int keep(Handle) noexcept {
  return CL_SUCCESS;
}

inline char* keep_locale(int, const char*) noexcept { return nullptr; }

// VkFFT's own store of binaries is not used: tune::compile has one.
template <class... Arguments>
cl_int refuse(Arguments...) noexcept {
  return CL_INVALID_OPERATION;
}
cl_program refuse_binary(cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                         const unsigned char**, cl_int*, cl_int* status) noexcept {
  *status = CL_INVALID_OPERATION;
  return nullptr;
}

}  // namespace
}  // namespace tune::operations::detail

#define LIBTUNE_VKFFT(function) ::tune::operations::detail::function
#define clGetDeviceInfo LIBTUNE_VKFFT(describe_device)
#define clCreateBuffer LIBTUNE_VKFFT(create_buffer)
#define clReleaseMemObject LIBTUNE_VKFFT(keep)
#define clEnqueueWriteBuffer LIBTUNE_VKFFT(write_buffer)
#define clCreateCommandQueue LIBTUNE_VKFFT(create_queue)
#define clReleaseCommandQueue LIBTUNE_VKFFT(keep)
#define clFinish LIBTUNE_VKFFT(finish)
#define clCreateProgramWithSource LIBTUNE_VKFFT(create_program)
#define clCreateProgramWithBinary LIBTUNE_VKFFT(refuse_binary)
#define clBuildProgram LIBTUNE_VKFFT(build_program)
#define clGetProgramBuildInfo LIBTUNE_VKFFT(no_build_log)
#define clGetProgramInfo LIBTUNE_VKFFT(refuse)
#define clReleaseProgram LIBTUNE_VKFFT(keep)
#define clCreateKernel LIBTUNE_VKFFT(create_kernel)
#define clReleaseKernel LIBTUNE_VKFFT(keep)
#define clSetKernelArg LIBTUNE_VKFFT(set_kernel_argument)
#define clEnqueueNDRangeKernel LIBTUNE_VKFFT(enqueue_kernel)
// It prints sources that do not compile, and sets the locale of the whole process.
#define printf(...) static_cast<void>(0)
#define setlocale LIBTUNE_VKFFT(keep_locale)
#define VKFFT_BACKEND 3

namespace vkfft {
#include <vkFFT.h>
}  // namespace vkfft

#undef printf
#undef setlocale

namespace tune::operations::detail {
namespace {

/// Numbers in kernel text have a point on this thread, whatever the locale of the process.
class [[nodiscard]] plain_numbers {
 public:
  plain_numbers()
      : plain_(::newlocale(LC_ALL_MASK, "C", nullptr)),
        before_(::uselocale(plain_)) {}  // null leaves it
  plain_numbers(const plain_numbers&) = delete;
  plain_numbers& operator=(const plain_numbers&) = delete;
  ~plain_numbers() {
    ::uselocale(before_);
    if (plain_ != nullptr) ::freelocale(plain_);
  }

 private:
  locale_t plain_;
  locale_t before_;
};

/// VkFFT's object. A failed initialisation has deleted what it had.
class application {
 public:
  application() = default;
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  ~application() {
    if (initialised_) vkfft::deleteVkFFT(&object_);
  }

  vkfft::VkFFTResult initialise(const vkfft::VkFFTConfiguration& configuration) {
    const vkfft::VkFFTResult result = vkfft::initializeVkFFT(&object_, configuration);
    initialised_ = result == vkfft::VKFFT_SUCCESS;
    return result;
  }
  vkfft::VkFFTApplication& get() noexcept { return object_; }

 private:
  vkfft::VkFFTApplication object_{};
  bool initialised_ = false;
};

const char* meaning_of(vkfft::VkFFTResult result) {
  switch (result) {
    case vkfft::VKFFT_ERROR_UNSUPPORTED_RADIX:
    case vkfft::VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH: return "it does not do this length";
    case vkfft::VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C:
      return "it does real transforms of odd length only as long as one fits in local memory; pad "
             "the data, or transform it as complex numbers";
    default: return "see VkFFTResult in vkFFT.h";
  }
}

[[noreturn]] void throw_refused(const fft_geometry& geometry, const command_queue& queue,
                                const std::string& reason) {
  throw device_error("VkFFT for an FFT, " + to_string(geometry), queue.device().name(), reason);
}

[[noreturn]] void throw_failure(vkfft::VkFFTResult result, const fft_geometry& geometry,
                                const command_queue& queue) {
  throw_refused(geometry, queue,
                fmt::format("error {}: {}", static_cast<int>(result), meaning_of(result)));
}

std::size_t real_bytes(const fft_geometry& geometry) {
  return geometry.precision == fft_precision::full ? 8 : 4;
}

/// The transformed axes that have more than one element, fastest first: VkFFT refuses others.
std::vector<std::size_t> long_axes(const fft_geometry& geometry) {
  std::vector<std::size_t> kept;
  for (std::size_t axis = geometry.axes; axis-- > 0;) {
    if (geometry.size.at(axis) > 1) kept.push_back(axis);
  }
  return kept;
}

/// The strides of an array as VkFFT counts them, from the second axis on, and its bytes.
struct placed {
  placed(const std::array<std::size_t, 3>& padded, const fft_geometry& geometry,
         std::size_t element_bytes) {
    std::array<std::uint64_t, 3> steps{};
    std::uint64_t step = 1;
    for (std::size_t axis = geometry.axes; axis-- > 0;) {
      steps.at(axis) = step;
      step *= padded.at(axis);
    }
    strides.fill(step);
    const std::vector<std::size_t> axes = long_axes(geometry);
    for (std::size_t i = 1; i < axes.size(); ++i) strides.at(i - 1) = steps.at(axes[i]);
    is_dense = !axes.empty() && steps.at(axes.front()) == 1;
    bytes = step * geometry.batch * element_bytes;
  }

  std::array<std::uint64_t, 3> strides{};
  std::uint64_t bytes = 0;
  bool is_dense = false;  // the elements of the fastest of these axes follow each other
};

template <class Strides>
void copy_strides(const placed& from, Strides& to) {
  std::ranges::copy(from.strides, std::begin(to));
}

// Work groups of CPUs take their private memory from the stack of a thread, and their local memory
// from caches that are smaller than what drivers tell.
constexpr std::size_t most_items_on_cpu = 256;
constexpr std::size_t most_local_bytes_on_cpu = std::size_t{32} << 10;

recorder make_recorder(const command_queue& queue) {
  const device device = queue.device();
  std::size_t items = device.limits().max_work_group_size;
  std::size_t bytes = device.limits().local_memory_bytes;
  if (device.kind() == device_kind::cpu) {
    items = std::min(items, most_items_on_cpu);
    bytes = std::min(bytes, most_local_bytes_on_cpu);
  }
  return {queue, items, bytes};
}

/// The launches of one transform.
class vkfft_plan final : public fft_plan {
 public:
  vkfft_plan(const command_queue& queue, const fft_geometry& geometry, const fft_tuning& tuning);

 private:
  using purpose = recorded_memory::purpose;

  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override;
  const buffer& memory_of(purpose used_as, const buffer& src, const buffer& dest) const;
  void divide(command_queue& queue, const buffer& work);

  std::vector<recorded_launch> launches_;
  bool copies_src_ = false;  // to the scratch, which has its layout
  std::size_t scratch_bytes_ = 0;
  std::size_t temporary_bytes_ = 0;
  std::size_t temporary_begin_ = 0;
  std::optional<buffer> work_{};  // that the two parts are of
  std::optional<buffer> scratch_{};
  std::optional<buffer> temporary_{};
};

vkfft::VkFFTConfiguration configuration_of(const fft_geometry& geometry, const fft_tuning& tuning) {
  vkfft::VkFFTConfiguration wanted{};
  const std::vector<std::size_t> axes = long_axes(geometry);
  wanted.FFTdim = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) wanted.size[i] = geometry.size.at(axes[i]);
  wanted.numberBatches = geometry.batch;
  wanted.doublePrecision = geometry.precision == fft_precision::full ? 1 : 0;
  wanted.performR2C = geometry.kind != fft_kind::c2c ? 1 : 0;
  wanted.makeForwardPlanOnly = geometry.is_inverse() ? 0 : 1;
  wanted.makeInversePlanOnly = geometry.is_inverse() ? 1 : 0;
  wanted.isInputFormatted = 1;
  wanted.useLUT = tuning.lut ? 1 : 0;
  wanted.aimThreads = tuning.threads;
  wanted.coalescedMemory = tuning.coalesced_bytes;
  wanted.registerBoost = tuning.register_boost;
  wanted.performBandwidthBoost = tuning.bandwidth_boost;
  wanted.swapTo3Stage4Step = tuning.three_steps_from;
  return wanted;
}

vkfft_plan::vkfft_plan(const command_queue& queue, const fft_geometry& geometry,
                       const fft_tuning& tuning) {
  recorder by = make_recorder(queue);
  auto device = reinterpret_cast<cl_device_id>(&by);
  auto context = reinterpret_cast<cl_context>(&by);
  auto commands = reinterpret_cast<cl_command_queue>(&by);
  vkfft::VkFFTConfiguration wanted = configuration_of(geometry, tuning);
  wanted.device = &device;
  wanted.context = &context;

  const std::size_t real = real_bytes(geometry);
  const bool to_real = geometry.kind == fft_kind::c2r;
  const placed src(geometry.padded_src, geometry, geometry.kind == fft_kind::r2c ? real : 2 * real);
  const placed dest(geometry.padded_dest, geometry, to_real ? real : 2 * real);
  // VkFFT computes in "buffer". That is dest, unless dest is real: then it is of its own.
  const placed& middle = to_real ? src : dest;
  const bool is_real = geometry.kind != fft_kind::c2c;
  if (!src.is_dense || !dest.is_dense || (is_real && geometry.size.at(geometry.axes - 1) == 1)) {
    throw_refused(geometry, queue,
                  "the last axis that is transformed has one element; leave it out of the "
                  "transformed axes");
  }
  copy_strides(src, wanted.inputBufferStride);
  copy_strides(middle, wanted.bufferStride);
  copy_strides(dest, wanted.outputBufferStride);
  std::uint64_t src_bytes = src.bytes;
  std::uint64_t dest_bytes = dest.bytes;
  std::uint64_t middle_bytes = middle.bytes;
  wanted.inputBufferSize = &src_bytes;
  wanted.outputBufferSize = &dest_bytes;
  wanted.bufferSize = &middle_bytes;
  wanted.isOutputFormatted = to_real ? 1 : 0;

  const plain_numbers locale;
  application made;
  const vkfft::VkFFTResult initialised = made.initialise(wanted);
  by.rethrow();
  if (initialised != vkfft::VKFFT_SUCCESS) throw_failure(initialised, geometry, queue);
  const vkfft::VkFFTPlan* const plan =
      geometry.is_inverse() ? made.get().localFFTPlan_inverse : made.get().localFFTPlan;
  const auto& padded_real =
      geometry.kind == fft_kind::r2c ? geometry.padded_src : geometry.padded_dest;
  if (plan->multiUploadR2C && padded_real.at(geometry.axes - 1) % 2 != 0) {
    throw_refused(geometry, queue,
                  "lines of real numbers that are longer than local memory have to be padded to "
                  "an even number of elements");
  }

  by.start();
  auto handle_of = [&](purpose used_as, std::size_t bytes) {
    return reinterpret_cast<cl_mem>(by.slot(used_as, bytes));
  };
  cl_mem input = handle_of(purpose::src, src.bytes);
  cl_mem output = handle_of(purpose::dest, dest.bytes);
  cl_mem computed = to_real ? handle_of(purpose::scratch, middle.bytes) : output;
  vkfft::VkFFTLaunchParams launch{};
  launch.commandQueue = &commands;
  launch.inputBuffer = &input;
  launch.outputBuffer = &output;
  launch.buffer = &computed;
  const vkfft::VkFFTResult appended =
      vkfft::VkFFTAppend(&made.get(), geometry.is_inverse() ? 1 : -1, &launch);
  by.rethrow();
  if (appended != vkfft::VKFFT_SUCCESS) throw_failure(appended, geometry, queue);

  if (by.uses(purpose::scratch)) scratch_bytes_ = middle.bytes;
  // Long lines of real numbers are taken back from "buffer", whatever the input is.
  copies_src_ = !by.uses(purpose::src);
  temporary_bytes_ = by.temporary_bytes();
  temporary_begin_ = round_up(scratch_bytes_, queue.device().limits().buffer_alignment_bytes);
  set_work_bytes(temporary_bytes_ > 0 ? temporary_begin_ + temporary_bytes_ : scratch_bytes_);
  launches_ = by.take_launches();
  by.finish();
}

void vkfft_plan::divide(command_queue& queue, const buffer& work) {
  if (work_ && work_->impl() == work.impl()) return;
  const tune::context context = queue.context();
  if (scratch_bytes_ > 0) scratch_ = context.create_sub_buffer(work, 0, scratch_bytes_);
  if (temporary_bytes_ > 0) {
    temporary_ = context.create_sub_buffer(work, temporary_begin_, temporary_bytes_);
  }
  work_ = work;
}

const buffer& vkfft_plan::memory_of(purpose used_as, const buffer& src, const buffer& dest) const {
  switch (used_as) {
    case purpose::src: return src;
    case purpose::scratch: return *scratch_;
    case purpose::temporary: return *temporary_;
    default: return dest;
  }
}

void vkfft_plan::do_run(command_queue& queue, const buffer& src, const buffer& dest,
                        const buffer* work) {
  if (work != nullptr) divide(queue, *work);
  if (copies_src_) {
    queue.impl()->copy({.source = {.buffer = src.impl().get()},
                        .destination = {.buffer = scratch_->impl().get()},
                        .row_bytes = scratch_bytes_});
  }
  for (recorded_launch& launch : launches_) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const recorded_argument& argument = launch.arguments[i];
      if (!argument.bytes.empty()) {
        launch.code->set_argument(i, std::span<const std::byte>(argument.bytes));
      } else {
        launch.code->set_argument(
            i, argument.memory ? *argument.memory : memory_of(argument.used_as, src, dest));
      }
    }
    queue.enqueue(*launch.code, launch.range);
  }
}

}  // namespace

std::string vkfft_absence() { return {}; }

std::shared_ptr<fft_plan> make_vkfft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning) {
  return std::make_shared<vkfft_plan>(queue, geometry, tuning);
}

}  // namespace tune::operations::detail
