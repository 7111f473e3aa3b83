// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of running pipelines in files.
#pragma once

#include "libtune/bindings/python/handles.hpp"

namespace tune::python {

using capture = owner<libtune_capture, libtune_capture_destroy>;

/// A frame that has begun; it ends with this object at the latest. Its capture outlives it.
class begun_frame {
 public:
  explicit begun_frame(const capture& of) : of_(of.get()) {
    check(libtune_capture_begin(of_, &frame_));
  }
  ~begun_frame() { libtune_capture_end(of_, frame_); }
  begun_frame(const begun_frame&) = delete;
  begun_frame& operator=(const begun_frame&) = delete;

  bool is_captured() const noexcept { return frame_ != nullptr; }
  void run(std::size_t point) const {
    check(unlocked([&] { return libtune_capture_run(of_, point, frame_); }));
  }
  void end() { check(libtune_capture_end(of_, std::exchange(frame_, nullptr))); }

 private:
  libtune_capture* of_;
  libtune_frame* frame_ = nullptr;
};

inline std::size_t add_to_capture(const capture& to, const c_text& name, const operation& of,
                                  const std::vector<c_text>& unchanged,
                                  const std::vector<c_text>& overwritten) {
  const auto pointers = [](const std::vector<c_text>& texts) {
    std::vector<const char*> made;
    for (const c_text& each : texts) made.push_back(each.c_str());
    return made;
  };
  const auto read = pointers(unchanged);
  const auto written = pointers(overwritten);
  std::size_t point = 0;
  check(libtune_capture_add(to.get(), name.c_str(), of.get(), read.data(), read.size(),
                            written.data(), written.size(), &point));
  return point;
}

/// Adds the classes Capture and Frame.
inline void define_captures(py::module_& m) {
  py::class_<capture>(m, "Capture")
      .def(py::init([](const c_text& name, const std::optional<c_text>& settings) {
        return make<capture>([&](auto** made) {
          return libtune_capture_create(name.c_str(), settings ? settings->c_str() : nullptr, made);
        });
      }))
      .def("add", add_to_capture)
      .def("prepare",
           [](const capture& of) {
             check(unlocked([&] { return libtune_capture_prepare(of.get()); }));
           })
      .def(
          "begin", [](const capture& of) { return std::make_unique<begun_frame>(of); },
          py::keep_alive<0, 1>())
      .def("request",
           [](const capture& of, std::uint64_t frames) {
             check(libtune_capture_request(of.get(), frames));
           })
      .def("wait",
           [](const capture& of, double seconds) {
             int written = 0;
             check(unlocked([&] { return libtune_capture_wait(of.get(), seconds, &written); }));
             return written != 0;
           })
      .def("counts", [](const capture& of) {
        const libtune_named_value* counts = nullptr;
        std::size_t count = 0;
        check(libtune_capture_counts(of.get(), &counts, &count));
        return to_dict(counts, count);
      });
  py::class_<begun_frame>(m, "Frame")
      .def_property_readonly("is_captured", &begun_frame::is_captured)
      .def("run", &begun_frame::run)
      .def("end", &begun_frame::end);
}

}  // namespace tune::python
