# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Builds the recipe with Debian's packages instead of those of a server of Conan, which is not asked then. Each line
# names an upstream version of Debian 12; other distributions have others, which these lines have to say.
#
#   conan create packaging/conan --version 1.0.0 --profile:all packaging/conan/debian.profile
[settings]
os=Linux
arch=x86_64
compiler=gcc
compiler.version=12
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Release

[platform_requires]
boost/1.74.0
cli11/2.1.2
fmt/9.1.0
nlohmann_json/3.11.2
opencl-clhpp-headers/2023.02.06
opencl-icd-loader/2023.02.06
openssl/3.0.19
spdlog/1.10.0
sqlite3/3.40.1
sqlitecpp/3.2.1
zlib/1.2.13

[conf]
# Several sources at once, as the packages of Debian are compiled.
tools.cmake.cmaketoolchain:extra_variables={"CMAKE_UNITY_BUILD": "ON"}
