#!/usr/bin/env python3
"""Configuration files: priorities, sources of values, and errors."""
import harness

SIZES = ["-m", 5, "-n", 4, "-k", 3, "--json"]


class Config(harness.CommandTest):
    def write(self, text, name="tessera.toml"):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)

    def compared(self, *options, **named):
        document = self.succeeds("compare", *SIZES, *options, **named).json
        return document["problem"], [result["algorithm"] for result in document["results"]]

    def test_values_of_the_project_file_are_taken(self):
        self.write('threads = 3\n# a comment\n[compare]\nalgorithms = "naive,tiled"\nseed = 7\ndtype = "f64"\n')
        problem, algorithms = self.compared()
        self.assertEqual((problem["threads"], problem["seed"], problem["dtype"], algorithms), (3, 7, "f64", ["naive", "tiled"]))
        self.assertIn("compare.seed = 7 (./tessera.toml)", self.succeeds("compare", *SIZES, "-v").err)

    def test_command_line_then_environment_then_files_in_order(self):
        self.write("threads = 3\nseed = 5\n[compare]\nseed = 6\n")
        self.write("threads = 9\ndtype = 'f64'\nseed = 1\n", "xdg/tessera/config.toml")
        xdg = {"XDG_CONFIG_HOME": str(self.path("xdg"))}
        self.assertEqual([self.compared(env=xdg)[0][key] for key in ("threads", "seed", "dtype")], [3, 6, "f64"])
        self.assertEqual(self.compared("--threads", 1, "--seed", 2, env=xdg)[0]["threads"], 1)
        self.assertEqual(self.compared(env={**xdg, "TESSERA_NUM_THREADS": "2"})[0]["threads"], 2)
        home = {"XDG_CONFIG_HOME": "", "HOME": str(self.path("home"))}
        self.write("order = 'backward'\n", "home/.config/tessera/config.toml")
        self.assertEqual(self.compared(env=home)[0]["order"], "backward")

    def test_a_named_file_is_the_only_one(self):
        self.write("threads = 3\n")
        self.write("seed = 11\n", "other.conf")
        for words in (["compare", *SIZES, "--config", "other.conf"], ["--config", "other.conf", "compare", *SIZES]):
            problem = self.succeeds(*words, env={"OMP_NUM_THREADS": "1"}).json["problem"]
            self.assertEqual((problem["seed"], problem["threads"]), (11, 1))
        self.assertEqual(self.compared("--config", "/dev/null", env={"OMP_NUM_THREADS": "1"})[0]["threads"], 1)

    def test_flags_and_lists(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        self.write("quiet = true\n[multiply]\ntranspose-b = true\nforce = false\n")
        run = self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy")
        self.assertEqual((run.err, self.read_npy("c.npy")[2]), ("", [5, 11, 11, 25]))
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", says="exists already")
        self.write("[bench]\ncontext = ['a=1', 'b=2']\n")
        bench = ["bench", "--sizes", "4", "--algorithms", "naive", "--peers", "none", "--repetitions", 1, "--min-time", "0.001", "--json"]
        context = self.succeeds(*bench).json["context"]
        self.assertEqual((context["a"], context["b"]), ("1", "2"))

    def test_show_escapes_what_a_terminal_would_obey(self):
        text = self.succeeds("config", "show", env={"TESSERA_PEERS": "/tmp/\033[2Jx\n  fake = 1"}).out
        self.assertIn("TESSERA_PEERS = /tmp/\\x1b[2Jx\\x0a  fake = 1  (environment)\n", text)
        self.assertNotIn("\033", text)

    def test_show_says_where_each_value_comes_from(self):
        self.assertIn("(missing)", self.succeeds("config", "show").out)
        self.write("threads = 3\ncolor = 'never'\n[layout.eval]\njson = true\n[bench]\nseed = 4\n")
        text = self.succeeds("config", "show", env={"TESSERA_CPU": "portable", "NO_COLOR": "1"}).out
        for line in ["TESSERA_CPU = portable  (environment)", "NO_COLOR = 1  (environment)", "threads = 3  (./tessera.toml)",
                     "layout.eval.json = true  (./tessera.toml)", "bench.seed = 4  (./tessera.toml)"]:
            self.assertIn(f"\n  {line}\n", text)
        self.assertNotIn("never", text)  # the environment wins
        document = self.succeeds("config", "show", "--json").json
        self.assertEqual(document["files"][0], {"path": "./tessera.toml", "found": True})
        self.assertIn({"name": "color", "value": "never", "source": "./tessera.toml"}, document["values"])
        self.assertEqual(self.succeeds("layout", "eval", "size(4:1)").json["value"], "4")

    def test_refused(self):
        for text, says in {"thraeds = 4\n": ["./tessera.toml: 'thraeds'", "did you mean 'threads'?"],
                           "[mutliply]\nforce = true\n": "[mutliply] names no command",
                           "[compare]\nsizes = '8'\n": "[compare] 'sizes' is not an option",
                           "version = true\n": "'version' is not an option",
                           "[compare]\ndtype = 'f33'\n": ["compare.dtype: ", "did you mean 'f32'?"],
                           "[compare]\nlist = true\n": "'list'",
                           "threads = many\n": ["threads: ", "not a number"]}.items():
            with self.subTest(text):
                self.write(text)
                self.fails(2, "compare", *SIZES, says=says)
                self.succeeds("help")  # help and version help whatever files say
                self.succeeds("--version")
        self.fails(3, "compare", *SIZES, "--config", "missing.toml", says="missing.toml")
        self.fails(3, "config", "show", "--config", ".", says=".")
        self.fails(2, "config", says="no command given: expected show")

    def test_what_is_no_configuration_is_refused_or_empty(self):
        for data in [b"\0\1\2\3" * 50, b"[[[[\n]]]]", b"=" * 300, b"[" * 5000, "é = ü\n".encode(), b"a.b.c.d = 1\n", b"\n" * 1000]:
            self.path("tessera.toml").write_bytes(data)
            run = self.tessera("compare", *SIZES)
            self.assertIn(run.code, (0, 2, 3), data)
            self.assertLessEqual(len(run.lines), 1, run.err)


if __name__ == "__main__":
    harness.main()
