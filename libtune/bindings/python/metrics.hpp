// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a program for its operators.
#pragma once

#include "libtune/bindings/python/handles.hpp"

namespace tune::python {

using metrics = owner<libtune_metrics, libtune_metrics_destroy>;
using frame_clock = owner<libtune_frame_clock, libtune_frame_clock_destroy>;

/// Adds the classes Metrics and FrameClock.
inline void define_metrics(py::module_& m) {
  py::class_<metrics>(m, "Metrics")
      .def(py::init([](const std::optional<c_text>& settings) {
        return make<metrics>([&](auto** made) {
          return libtune_metrics_create(settings ? settings->c_str() : nullptr, made);
        });
      }))
      .def("text",
           [](const metrics& of) {
             const char* text = nullptr;
             check(unlocked([&] { return libtune_metrics_text(of.get(), &text); }));
             return std::string(text);
           })
      .def("write", [](const metrics& of) {
        int written = 0;
        check(unlocked([&] { return libtune_metrics_write(of.get(), &written); }));
        return written != 0;
      });
  py::class_<frame_clock>(m, "FrameClock")
      .def(py::init([](const c_text& name, double deadline) {
        return make<frame_clock>(
            [&](auto** made) { return libtune_frame_clock_create(name.c_str(), deadline, made); });
      }))
      .def("begin", [](const frame_clock& of) { check(libtune_frame_clock_begin(of.get())); })
      .def("end", [](const frame_clock& of) { check(libtune_frame_clock_end(of.get())); })
      .def("record", [](const frame_clock& of, double seconds) {
        check(libtune_frame_clock_record(of.get(), seconds));
      });
}

}  // namespace tune::python
