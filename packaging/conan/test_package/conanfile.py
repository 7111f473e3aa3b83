# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class LibtuneTest(ConanFile):
    """A program that uses the package, and every library of it by the names of the recipe."""

    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        self.compare_libraries()
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "user"), env="conanrun")

    def compare_libraries(self):
        """The components have the libraries of the package, and no other."""
        info = self.dependencies[self.tested_reference_str].cpp_info
        named = {library for component in info.components.values() for library in component.libs}
        folder = os.path.join(self.dependencies[self.tested_reference_str].package_folder, "lib")
        files = {name[len("lib"):].split(".")[0] for name in os.listdir(folder) if name.startswith("libtune")}
        # For tests of operations: it is made where doctest is, has a main, and no component.
        files -= {"tune_testing", "tune_allocation_counter"}
        if named != files:
            raise RuntimeError(f"the recipe names {sorted(named - files)} too many, and lacks {sorted(files - named)}")
