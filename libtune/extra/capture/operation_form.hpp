// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <typeinfo>

#include "libtune/extra/capture/captured_frame.hpp"
#include "libtune/operation/operation.hpp"

namespace tune::detail {

/// The name of a class in C++, as in captured_operation_form::type.
std::string class_name(const std::type_info& type);

/// The present form of an operation, with its children and the slots that they share.
captured_operation_form form_of(const operation& of);

}  // namespace tune::detail
