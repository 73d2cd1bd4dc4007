"""The compiled simulator for pages is taken where it is of the program's own sources, and nowhere else (tools/explore/README.md)."""

import shutil
import unittest

from python_support import ROOT, InAFolder

OWN = ["tools/explore/sources.cmake", "sim/report/page/explore_assets.cmake", "sim/report/page/explore_assets.cpp.in"]
MODULES = ["build/explore/module", "tools/explore/module"]


class ExploreModule(InAFolder):
    def setUp(self):
        super().setUp()
        for name in OWN:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        for name in ("sim/units", "sim/report/page", "tools/explore", *MODULES):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.write("sim/units/a.cpp", "// A comment.\nint a = 1;\n")
        for name in ("record.cpp", "chart_data.cpp", "version.cpp"):
            self.write(f"sim/report/{name}", "int b = 2;\n")
        self.write("tools/explore/CMakeLists.txt", "# How\nproject(p)\n")
        for name in ("style.css", "simulator.js", "page.js"):
            self.write(name, name)

    def source_hash(self):
        return self.run_command("cmake", "-P", "tools/explore/sources.cmake").stdout.strip()

    def compile_module(self, folder):
        self.write(f"{folder}/sources.sha256", self.source_hash() + "\n")
        self.write(f"{folder}/farandole_core.js", "the code of " + folder)
        self.write(f"{folder}/farandole_core.wasm.gz.b64", "the module of " + folder)

    def assets(self):
        finished = self.run_command("cmake", f"-DOUT={self.folder}/assets.cpp", "-DPARTS=style.css;simulator.js;page.js", "-P",
                                    "sim/report/page/explore_assets.cmake")
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        return (self.folder / "assets.cpp").read_text()

    def test_of_these_sources_is_taken_the_one_made_here_before_the_committed_one(self):
        self.compile_module("tools/explore/module")
        self.assertIn("the module of tools/explore/module", self.assets())
        self.compile_module("build/explore/module")
        self.assertIn("the module of build/explore/module", self.assets())
        self.assertNotIn("the code of tools", self.assets())

    def test_of_other_sources_is_not_taken_and_said_to_be_so(self):
        self.compile_module("build/explore/module")
        for changed, text in (("sim/units/a.cpp", "int a = 3;\n"), ("sim/units/new.hpp", "int c;\n"), ("sim/units/µ.hpp", "auto µ = \"µs; [\";\n")):
            before = self.source_hash()
            self.write(changed, text)
            self.assertNotEqual(self.source_hash(), before, changed)
            assets = self.assets()
            self.assertNotIn("the module of", assets)
            self.assertIn('"the one that is there was compiled from others"', assets)
            self.compile_module("build/explore/module")
            self.assertIn("the module of", self.assets())

    def test_stays_where_only_words_about_the_code_change(self):
        before = self.source_hash()
        self.assertRegex(before, "^[0-9a-f]{64}$")
        self.write("sim/units/a.cpp", "// Other words.\n\n  // And more.\nint a = 1;\n")
        self.write("tools/explore/CMakeLists.txt", "# How and why\nproject(p)\n")
        self.assertEqual(self.source_hash(), before)
        self.write("sim/units/a.cpp", "#include <a>\nint a = 1;\n")
        self.assertNotEqual(self.source_hash(), before)

    def test_is_missing_where_nobody_compiled_one(self):
        assets = self.assets()
        self.assertIn('"none was compiled"', assets)
        self.assertIn("page.js", assets)


if __name__ == "__main__":
    unittest.main()
