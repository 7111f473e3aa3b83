# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir


# Each library libtune_<name> and the libraries of libtune that it links. The test tree.recipes compares them with
# those of CMake.
COMPONENTS = {
    "ahead": ["child", "console", "maintenance", "shared"],
    "bare": [],
    "behind": ["child"],
    "capture": ["child"],
    "child": [],
    "console": [],
    "deadline": ["bare"],
    "formats": ["bare", "maintenance"],
    "live": ["behind"],
    "maintenance": [],
    "metrics": ["behind"],
    "operations": ["bare", "ranged"],
    "pipeline": [],
    "ranged": [],
    "ready": [],
    "sensors": [],
    "sequence": ["bare"],
    "shared": ["maintenance"],
    "simulate": ["formats", "maintenance"],
    "telescope": ["operations"],
}
# The libraries of others that the core needs, of which neighbours need some, too.
OTHERS = ["boost::headers", "fmt::fmt", "nlohmann_json::nlohmann_json", "opencl-clhpp-headers::opencl-clhpp-headers",
          "opencl-icd-loader::opencl-icd-loader", "openssl::crypto", "spdlog::spdlog", "sqlite3::sqlite3",
          "sqlitecpp::sqlitecpp", "zlib::zlib"]


class Libtune(ConanFile):
    name = "libtune"
    license = "BSD-3-Clause"
    description = "Embedded runtime autotuning for CUDA and OpenCL"
    topics = ("autotuning", "cuda", "opencl", "gpu")
    settings = "os", "compiler", "build_type", "arch"
    package_type = "library"
    options = {"shared": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "tools": True, "boost/*:header_only": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "libtune/*", "operations/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]", transitive_headers=True)
        self.requires("fmt/[>=9]")
        self.requires("nlohmann_json/[>=3.11]")
        self.requires("opencl-clhpp-headers/[>=2022.09.30]")
        self.requires("opencl-icd-loader/[>=2022.09.30]")
        self.requires("openssl/[>=3 <4]")
        self.requires("spdlog/[>=1.10]")
        self.requires("sqlite3/[>=3.40]")
        self.requires("sqlitecpp/[>=3.2]")
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.tools:
            self.requires("cli11/[>=2.1]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        dependencies = CMakeDeps(self)
        dependencies.set_property("opencl-icd-loader", "cmake_file_name", "OpenCL")
        dependencies.set_property("opencl-icd-loader", "cmake_target_name", "OpenCL::OpenCL")
        dependencies.generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["LIBTUNE_BUILD_TUNEDB"] = bool(self.options.tools)
        for part in ("TESTS", "EXAMPLES", "BENCH", "PYTHON"):
            toolchain.cache_variables[f"LIBTUNE_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        # Its own find_package(libtune), which knows where the helper programs are.
        self.cpp_info.set_property("cmake_find_mode", "none")
        tune = self.cpp_info.components["tune"]
        # Of a component: Conan passes over those of the package itself where there are components.
        tune.builddirs = [os.path.join("lib", "cmake", "libtune")]
        tune.libs = ["tune"]
        tune.system_libs = ["dl", "pthread"]
        tune.requires = OTHERS + (["cli11::cli11"] if self.options.tools else [])
        for name, needed in COMPONENTS.items():
            component = self.cpp_info.components[name]
            component.libs = [f"tune_{name}"]
            component.requires = ["tune", *needed]
        for name in ("operations", "telescope"):
            self.cpp_info.components[name].includedirs = ["include", os.path.join("include", "libtune_operations")]
        # Shared in any case, with what it needs of libtune in it.
        self.cpp_info.components["c"].libs = ["tune_c"]
