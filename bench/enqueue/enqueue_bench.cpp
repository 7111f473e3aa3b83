// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What enqueueing an operation costs beside the raw API call.
//
// Both launch the same kernel of one work item with three arguments. The raw side is
// clEnqueueNDRangeKernel on a kernel whose arguments have been set once. The other is
// operation::run(): all slots are checked, all arguments set again, and the launch is checked. A
// batch of each is timed in turn, on the host's clock, and the queue is emptied outside the timed
// parts; the order within a pair alternates. What is reported, over all pairs: the median time of
// one enqueue on either side, the median of the pairs' ratios, and the allocations of one run.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "libtune/libtune.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace {

constexpr int batch = 200;
constexpr const char* kernel_text = R"(
KERNEL void touch(GLOBAL float* data, float factor, int offset) { data[offset] *= factor; })";

class touch_operation final : public tune::operation {
 public:
  touch_operation(const tune::command_queue& queue, const tune::program& program)
      : operation(queue),
        kernel_(program.create_kernel("touch")),
        data_(add_slot("data", {16}, tune::dtype::float32)) {}

 private:
  void do_run() override { enqueue(kernel_, {{1}, {1}}, data_, 1.0F, 0); }

  tune::kernel kernel_;
  tune::io_slot& data_;
};

/// The same launch without libtune, on the same kind of device.
class raw_launch {
 public:
  explicit raw_launch(const tune::device& wanted) {
    cl_device_id device = find(wanted);
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device, 0, nullptr);
    const char* text =
        "__kernel void touch(__global float* data, float factor, int offset)"
        "{ data[offset] *= factor; }";
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, nullptr);
    clBuildProgram(program_, 1, &device, "", nullptr, nullptr);
    kernel_ = clCreateKernel(program_, "touch", nullptr);
    data_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
    const float factor = 1.0F;
    const int offset = 0;
    clSetKernelArg(kernel_, 0, sizeof data_, &data_);
    clSetKernelArg(kernel_, 1, sizeof factor, &factor);
    clSetKernelArg(kernel_, 2, sizeof offset, &offset);
  }
  ~raw_launch() {
    clReleaseMemObject(data_);
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  raw_launch(const raw_launch&) = delete;
  raw_launch& operator=(const raw_launch&) = delete;

  bool enqueue() {
    const std::size_t one = 1;
    return clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &one, &one, 0, nullptr, nullptr) ==
           CL_SUCCESS;
  }
  void finish() { clFinish(queue_); }

 private:
  static cl_device_id find(const tune::device& wanted) {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (cl_platform_id platform : platforms) {
      char name[256] = {};
      clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr);
      cl_device_id device = nullptr;
      if (wanted.platform_name() == name &&
          clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
        return device;
      }
    }
    return nullptr;
  }

  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem data_ = nullptr;
};

template <class Enqueue>
double nanoseconds_each(Enqueue&& enqueue) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < batch; ++i) enqueue();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
             .count() /
         batch;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compare_enqueue(benchmark::State& state, const tune::device& device) {
  const tune::context context = device.create_context();
  touch_operation operation(context.create_command_queue(),
                            tune::compile(context, {"touch.kernel", kernel_text}));
  operation.ensure_all_bound();
  raw_launch raw(device);
  const auto run_operation = [&] {
    const double time = nanoseconds_each([&] { operation.run(); });
    operation.queue().finish();
    return time;
  };
  const auto run_raw = [&] {
    const double time = nanoseconds_each([&] {
      if (!raw.enqueue()) state.SkipWithError("the raw enqueue failed");
    });
    raw.finish();
    return time;
  };
  run_operation();  // drivers compile and allocate on the first launches
  run_raw();

  std::vector<double> ours, theirs, ratios;
  bool ours_first = false;
  for (auto _ : state) {
    double one = 0, other = 0;
    if (ours_first) one = run_operation();
    other = run_raw();
    if (!ours_first) one = run_operation();
    ours_first = !ours_first;
    ours.push_back(one);
    theirs.push_back(other);
    ratios.push_back(one / other);
  }
  const tune::testing::allocation_counter allocations;
  operation.run();
  state.counters["allocations"] = static_cast<double>(allocations.count());
  operation.queue().finish();
  state.counters["operation_ns"] = median(ours);
  state.counters["raw_ns"] = median(theirs);
  state.counters["ratio"] = median(ratios);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const tune::device& device : tune::all_devices()) {
    if (device.info().backend != "OpenCL") continue;
    benchmark::RegisterBenchmark(("enqueue/" + device.platform_name()).c_str(), compare_enqueue,
                                 device)
        ->Iterations(300)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
