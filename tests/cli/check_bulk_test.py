#!/usr/bin/env python3
"""tessera check and explain: kernels with bulk copies: which kernel ran and why, shapes without elements, sweeps of their rings, devices."""
import shutil

import harness

CCACHE = "ccache " if shutil.which("ccache") else ""
WHERE = "tensor_core takes its place"

# The map says that the matrix has 32 rows; ROWS are in memory.
LARGER_THAN_ITS_MEMORY = """
#include "tessera/check/file.hpp"
#include "tessera/ops/bulk_matrix.hpp"
using namespace tessera;
using Part = UnitTile<float, row_major(16, 32)>;
struct Copies {
  static constexpr const char* name = "copies";
  static constexpr Dim3 block{32};
  struct Shared { Part part; Gate gate; };
  void operator()(auto t, const BulkMatrix<Part>& A) const {
    auto& s = shared<Shared>(t);
    if (t.thread != 0) return;
    open_gate(t, s.gate, 1);
    publish_gates(t);
    for (int i = 0; i < 2; ++i) {
      expect(t, s.gate, Part::bytes);
      copy_bulk(t, tile<16, 32>(A, i, 0), s.part, s.gate);  // HERE
      wait(t, s.gate, i);
    }
  }
};
check::Report check_kernel(const check::Options& options) {
  std::vector<float> a(ROWS * 32);
  const BulkMatrix<Part> A{software_map(bulk_fields<Part>(a.data(), 32, 32, 32, 1)), 32, 32};
  return check::check(options, Dim3{1}, Copies{}, A);
}
"""


# Behind the memory of the first come others: it reaches into them. One tensor has a step of 0, one runs backward.
OVERLAPPING = """
#include "tessera/check/file.hpp"
#include "tessera/ops/bulk_matrix.hpp"
using namespace tessera;
using Part = UnitTile<float, row_major(16, 32)>;
struct Stores {
  static constexpr const char* name = "stores";
  static constexpr Dim3 block{32};
  struct Shared { Part part; };
  void operator()(auto t, auto long_, const BulkMatrix<Part>& to, auto repeated, auto backward) const {
    auto& s = shared<Shared>(t);
    for (int i = 0; i < 16; ++i) s.part.view()(i, t.thread) = 1.0f;
    fence_async(t);
    t.warp_barrier();
    const float sum = repeated(1, 8 + t.thread) + backward(8 + t.thread, 0);
    if (t.thread <= 16) long_(t.thread, 0) = sum;
    if (t.thread != 0) return;
    for (int i = 0; i < 2; ++i) store_bulk(t, s.part, tile<16, 32>(to, i, 0));  // HERE
    commit_bulk(t);
    wait_bulk<0>(t);
  }
};
check::Report check_kernel(const check::Options& options) {
  struct alignas(16) Chunk { float of[4]; };
  std::vector<Chunk> blocks[4] = {std::vector<Chunk>(16 * 8), std::vector<Chunk>(16 * 8), std::vector<Chunk>(8), std::vector<Chunk>(8)};
  const auto first = [&](int i) { return blocks[i][0].of; };
  const BulkMatrix<Part> to{software_map(bulk_fields<Part>(first(1), 32, 32, 32, 1)), 32, 32};
  constexpr Layout strided{tuple(dynamic, dynamic), tuple(dynamic, dynamic)};
  const float *repeated = first(2), *backward = first(3) + 31;
  return check::check(options, Dim3{1}, Stores{}, tensor<kRowMajorMatrix>(first(0), 64, 32, 32), to,
                      tensor<strided>(repeated, 2, 64, 0, 1), tensor<strided>(backward, 64, 1, -1, 1));
}
"""


class Bulk(harness.CommandTest):
    def test_the_report_names_the_kernel_that_ran_and_why(self):
        for name, dtype in (("warpgroup", "f32"), ("warpgroup", "bf16"), ("thin", "f32"), ("thin", "f16")):
            run = self.succeeds("check", name, "--dtype", dtype, "-m", 17, "-n", 31, "-k", 9, "--html", f"{name}-{dtype}.html")
            self.assertNotIn(WHERE, run.err)
            self.assertRegex(run.out, rf"(?m)^kernel tensor_core: .*\n{name}: {WHERE}\. [AB]: \w")
            self.assertIn(f"{name}: {WHERE}", self.path(f"{name}-{dtype}.html").read_text())
            out = self.succeeds("check", name, "--dtype", dtype, "-m", 17, "-n", 31, "-k", 9, "--json").json
            self.assertEqual(out["kernel"], "tensor_core")
            self.assertIn(f"{name}: {WHERE}", out["remark"])
            small = ["-m", 64, "-n", 64, "-k", 60]
            self.assertIn(f"{name}: {WHERE}", self.succeeds("explain", name, "--dtype", dtype, *small).out.replace("\n", " "))
            strides = ["--strides", "aligned-transposed-b"]
            own = self.succeeds("explain", name, "--dtype", dtype, *small, *strides, "--json").json
            self.assertEqual((own["kernel"], own["remark"]), (name, None))

    def test_the_reason_is_that_of_the_kernel(self):
        thin = self.succeeds("check", "thin", "--dtype", "bf16", "-m", 96, "-n", 8, "-k", 64).out
        self.assertIn("B: K is not contiguous in it, and the kernel reads this operand only along K", thin)
        both = self.succeeds("check", "warpgroup", "-m", 64, "-n", 64, "-k", 64).out
        self.assertIn("B: K is not contiguous in it, and matrix units read only 16-bit elements along the other mode", both)

    def test_products_without_elements(self):
        for name, dtype in (("warpgroup", "bf16"), ("warpgroup", "i8"), ("warpgroup", "f32"), ("thin", "bf16"), ("bulk_tiled", "f32"),
                            ("three_bf16", "f32")):
            for extent in ("-m", "-n", "-k"):
                with self.subTest(name=name, dtype=dtype, extent=extent):
                    run = self.succeeds("check", name, "--dtype", dtype, extent, 0)
                    self.assertRegex(run.out, r"\nclean: no findings(, and no kernel ran| in \d+ blocks?)\n$")
                    elements = 10000 if extent == "-k" else 0
                    self.assertIn(f"{elements} of {elements} elements written", run.out)
                    product = self.succeeds("compare", *[word for each in ("-m", "-n", "-k") for word in (each, 0 if each == extent else 7)],
                                            "--dtype", dtype, "--algorithms", name, "--json").json["results"][0]
                    self.assertEqual(product["status"], "ok")

    def test_tiles_of_clusters(self):
        for dtype in ("bf16", "f16"):
            for tile in ("128x256/64x256/2x1", "128x128/64x128/2x1"):
                run = self.succeeds("check", "warpgroup", "--dtype", dtype, "--tile", tile, "--strides", "aligned", "-m", 256)
                self.assertIn("clean: no findings in 2 blocks", run.out)
                self.assertRegex(run.out, "kernel warpgroup: ")

    def test_every_built_tile_is_checked_or_refused_with_a_reason(self):
        for tile in ("128x192/128x192", "128x128/128x128", "128x64/64x64", "64x64/64x64"):
            run = self.succeeds("check", "warpgroup", "--dtype", "bf16", "--tile", tile, "--strides", "aligned", "-m", 130, "-n", 72, "-k", 72)
            self.assertIn(f"tile={tile}", run.out)
            self.assertIn("clean: no findings in", run.out)
        self.fails(4, "check", "warpgroup", "--dtype", "f16", "--tile", "64x64/64x64",
                   says=["the checker is built without warpgroup with tile 64x64/64x64 in f16", "128x256/64x256/2x1",
                         "--dtype bf16, whose kernel is the same"])
        self.fails(4, "check", "warpgroup", "--dtype", "bf16", "--tile", "128x128/128x128/2x1",
                   says=["checked in built-in tiles: warpgroup with tile 128x128/128x128/2x1 in bf16", "128x192/128x192"])

    def test_the_packing_of_three_bf16_is_checked_too(self):
        run = self.succeeds("check", "three_bf16", "-m", 17, "-n", 31, "-k", 9)
        for line in ("A (17,9): 153 of 153 elements read", "planes of A (3264,1): 3264 of 3264 elements written once",
                     "planes of B (31,192): 5952 of 5952 elements read", "C (17,31): 527 of 527 elements written once"):
            self.assertIn(line, run.out)
        self.assertRegex(run.out, r"pack_operand\.hpp:\d+ +\d")

    def test_a_device_that_has_no_bulk_copies(self):
        legal = ["--dtype", "bf16", "--strides", "aligned"]
        run = self.tessera("check", "warpgroup", *legal, "--device", "a100")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("a100 has no bulk copies, gates and matrix units of warpgroups (sm_90a)", run.out)
        self.assertIn("try: check it for h100 or h200", run.out)
        self.assertIn("a100 has no bulk copies", self.tessera("check", "bulk_tiled", "--device", "a100", "--json").json["findings"][0]["problem"])
        self.succeeds("check", "warpgroup", *legal, "--device", "h100")
        self.succeeds("check", "warpgroup", "--device", "a100")  # tensor_core runs
        explained = self.succeeds("explain", "warpgroup", "--dtype", "bf16", "-m", 64, "-n", 64, "-k", 64, "--device", "a100").out
        self.assertIn("NOT clean: 1 error", explained)
        self.assertIn("a100 has no bulk copies, gates and matrix units of warpgroups (sm_90a)", explained)

    def test_which_kernel_runs_instead_is_said_in_every_format_of_lines(self):
        for form in ("gcc", "github"):
            lines = self.succeeds("check", "warpgroup", "-m", 32, "-n", 32, "-k", 32, "--format", form).out.splitlines()
            self.assertRegex(lines[-2], "^warpgroup: tensor_core takes its place. B: K is not contiguous")
            self.assertRegex(lines[-1], "^tensor_core: clean: ")

    def test_types_are_named_as_in_other_commands(self):
        for dtype in ("i8", "i8:i32", "i8:i8:i32"):
            self.assertIn("in=i8 out=i32", self.succeeds("check", "warpgroup", "--dtype", dtype, "-m", 9).out)
        self.fails(2, "check", "warpgroup", "--dtype", "bf16:f32", says=["bf16 into bf16", "bf16:f32"])

    def test_a_sweep_turns_the_ring_in_every_order(self):
        run = self.tessera("check", "thin", "--dtype", "bf16", "--sweep", "--time-limit", 300, "--json")
        self.assertEqual(run.code, 0, run.err)
        out = run.json
        self.assertEqual(out["kernel"], "thin")
        cases = out["cases"]
        self.assertEqual({each["order"] for each in cases}, {"forward", "backward", "shuffled", "late"})
        self.assertEqual({each["status"] for each in cases}, {"clean"})
        turn = 8 * 64  # stages, each 64 elements of K
        for order in ("forward", "late"):
            deep = [each["k"] for each in cases if each["order"] == order and each["kernel"] == "thin"]
            self.assertTrue(any(64 < k < turn for k in deep) and turn in deep and any(k > 2 * turn for k in deep))
        others = [each for each in cases if each["kernel"] == "tensor_core"]
        self.assertGreater(len(others), 0)
        self.assertNotIn("aligned-transposed-b", {each["strides"] for each in others})
        self.assertTrue(all(WHERE in each["remark"] for each in others))

    def test_lines_of_bulk_copies_have_boxes_bytes_and_sectors(self):
        shape = ["warpgroup", "--dtype", "bf16", "--strides", "aligned", "-m", 128, "-n", 256, "-k", 64]
        run = self.succeeds("check", *shape)
        # A: a box of 128 rows of 128 bytes; B, whose columns are contiguous: 4 of 64 x 64; C: 8 of 64 x 64
        self.assertRegex(run.out, rf"warpgroup_tiled\.hpp:\d+ .* 5 +{(128 + 256) * 128} +{(128 + 256) * 4}\n")
        self.assertRegex(run.out, rf"warpgroup_store\.hpp:\d+ .* 8 +{128 * 256 * 2} +{128 * 256 * 2 // 32}\n")
        text = self.succeeds("explain", *shape).out
        self.assertRegex(text, r"bulk copy of a box +warpgroup_tiled\.hpp:\d+ .*\d sectors")
        self.assertRegex(text, r"bulk store of a box +warpgroup_store\.hpp:\d+ +8\.19e\+03 +256 sectors +256\n")

    def test_a_matrix_that_is_larger_than_its_memory(self):
        for rows in (32, 16):
            self.path("copies.cpp").write_text(LARGER_THAN_ITS_MEMORY.replace("ROWS", str(rows)))
            run = self.tessera("check", "copies.cpp", env={"CXX": CCACHE + "c++"})
            self.assertEqual(run.code, 0 if rows == 32 else 1, run.err)
            if rows == 16:
                line = LARGER_THAN_ITS_MEMORY.splitlines().index(
                    "      copy_bulk(t, tile<16, 32>(A, i, 0), s.part, s.gate);  // HERE") + 1
                self.assertRegex(run.out, rf"error: out-of-bounds, global memory, .*\n +at .*copies\.cpp:{line}\n")
                self.assertIn("A(16,0): the tensor is larger than its memory", run.out)

    def test_each_tensor_ends_where_its_own_memory_does(self):
        self.path("stores.cpp").write_text(OVERLAPPING)
        run = self.tessera("check", "stores.cpp", "--json", env={"CXX": CCACHE + "c++"})
        self.assertEqual(run.code, 1, run.err)
        found = [each for each in run.json["findings"] if each["severity"] == "error"]
        self.assertEqual({each["kind"] for each in found}, {"out-of-bounds"})
        for element, takes, exist in (("A(16,0)", 8192, 2048), ("B(16,0)", 4096, 2048), ("C(0,39)", 256, 128), ("D(39,0)", 256, 128)):
            wanted = f"{element}: the tensor is larger than its memory: its layout takes {takes} bytes, of which {exist} exist"
            self.assertTrue(any(wanted in each["problem"] for each in found), f"{wanted}: {run.out}")


if __name__ == "__main__":
    harness.main()
