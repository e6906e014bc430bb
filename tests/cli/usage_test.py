#!/usr/bin/env python3
"""tessera: help, version, lists, misspelt names, colours, standard streams."""
import os
import re
import select
import subprocess
import time

import harness

COMMANDS = ["multiply", "compare", "bench", "check", "explain", "puzzle", "layout", "banks", "mcp", "doctor", "config", "completion", "help"]
TOPICS = ["algorithms", "asynchronous", "environment", "exit-codes", "files", "layouts", "types"]


class Help(harness.CommandTest):
    def test_every_command_has_help_with_examples(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.succeeds(command, "--help").out
                self.assertIn(f"Usage: tessera {command}", text)
                self.assertIn("Examples:\n", text)
                self.assertIn("--quiet", text)
                self.assertEqual(text, self.succeeds("help", command).out)
                self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_root_help_names_every_command(self):
        text = self.succeeds("--help").out
        for command in COMMANDS:
            self.assertRegex(text, rf"\n  {command} ")
        self.assertIn("Exit codes:", text)

    def test_topics_are_listed_and_printed(self):
        listing = self.succeeds("help").out
        self.assertTrue(listing.startswith(self.succeeds("--help").out))
        for topic in TOPICS:
            with self.subTest(topic):
                self.assertRegex(listing, rf"\n  {topic} ")
                self.assertGreater(len(self.succeeds("help", topic).out), 100)

    def test_help_of_nested_command(self):
        self.assertIn("Usage: tessera layout eval EXPR", self.succeeds("help", "layout", "eval").out)

    def test_unknown_topic_is_refused_with_a_suggestion(self):
        self.fails(2, "help", "algoritms", says="did you mean 'algorithms'?")
        self.fails(2, "help", "multiply", "types")
        run = self.fails(2, "help", "files", "extra", says=["unexpected argument 'extra'", "'tessera help files' shows it"])
        self.assertNotIn("did you mean", run.err)

    def test_help_wins_over_other_mistakes(self):
        self.assertIn("Usage:", self.succeeds("multiply", "--bogus", "--help").out)

    def test_the_environment_page_names_every_instruction_set(self):
        text = self.succeeds("help", "environment").out
        for name in ["portable", "avx2", "avx512", "neon", "packed"]:
            self.assertRegex(text.split("TESSERA_CPU")[1].split("TESSERA_PEERS")[0], rf"\b{name}\b")

    def test_the_environment_page_and_config_show_name_every_variable(self):
        text = self.succeeds("help", "environment").out
        for name in ["TESSERA_NUM_THREADS", "TESSERA_CPU", "TESSERA_CPU_TUNING", "TESSERA_DEVICE", "TESSERA_DRIVER_TIMEOUT", "TESSERA_KERNEL_TIMEOUT",
                     "TESSERA_OPENCL_LIBRARY", "TESSERA_PEERS", "TESSERA_CUBLAS", "TESSERA_TUNING", "TESSERA_BLAS_FALLBACK", "TESSERA_COURSE", "TESSERA_VERBOSE", "NO_COLOR", "CLICOLOR_FORCE"]:
            self.assertIn(f"\n  {name}", text)
            value = "1" if name.endswith(("THREADS", "VERBOSE", "COLOR", "FORCE")) else "portable"
            self.assertIn(f"\n  {name} = {value}  (environment)\n", self.succeeds("config", "show", env={name: value}).out)

    def test_exit_codes_page_names_them_all(self):
        text = self.succeeds("help", "exit-codes").out
        for code in ["0", "1", "2", "3", "4", "130", "141"]:
            self.assertRegex(text, rf"\n *{code}  ")


class ClosedPipe(harness.CommandTest):
    def test_a_command_whose_reader_has_gone_ends_without_a_word(self):
        for words in (["--help"], ["--version"], ["--list"], ["help", "exit-codes"], ["layout", "(64,64):(64,1)"], ["layout", "4:1", "--json"],
                      ["compare", "-m", 8, "-n", 8, "-k", 8], ["doctor"], ["config", "show"], ["completion", "bash"], ["check", "naive"],
                      ["explain", "naive"], ["bench", "--sizes", 8, "--algorithms", "naive", "--peers", "none", "--max-time", "0.01"]):
            reader, writer = os.pipe()
            os.close(reader)
            try:
                run = self.tessera(*words, stdout=writer)
            finally:
                os.close(writer)
            self.assertEqual((run.code, [line for line in run.lines if "ipe" in line or "output" in line]), (141, []), words)


class Doctor(harness.CommandTest):
    def test_it_says_why_these_instructions_run(self):
        def path(value):
            return self.succeeds("doctor", "--json", env={"TESSERA_CPU": value}).json["cpu"]["engine_path"]
        self.assertRegex(path("portable"), r"^portable \(selected by TESSERA_CPU; the CPU has \w+\)$")
        for ignored in ("", "sse9", "AVX2"):
            self.assertRegex(path(ignored), r"^\w.* \(the best of the CPU\)$", ignored)

    def test_it_says_what_multiplies_each_type_and_what_the_thread_engine_uses(self):
        for value in ("portable", ""):
            cpu = self.succeeds("doctor", "--json", env={"TESSERA_CPU": value}).json["cpu"]
            text = self.succeeds("doctor", env={"TESSERA_CPU": value}).out
            self.assertEqual(cpu["packed_path"], cpu["engine_path"])
            self.assertEqual(list(cpu["multiplied_by"]), ["f64", "f32", "f16", "bf16", "i8", "u8"])
            self.assertIn(f"\n  packed path       {cpu['packed_path']}\n", text)
            for type_, instruction in cpu["multiplied_by"].items():
                self.assertIn(f"\n    {type_:<15} {instruction}\n", text)
            self.assertRegex(text, rf"\n  thread engine +{cpu['thread_engine']} \(")
            self.assertNotIn("engine path", text)
            best = cpu["packed_path"].split()
            bits = {"avx512": "of 512 bits", "avx2": "of 256 bits", "neon": "of 128 bits", "portable": "in plain C++"}[best[0]]
            self.assertEqual(cpu["multiplied_by"]["f32"], f"fused multiply-adds {bits}")
            self.assertEqual(cpu["thread_engine"], "avx2" if best[0].startswith("avx") else "portable")
            features = cpu["packed_path"].split(" (")[0].split()
            by = cpu["multiplied_by"]
            self.assertEqual("vdpbf16ps" in by["bf16"], "bf16" in features and "amx-bf16" not in features)
            self.assertEqual("vpdpbusd" in by["i8"], "vnni" in features and "amx-int8" not in features)
            self.assertEqual("converted" in by["f16"], "amx-fp16" not in features)


    def test_it_names_the_peers_that_a_script_makes(self):
        document = self.succeeds("doctor", "--json").json
        found = {peer["name"] for peer in document["peers"]}
        made = {thing["name"]: thing["made_by"] for thing in document["missing"] if thing["made_by"]}
        expected = {"eigen": "scripts/peers eigen", "xsmm": "scripts/peers xsmm", "openblas-new": "scripts/peers openblas"}
        self.assertEqual(made, {name: script for name, script in expected.items() if name not in found})
        text = self.succeeds("doctor").out
        for script in made.values():
            self.assertIn(f"{script} in the sources\n", text)


class Version(harness.CommandTest):
    def test_version_says_compiler_instruction_sets_and_cuda(self):
        text = self.succeeds("--version").out
        self.assertRegex(text, r"^tessera \d+\.\d+\.\d+\ncompiler: \w+ [\d.]+ \(\w+\)\ninstruction sets:.*\nCUDA: (yes|no)\n$")

    def test_version_takes_under_20_ms(self):
        if harness.sanitized():
            self.skipTest("a sanitizer slows the start")
        best = 1e9
        for _ in range(20):
            start = time.perf_counter()
            subprocess.run([harness.COMMAND, "--version"], stdout=subprocess.DEVNULL, check=True)
            best = min(best, time.perf_counter() - start)
        self.assertLess(best, 0.020)

    def test_list_names_commands_algorithms_types_and_topics(self):
        text = self.succeeds("--list").out
        for name in COMMANDS + TOPICS + harness.algorithms() + ["bf16", "f8e4m3"]:
            self.assertRegex(text, rf"(^|\s){re.escape(name)}(\s|$)")
        self.assertIn("naive", self.succeeds("compare", "--list").out)


class Misspelt(harness.CommandTest):
    def test_commands(self):
        self.fails(2, "mutliply", "a", "b", says=["unknown command 'mutliply'", "did you mean 'multiply'?"])
        self.fails(2, "puzzle", "bogus", says="unknown command 'bogus': expected one of list, start, run")
        self.fails(2, "puzzle", says="no command given: expected list, start, run")
        self.fails(2, "xyzzy", says="unknown command 'xyzzy': expected one of multiply, plan, compare")
        self.fails(2, "layout", "eval")
        self.fails(2, "layout", "evl", says="did you mean 'eval'?")
        self.fails(2, "layout", "evl", "4:1", says="unknown command 'evl'; did you mean 'eval'?")
        self.fails(2, "layout", "4:1", "2:1", says="unexpected argument '2:1'")
        self.fails(2, says="no command given")

    def test_options(self):
        self.fails(2, "compare", "--alogrithms", "x", says="did you mean '--algorithms'?")
        self.fails(2, "multiply", "a", "b", "--transpose_a", says="did you mean '--transpose-a'?")
        self.fails(2, "doctor", "--jsn", says="did you mean '--json'?")
        self.fails(2, "--verson", says="did you mean '--version'?")

    def test_options_behind_the_mark_and_before_the_command_are_told_where_they_stand(self):
        for line in [["--", "a.npy", "b.npy", "-o", "c.npy"], ["-o", "c.npy", "--", "a.npy", "b.npy", "-o", "d.npy"]]:
            run = self.fails(2, "multiply", *line, says="unexpected argument '-o': after --, every argument is a name")
            self.assertNotIn("did you mean", run.err)
        self.fails(2, "multiply", "--ouput", "c.npy", "--", "a.npy", "b.npy", says="did you mean '--output'?")
        self.fails(2, "multiply", "--", "a.npy", "b.npy", "--bogus", says="unexpected argument '--bogus': after --, every argument is a name")
        self.fails(2, "--json", "compare", "-m", 2, "-n", 2, "-k", 2,
                   says="'--json' comes before the command; write it after 'tessera compare'")

    def test_values_that_are_missing_or_there_twice(self):
        self.fails(2, "multiply", "a", "b", "--alpha", 2, "--alpha", 3, says="--alpha is given twice")
        self.fails(2, "multiply", "a", "b", *["-o", "c"] * 3, says="--output is given 3 times")
        self.fails(2, "bench", "--plot", says="--plot needs a value: FILE")
        self.fails(2, "bench", "--compare", "a", says="--compare needs 2 values: OLD NEW")
        self.fails(2, "bench", *["--compare", "a", "b"] * 2, says="--compare is given twice")
        self.fails(2, "compare", "-m", says="-m needs a value: N")
        self.fails(2, "--color", says="--color needs a value: auto|always|never")
        self.fails(3, "doctor", "--config", "nofile", says="cannot read the configuration file 'nofile': No such file")

    def test_a_comparison_takes_an_old_and_a_new_file(self):
        self.assertIn("\n  --compare OLD NEW ", self.succeeds("bench", "--help").out)

    def test_threads_of_a_benchmark_have_words_of_their_own(self):
        for value, says in [("0", "it is at least 1, not 0"), ("5000", "'5000' is larger than 4096"), ("two", "'two' is not a whole number")]:
            run = self.fails(2, "bench", "--threads", value, says=[f"cannot read the number of threads '{value}'", says, "write 1, 1,2 or 1:16:x2"])
            self.assertNotIn("size", run.err)

    def test_unknown_types_are_told_those_that_the_command_takes(self):
        for line in [["multiply", "a", "b"], ["compare", "-m", 2, "-n", 2, "-k", 2], ["bench"]]:
            self.fails(2, *line, "--dtype", "q7", says="expected one of f64, f32, f16, bf16, i32")
        self.fails(2, "bench", "--dtype", "f99", says=["bf16:f32", "i8:i32", "i8:f32", "u8:i8:i32", "i8:u8:i32"])
        # What libtessera_blas would pass on is no product of its.
        for types in ("bf16:f32", "u8:i8:i32"):
            self.fails(2, "bench", "--dtype", types, "--algorithms", "blas", says=f"blas cannot run this product: it has no {types} product")
        self.fails(2, "bench", "--dtype", "q7:i32", says="expected one of f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, u8, i32")
        self.fails(2, "bench", "--dtype", "i9:i32", says="did you mean 'i8'?")
        self.fails(2, "bench", "--dtype", "u8:i8:i8:i32", says="'u8:i8:i8:i32' has more than three types: expected one type,")
        self.fails(2, "bench", "--dtype", "f16:bf16:f32", says="there is no product of f16 and bf16 into f32")

    def test_values(self):
        sizes = ["-m", 2, "-n", 2, "-k", 2]
        self.fails(2, "compare", *sizes, "--algorithms", "naive,blok_tiled", says="did you mean 'block_tiled'?")
        self.fails(2, "compare", *sizes, "--dtype", "f33", says="did you mean 'f32'?")
        self.fails(2, "compare", *sizes, "--order", "shufled", says="did you mean 'shuffled'?")
        self.fails(2, "compare", *sizes, "--color", "sometimes", says="auto, always, never")
        self.fails(2, "compare", *sizes, "--color", "alway", says="did you mean 'always'?")
        self.fails(2, "multiply", "a", "b", "--algorithm", "all", says="expected one of auto, naive")
        self.fails(2, "multiply", "a", "b", "--algorithm", "aut", says="did you mean 'auto'?")
        self.fails(2, "compare", *sizes, "--device", "gpu", says="cpu, cuda:N, opencl:N or hip:N")
        self.fails(4, "compare", *sizes, "--device", "cuda:3", says="cuda:3")
        self.fails(2, "completion", "bsh", says="did you mean 'bash'?")

    def test_too_many_and_missing_arguments(self):
        self.fails(2, "multiply", "a.npy", "b.npy", "c.npy", "d.npy", says="unexpected argument")
        self.fails(2, "multiply", "a.npy", says="B is required")
        self.fails(2, "compare", "-m", 3, "-k", 3, says="-n is missing")
        self.fails(2, "compare", "-m")

    def test_line_breaks_in_arguments_stay_in_one_line(self):
        self.fails(2, "compare", "-m", "3\n4", "-n", 2, "-k", 2)
        self.fails(2, "one\ntwo")


class Colours(harness.CommandTest):
    SIZES = ["compare", "-m", 2, "-n", 2, "-k", 2, "--algorithms", "naive"]

    def colored(self, *options, **variables):
        return "\033[" in self.succeeds(*self.SIZES, *options, env=variables).out

    def test_order_of_flag_and_variables(self):
        self.assertFalse(self.colored())
        self.assertTrue(self.colored("--color=always"))
        self.assertTrue(self.colored("--color=always", NO_COLOR="1"))
        self.assertTrue(self.colored(CLICOLOR_FORCE="1"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="0"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertFalse(self.colored("--color=never", CLICOLOR_FORCE="1"))
        self.assertTrue(self.colored(CLICOLOR_FORCE="1", NO_COLOR=""))

    def on_terminal(self, columns, *words, errors=False):
        """What the command shows on a terminal of this many columns; with its errors, if so asked."""
        master, slave = harness.terminal(self)
        subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=slave, check=True)
        process = subprocess.Popen([harness.COMMAND, *map(str, words)], stdout=slave, stderr=slave if errors else subprocess.DEVNULL,
                                   cwd=self.folder, env=harness.environment(TERM="xterm"))
        process.wait()
        os.close(slave)
        text = b""
        while select.select([master], [], [], 0.2)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        return text.decode()

    def test_terminal_has_colours_and_no_wider_lines(self):
        text = self.on_terminal(90, *self.SIZES)
        self.assertIn("\033[32m", text)
        plain = re.sub(r"\033\[\d+m", "", text)
        table = [line.rstrip() for line in plain.splitlines()[2:]]
        self.assertLessEqual(max(map(len, table)), 90)

    def fits(self, columns, *words):
        """Lines that are as wide as the terminal at most; examples, which people copy, and long paths stay whole."""
        text = re.sub(r"\033\[[\d;]*[mK]", "", self.on_terminal(columns, *words, errors=True))
        self.assertNotEqual(text, "")
        for line in text.splitlines():
            if max(map(len, line.split()), default=0) <= columns // 2 and not line.startswith("  tessera "):
                self.assertLessEqual(len(line.rstrip()), columns, f"{words}: {line}")
        return text

    def test_doctor_breaks_its_lines(self):
        self.assertIn("features", self.fits(60, "doctor"))

    def test_every_page_and_error_fits_the_terminal(self):
        listed = self.succeeds("--help").out
        commands = re.findall(r"^  ([a-z-]+) {2,}\S", listed[listed.index("Commands:"):listed.index("Examples:")], re.M)
        topics = re.findall(r"^  (\S+)", self.succeeds("help").out.split("Help topics")[1], re.M)
        self.assertGreater(len(commands), 10)
        for columns in (50, 60, 80):
            for words in [["--help"], ["--version"], ["--list"], ["config", "show"], ["help"], ["nosuch"],
                          ["compare", "--size", 64], ["multiply", "not_there.npy", "neither.npy", "-o", "c.npy"],
                          *([command, "--help"] for command in commands), *(["help", topic] for topic in topics)]:
                self.fits(columns, *words)
            self.assertRegex(self.fits(columns, "explain", "nosuch"), r"^tessera explain: unknown")

    def test_tables_of_explain_and_compare_fit_sixty_columns(self):
        for words in [["explain", "block_tiled", "-m", 256, "-n", 256, "-k", 256], ["explain", "naive", "--against", "block_tiled"],
                      ["compare", "-m", 16, "-n", 16, "-k", 16]]:
            self.fits(60, *words)
        self.assertIn("ideal", self.fits(60, "explain", "block_tiled"))


class Streams(harness.CommandTest):
    def test_full_stdout_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for arguments in [["--version"], ["--help"], ["doctor"], ["completion", "bash"], ["layout", "4:1"],
                              ["compare", "-m", 2, "-n", 2, "-k", 2, "--json"]]:
                with self.subTest(arguments):
                    self.fails(1, *arguments, stdout=full, says="No space left")

    def test_closed_stdout_is_an_error(self):
        done = subprocess.run(["sh", "-c", f"'{harness.COMMAND}' --version >&-"], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write", done.stderr)

    def test_closed_stderr_and_stdin_do_no_harm(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        line = f"'{harness.COMMAND}' multiply a.npy a.npy -o c.npy 2>&- <&-"
        self.assertEqual(subprocess.run(["sh", "-c", line], cwd=self.folder).returncode, 0)
        self.assertEqual(self.read_npy("c.npy")[2], [7, 10, 15, 22])

    def test_quiet_says_nothing(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]], "i64")
        self.assertEqual(self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "-q").err, "")
        self.assertNotEqual(self.succeeds("multiply", "a.npy", "a.npy", "-o", "d.npy").err, "")

    def test_threads_variables_that_are_no_number_are_told_once(self):
        sizes = ["compare", "-m", 4, "-n", 4, "-k", 4, "--algorithms", "naive", "--json"]
        for value in ["abc", "0", "-3", "1e9", "99999999999999999999", " "]:
            with self.subTest(value):
                run = self.succeeds(*sizes, env={"TESSERA_NUM_THREADS": value})
                self.assertEqual(run.err.count("TESSERA_NUM_THREADS"), 1, run.err)
                self.assertGreaterEqual(run.json["problem"]["threads"], 1)
        run = self.succeeds(*sizes, env={"TESSERA_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"})
        self.assertEqual((run.json["problem"]["threads"], run.err), (1, ""))
        self.assertEqual(self.succeeds(*sizes, env={"OMP_NUM_THREADS": "1"}).json["problem"]["threads"], 1)


class Progress(harness.CommandTest):
    # The element-by-element check of a few million elements takes long enough for a bar.
    SIDE = 400 if harness.sanitized() else 900  # more than a second of work
    WORK = ["compare", "-m", SIDE, "-n", SIDE, "-k", SIDE, "--algorithms", "naive,tiled", "--threads", 1]

    def on_terminal(self, *options):
        master, slave = harness.terminal(self)
        process = subprocess.Popen([harness.COMMAND, *map(str, self.WORK), *options], stdout=subprocess.DEVNULL, stderr=slave,
                                   env=harness.environment(TERM="xterm"))
        os.close(slave)
        text = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(master)
        self.assertEqual(process.wait(), 0)
        return text.decode()

    def test_bar_with_remaining_time_on_a_terminal_only(self):
        text = self.on_terminal()
        self.assertRegex(text, r"\r\x1b\[K[\w ]+ \[#*\.*\] +\d+ %")
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-80:]))  # nothing stays
        self.assertEqual(self.on_terminal("--quiet"), "")
        self.assertEqual(self.on_terminal("--json"), "")


if __name__ == "__main__":
    harness.main()
