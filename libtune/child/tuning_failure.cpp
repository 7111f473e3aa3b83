// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/tuning_failure.hpp"

#include <utility>

#include "libtune/tune/error.hpp"

namespace tune::detail {

std::string cut(std::string text) {
  constexpr std::size_t longest = std::size_t{1} << 24;
  if (text.size() > longest) text.resize(longest);
  return text;
}

tuning_failure describe_failure(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const tuning_failed_error& failure) {
    return {failure_kind::tuning_failed, cut(failure.what()), {}};
  } catch (const empty_space_error& failure) {
    return {failure_kind::empty_space, cut(failure.what()), {}};
  } catch (const too_little_memory_error& failure) {
    return {failure_kind::too_little_memory, cut(failure.what()), {}};
  } catch (const build_error& failure) {
    return {failure_kind::build, cut(failure.what()), cut(failure.log())};
  } catch (const type_error& failure) {
    return {failure_kind::type, cut(failure.what()), {}};
  } catch (const argument_error& failure) {
    return {failure_kind::argument, cut(failure.what()), {}};
  } catch (const no_device_error& failure) {
    return {failure_kind::no_device, cut(failure.what()), {}};
  } catch (const std::exception& failure) {
    return {failure_kind::other, cut(failure.what()), {}};
  } catch (...) {
    return {failure_kind::other, "something that is not a std::exception was thrown", {}};
  }
}

void throw_failure(const tuning_failure& failure, const tuning_subject& subject,
                   const std::vector<trial>& trials) {
  switch (failure.kind) {
    case failure_kind::argument: throw argument_error(failure.text);
    case failure_kind::type: throw type_error(failure.text);
    case failure_kind::no_device: throw no_device_error(failure.text);
    case failure_kind::build: throw build_error(failure.text, failure.log);
    case failure_kind::empty_space: throw empty_space_error(failure.text);
    case failure_kind::too_little_memory: throw too_little_memory_error(failure.text);
    case failure_kind::tuning_failed: throw tuning_failed_error(subject, trials);
    case failure_kind::other: break;
  }
  throw error(failure.text);
}

}  // namespace tune::detail
