"""An extension of Griffe: examples in docstrings, `>>> ` and what they print, become blocks of code."""
import re

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n[^\n]+)*", re.M)


class Doctests(griffe.Extension):
    def on_instance(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
