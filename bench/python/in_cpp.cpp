// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libtune_python_bench: loops in C++ for comparison with python_bench.py's loops through the
// module.
#include <chrono>
#include <memory>
#include <pybind11/pybind11.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "operations/fill/fill.hpp"

namespace py = pybind11;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// Looks up one result with the key n, a whole number, and the tuning x.
class lookups {
 public:
  lookups(const std::string& path, const std::string& name, int device)
      : database_(path, {}, tune::database_access::read_only),
        function_{name, 0, {{"n", tune::value_type::int64}}, {{"x", tune::value_type::int64}}},
        identity_(tune::all_devices().at(static_cast<std::size_t>(device)).identity()) {}

  double run(int count, std::int64_t n) {
    const auto start = clock_type::now();
    for (int i = 0; i < count; ++i) {
      if (!database_.find(function_, {{{"n", n}}, identity_})) {
        throw tune::error("the lookup in C++ finds nothing");
      }
    }
    return seconds_since(start);
  }

 private:
  tune::tuning_database database_;
  tune::function_identity function_;
  tune::device_identity identity_;
};

/// Enqueues one operation.
class launches {
 public:
  launches(int device, std::size_t size)
      : context_(tune::all_devices().at(static_cast<std::size_t>(device)).create_context()),
        queue_(context_.create_command_queue()),
        fill_(tune::operations::fill_template(context_, tune::dtype::float32,
                                              tune::operations::fill_tuning{})
                  .instantiate(queue_, {size})) {
    fill_.run();
    queue_.finish();
  }

  double run(int count) {
    const auto start = clock_type::now();
    for (int i = 0; i < count; ++i) fill_.run();
    const double seconds = seconds_since(start);
    queue_.finish();
    return seconds;
  }

 private:
  tune::context context_;
  tune::command_queue queue_;
  tune::operations::fill fill_;
};

}  // namespace

PYBIND11_MODULE(libtune_python_bench, m) {
  py::class_<lookups>(m, "Lookups")
      .def(py::init<const std::string&, const std::string&, int>())
      .def("run", &lookups::run);
  py::class_<launches>(m, "Launches").def(py::init<int, std::size_t>()).def("run", &launches::run);
}
