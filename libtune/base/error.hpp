// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The base of all exceptions of libtune. The text is for people: the request, the failure, the
/// device, and the remedy.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The arguments of a call have no meaning (a wrong rank, an unknown name).
class argument_error : public error {
 public:
  using error::error;
};

/// A value has another type than the requested one; the text names both.
class type_error : public argument_error {
 public:
  using argument_error::argument_error;
};

/// An environment variable holds a value that libtune cannot read.
class environment_error : public error {
 public:
  /// @param variable  the name of the variable
  /// @param given     its value
  /// @param expected  the values that libtune can read, in words
  environment_error(std::string variable, const std::string& given, const std::string& expected);

  /// The name of the offending variable.
  const std::string& variable() const noexcept { return variable_; }

 private:
  std::string variable_;
};

/// No device fits the request.
class no_device_error : public error {
 public:
  using error::error;
};

/// The tuning database could not be opened, read or written.
class database_error : public error {
 public:
  using error::error;
};

/// libtune was called in a process that was made by fork, without exec, after the parent used
/// libtune.
class forked_process_error : public error {
 public:
  using error::error;
};

/// The reason for a device's refusal, in the classes that the tuner distinguishes.
enum class device_failure {
  other,           ///< any other reason
  over_limit,      ///< the launch or program needs more than the device has
  out_of_memory,   ///< a buffer could not be allocated
  invalid_launch,  ///< the launch has no meaning (unset argument, indivisible size)
  invalid_binary,  ///< the driver rejects the binary: damaged, or made for another device or driver
  fault,           ///< a kernel failed on the device; every later call in this process fails too
};

/// A call to a device's driver failed.
class device_error : public error {
 public:
  /// @param call     the driver function or libtune step that failed
  /// @param device   the name of the device
  /// @param reason   the driver's error name, and the remedy if it is known
  /// @param failure  the class of failure
  device_error(const std::string& call, std::string device, const std::string& reason,
               device_failure failure = device_failure::other);

  /// The name of the device on which the call failed.
  const std::string& device() const noexcept { return device_; }
  /// The class of failure.
  device_failure failure() const noexcept { return failure_; }

 private:
  std::string device_;
  device_failure failure_;
};

/// A kernel source did not compile.
class build_error : public error {
 public:
  /// @param text  the whole message, the log included
  /// @param log   the compiler's log alone
  build_error(const std::string& text, std::string log);

  /// The output of the compiler.
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

}  // namespace tune
