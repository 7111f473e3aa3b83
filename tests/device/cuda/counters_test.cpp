// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which counters a chip has is known to CUPTI without any device, so the names are tested where it
// is installed.
#include "libtune/extra/sensors/counters.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_device.hpp"

namespace counters_test {

TEST_CASE(
    "chips from Volta to Blackwell have the counters of the report, or CUPTI's absence has a "
    "reason") {
  for (const char* chip : {"GV100", "TU102", "GA100", "AD102", "GH100", "GB100", "GB202"}) {
    CAPTURE(chip);
    try {
      const std::vector<std::string> names = tune::cuda::counter_names(chip);
      const auto stalls = std::ranges::count_if(
          names, [](const std::string& name) { return name.find("_stalled_") != name.npos; });
      CHECK(names.size() - static_cast<std::size_t>(stalls) == 4);
      CHECK(stalls >= 17);
    } catch (const tune::error& absence) {
      const std::string text = absence.what();
      const bool is_told = text.find("CUPTI, which reads the counters") == 0 ||
                           text.find("built without") != text.npos;
      CHECK_MESSAGE(is_told, text);
      return;
    }
  }
  CHECK_THROWS_AS(tune::cuda::counter_names("no chip"), tune::error);
}

TEST_CASE("counters of a device that is not CUDA's are an error") {
  const tune::testing::fake_device fake;
  CHECK_THROWS_AS(tune::cuda::read_counters(fake.device().create_context(), [] {}), tune::error);
}

}  // namespace counters_test
