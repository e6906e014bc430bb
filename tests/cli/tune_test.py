#!/usr/bin/env python3
"""`tessera tune` without a GPU, and products that use its file."""
import json
import os
import harness

SIZES = ["-m", 64, "-n", 64, "-k", 64]
WHERE = 'device="{}" capability="" driver="" version="{}"\n'
PRODUCT = "m=64 n=64 k=64 in=f32 out=f32 algorithm={} tile={} seconds=1e-6\n"


class Tuned(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        self.version = self.succeeds("--version").out.split()[1]

    def said(self, text=None, *arguments):
        """What TESSERA_VERBOSE says of a product of 64 where the file says `text`."""
        env = {"TESSERA_VERBOSE": "1"}
        if text is not None:
            self.path("tuning.txt").write_text(text)
            env["TESSERA_TUNING"] = str(self.path("tuning.txt"))
        return self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "--force", *arguments, env=env).err

    def test_a_product_takes_what_was_tuned_and_says_so(self):
        self.assertIn("packed", self.said())
        said = self.said(WHERE.format("cpu", self.version) + PRODUCT.format("block_tiled", "64x64x16/4x4"))
        self.assertIn("block_tiled", said)
        self.assertIn("the fastest of this product by 'tessera tune'", said)

    def test_what_is_asked_for_wins(self):
        text = WHERE.format("cpu", self.version) + PRODUCT.format("block_tiled", "64x64x16/4x4")
        self.assertIn("naive", self.said(text, "--algorithm", "naive"))

    def test_what_cannot_or_may_not_be_taken_is_not(self):
        for algorithm, tile in (("tensor_core", "64x64x16/32x32"), ("unknown", "none"), ("block_tiled", "7x7x7/1x1")):
            self.assertIn("packed", self.said(WHERE.format("cpu", self.version) + PRODUCT.format(algorithm, tile)), algorithm)

    def test_a_file_of_another_device_or_version_is_ignored_with_a_word(self):
        product = PRODUCT.format("block_tiled", "64x64x16/4x4")
        for where, why in ((WHERE.format("A GPU", self.version), "it is of device A GPU, this is cpu"),
                           (WHERE.format("cpu", "0.0.9"), f"it is of version 0.0.9, this is {self.version}"), ("nonsense\n", "cannot read")):
            said = self.said(where + product)
            self.assertIn("packed", said)
            self.assertIn(why, said)
            self.assertIn("run 'tessera tune'", said)


class OnACpu(harness.CommandTest):
    def test_values_are_found_written_and_used(self):
        file = self.path("cpu.txt")
        done = self.succeeds("tune", "--device", "cpu", "--cache", file, "--sizes", "64,1x300x300", "--seconds", "0.5", "--json")
        values = json.loads(done.out)["values"]
        self.assertIn(f"export TESSERA_CPU_TUNING={file}", done.err)
        written = dict(line.split(" = ") for line in file.read_text().splitlines() if not line.startswith("#"))
        self.assertEqual(written, {name: str(value["now"]) for name, value in values.items()})
        self.assertGreater(len(written), 10)
        # The route of one thread's product follows the file; an unknown value is reported and ignored.
        narrow, wide = self.path("narrow.txt"), self.path("wide.txt")
        narrow.write_text("panel_twelfths = 1\n"), wide.write_text("panel_twelfths = 48\n")
        routes = [self.succeeds("explain", "--cpu", 900, 900, 3000, env={"TESSERA_CPU_TUNING": str(each)}).out for each in (narrow, wide)]
        self.assertNotEqual(*routes)
        file.write_text("panels = 3\n")
        said = self.succeeds("explain", "--cpu", 300, 300, 300, env={"TESSERA_CPU_TUNING": str(file)}).err
        self.assertRegex(said, r"^tessera: ignoring TESSERA_CPU_TUNING='.*cpu.txt': line 1: 'panels': expected a value of the packed path;")

    def test_what_it_needs(self):
        self.fails(2, "tune", "--device", "cpu", says=["--device cpu", "expected --cache FILE"])
        self.fails(2, "tune", "--device", "cpu", "--cache", self.path("x"), "--dtype", "bf16", says="expected f32 on a CPU")
        self.fails(2, "tune", "--device", "cpu", "--cache", self.path("no") / "x", says="no")
        self.fails(2, "tune", "--device", "cpu", "--cache", self.path("x"), "--again", says="--again is for GPUs")
        self.fails(2, "tune", "--device", "cpu", "--cache", self.path("x"), "--seconds", "0", says="expected --seconds above 0")

    def test_other_files_are_kept(self):
        notes = self.path("notes.txt")
        notes.write_text("buy milk\n")
        self.fails(3, "tune", "--device", "cpu", "--cache", notes, says=["contains no values", "buy milk", "name another file"])
        self.assertEqual(notes.read_text(), "buy milk\n")
        self.fails(3, "tune", "--device", "cpu", "--cache", self.path("."), says="no file")

    def test_what_is_no_file_of_values_is_ignored(self):
        pipe, long = self.path("pipe"), self.path("long.txt")
        os.mkfifo(pipe)
        long.write_text("#" * 17000 + "\nfar_l3 = 1\n")
        for file, why in (self.path("."), "it is no file"), (pipe, "it is no file"), (long, "it is too long: expected less than 16 KiB"):
            said = self.succeeds("explain", "--cpu", 300, 300, 300, env={"TESSERA_CPU_TUNING": str(file)}).err
            self.assertIn(f"ignoring TESSERA_CPU_TUNING='{file}': {why}", said)


class Refusals(harness.CommandTest):
    def test_where_no_device_is_one_sentence_says_so(self):
        self.fails(4, "tune", "--sizes", 8, says="device 'cuda' is not available", env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertNotIn("--device cpu", self.tessera("tune", env={"CUDA_VISIBLE_DEVICES": ""}).err)

    def test_only_devices_with_cuda_are_tuned(self):
        for device in ("opencl", "opencl:0", "hip:0", "gpu"):
            self.fails(2, "tune", "--device", device, says=[f"--device {device}", "cuda, cuda:N or cpu"])

    def test_wrong_words(self):
        self.fails(2, "tune", "--device", "cuda:x", says="unknown device")
        self.fails(2, "tune", "--sizes", "x", says="x")
        self.fails(2, "tune", "--dtype", "i8:i8", says="no product")
        self.fails(2, "tune", "--seconds", "-1", says="--seconds")


if __name__ == "__main__":
    harness.main()
