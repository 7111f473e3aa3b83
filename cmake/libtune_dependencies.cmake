# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Everything comes from the system's packages; nothing is downloaded.
find_package(Boost 1.74 REQUIRED)
find_package(OpenCL REQUIRED)
find_package(OpenCLHeaders REQUIRED)
find_package(OpenCLHeadersCpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Threads REQUIRED)

if(LIBTUNE_BUILD_EXAMPLES)
  find_package(CLI11 REQUIRED)
endif()
if(LIBTUNE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
find_package(doctest REQUIRED)
