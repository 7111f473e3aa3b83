// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bench {

/// A launch of the kernel "touch" by the API alone, with its arguments set beforehand.
class raw_launch {
 public:
  raw_launch() = default;
  virtual ~raw_launch() = default;
  raw_launch(const raw_launch&) = delete;
  raw_launch& operator=(const raw_launch&) = delete;

  /// Returns true if it was accepted.
  virtual bool enqueue() = 0;
  virtual void finish() = 0;
};

}  // namespace bench
