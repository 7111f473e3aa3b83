// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/error.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "libtune/base/error.hpp"

namespace tune::opencl {
namespace {

struct known_error {
  cl_int code;
  std::string_view name;
  device_failure failure = device_failure::other;
  std::string_view remedy = {};
};

constexpr std::string_view smaller_launch =
    "the launch asks for more than the device has; choose a smaller work group or use less local "
    "memory";
constexpr std::string_view free_memory = "free other buffers or use smaller ones";
constexpr std::string_view set_all = "set every argument, each with the size the kernel declares";

constexpr std::array errors{
    known_error{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    known_error{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    known_error{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    known_error{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                device_failure::out_of_memory, free_memory},
    known_error{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", device_failure::over_limit,
                smaller_launch},
    known_error{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", device_failure::out_of_memory,
                free_memory},
    known_error{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE",
                device_failure::other, "create the command queue with profiling"},
    known_error{CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP"},
    known_error{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    known_error{CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    known_error{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    known_error{CL_LINKER_NOT_AVAILABLE, "CL_LINKER_NOT_AVAILABLE"},
    known_error{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    known_error{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    known_error{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    known_error{CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    known_error{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    known_error{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    known_error{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    known_error{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    known_error{CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    known_error{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    known_error{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", device_failure::other,
                "the program has no kernel of this name"},
    known_error{CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION"},
    known_error{CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    known_error{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX", device_failure::invalid_launch,
                "the kernel has fewer arguments"},
    known_error{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", device_failure::invalid_launch},
    known_error{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", device_failure::invalid_launch,
                "the argument's size is not what the kernel declares"},
    known_error{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", device_failure::invalid_launch,
                set_all},
    known_error{CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION",
                device_failure::invalid_launch},
    known_error{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE",
                device_failure::over_limit, smaller_launch},
    known_error{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE", device_failure::over_limit,
                smaller_launch},
    known_error{CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET"},
    known_error{CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
    known_error{CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    known_error{CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    known_error{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", device_failure::out_of_memory,
                "the device allows no buffer of this size"},
    known_error{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE",
                device_failure::invalid_launch},
    known_error{CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY"},
    known_error{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

const known_error* find(cl_int code) {
  const auto found = std::find_if(errors.begin(), errors.end(),
                                  [code](const known_error& item) { return item.code == code; });
  return found == errors.end() ? nullptr : &*found;
}

}  // namespace

std::string error_name(cl_int code) {
  const known_error* known = find(code);
  return known != nullptr ? std::string(known->name) : fmt::format("OpenCL error {}", code);
}

void throw_error(cl_int code, const std::string& call, const device_info& device) {
  const known_error* known = find(code);
  std::string reason = error_name(code);
  if (known != nullptr && !known->remedy.empty()) reason += fmt::format(" ({})", known->remedy);
  throw device_error(call, device.identity.name, reason,
                     known != nullptr ? known->failure : device_failure::other);
}

}  // namespace tune::opencl
