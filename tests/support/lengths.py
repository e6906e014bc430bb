"""How long the functions of a source are: C++ by its braces, Python by its syntax tree. Used by tests/house/lengths_test.py."""
import ast
import re

# What braces in it do not count: comments, raw strings, strings, characters (not the ' between digits).
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
                     re.S)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b|^\s*extern\s*$")
BRACKETS = re.compile(r"\([^()]*\)|<[^<>]*>")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
NAME = re.compile(r"((?:[A-Za-z_]\w*::)*(?:operator\s*[^\s(]+|operator\(\)|~?[A-Za-z_]\w*))\s*\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def opens_scope(head):
    """Is the text before a brace the head of a namespace or a type? Its template parameters and base classes say nothing."""
    head = re.sub(r"\boperator\W+", "operator ", head)
    before = None
    while before != head:
        before, head = head, BRACKETS.sub(" ", head)
    return SCOPE.search(head) is not None


def cpp_functions(text):
    """(name, first line, number of lines) of each function that is no lambda or member of a local class."""
    text = DIRECTIVE.sub(blank, NO_CODE.sub(blank, text))
    found, kinds, start = [], [], 0  # kinds: for each open brace "scope", or None, or the (name, first line) of a function
    inside = 0  # open braces that are no scopes
    for match in re.finditer(r"[{};]", text):
        here, at = match[0], match.start()
        if here == "{":
            head = text[start:at]
            kind = None
            if inside == 0:
                if opens_scope(head):
                    kind = "scope"
                elif name := NAME.search(head):
                    kind = (name[1], text.count("\n", 0, start + len(head) - len(head.lstrip())) + 1)
            inside += kind != "scope"
            kinds.append(kind)
        elif here == "}" and kinds:
            kind = kinds.pop()
            inside -= kind != "scope"
            if isinstance(kind, tuple):
                found.append((*kind, text.count("\n", 0, at) + 2 - kind[1]))
        if inside == 0:
            start = at + 1
    return found


def python_functions(text):
    return [(node.name, node.lineno, node.end_lineno + 1 - node.lineno) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
