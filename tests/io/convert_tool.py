"""The conversion program of convert_tool.cpp, one job at a time."""
import subprocess


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="surrogateescape")

    def __call__(self, source, target, *options):
        """The program's answer: "ok TYPE SHAPE" or "error CODE MESSAGE"."""
        self.process.stdin.write(f"{source}\t{target}\t{' '.join(options)}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()
