"""The C++ reference as pages: of each public header its purpose and every documented declaration.

Headers are formatted by clang-format: declarations of a namespace begin in the first column, members of a type in the third. A `///`
comment documents the next declaration, a `///<` comment the one on its line.
"""
import re

SKIPPED = ("#", "//", "namespace", "}", "using namespace", "public:", "TESSERA_UNROLL")


def purpose(text):
    """The comment at the top of a header, and the rest of it."""
    top = re.match(r"/\*(.*?)\*/\n|((?://[^\n]*\n)*)", text, re.S)
    lines = (top[1] or top[2] or "").splitlines()
    return " ".join(re.sub(r"^\s*(\*|//)? ?", "", line) for line in lines).strip(), text[top.end():]


def head_of(lines, at):
    """A declaration from line `at` on, without its body, and the number of the line after it."""
    depth, out = 0, []
    for end in range(at, min(len(lines), at + 24)):
        line = re.sub(r"\s*///<.*$|\s+//.*$", "", lines[end])
        for place, character in enumerate(line):
            depth += {"(": 1, ")": -1}.get(character, 0)
            opens = character == "{" and not line[:place].rstrip().endswith(("=", ",", "(")) and depth == 0
            if depth == 0 and (character == ";" or opens):
                return "\n".join(out + [line[:place].rstrip()]), end + 1
        out.append(line)
    return "\n".join(out), at + len(out)


def is_type(head):
    return re.search(r"^(?:template\b.*>\s*)?(?:struct|class|enum class|enum) \w+", head, re.S | re.M) is not None


def name_of(head):
    """What a declaration declares, or None."""
    flat = re.sub(r"\s+", " ", re.sub(r"\[\[.*?\]\]", "", head))
    flat = re.sub(r"^(?:extern \"C\" )?(?:template ?<.*?> (?=struct|class|using|constexpr|inline|TESSERA|\w))", "", flat)
    for pattern in (r"\b(?:struct|class|enum class|enum|concept) (\w+)", r"^using (\w+) =", r"\b(operator ?\S{1,3}) ?\(", r"(~?\w+) ?\(",
                    r"(\w+)(?: ?=.*|\[.*\])?$"):
        if found := re.search(pattern, flat):
            return found[1]
    return None


def declarations(text):
    """(depth 0 or 1, name, head, comment) in order; only documented ones and the types that hold them."""
    lines, out, comment, private, at = text.splitlines(), [], [], False, 0
    while at < len(lines):
        line = lines[at]
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if indent == 0 and bare.startswith("}"):
            private = False
        if bare in ("private:", "protected:"):
            private = True
        elif bare == "public:":
            private = False
        if bare.startswith("/// ") or bare == "///":
            comment.append(bare[4:])
        elif not bare or bare.startswith(SKIPPED) or indent > 2 or (private and indent):
            comment = []
        else:
            trailing = re.search(r"///< ?(.*)$", line)
            head, end = head_of(lines, at)
            said = " ".join(comment) or (trailing[1] if trailing else "")
            documented = said and not (indent == 0 and bare.startswith(("struct", "class")) and head.endswith(bare.rstrip(";")) and bare.endswith(";"))
            name = name_of(head)
            if name and "detail" not in name and (documented or is_type(head) and not bare.endswith(";")):
                out.append((indent // 2, name, re.sub(r"^  ", "", head, flags=re.M) if indent else head, said))
            comment, at = [], max(end, at + 1)
            continue
        at += 1
    # a type is left out if neither it nor a member is documented
    return [each for index, each in enumerate(out)
            if each[3] or (index + 1 < len(out) and out[index + 1][0] > each[0])]


def escape(text):
    """Words of a comment as Markdown: * _ [ are none of its marks outside `code`."""
    parts = text.split("`")
    plain = [re.sub(r"([*_\[\]])", r"\\\1", part).replace("<", "&lt;").replace(">", "&gt;") for part in parts]
    return "`".join(part if at % 2 else plain[at] for at, part in enumerate(parts))


def page(component, headers):
    """Markdown of one component; headers: (path below include/, text)."""
    out = [f"# {component}", ""]
    for path, text in headers:
        said, rest = purpose(text)
        out += [f"## {path}", "", escape(said), ""]
        if path.endswith(".h"):  # of C: as it is, with its comments
            out += ["```c", rest.strip(), "```", ""]
            continue
        for depth, name, head, said in declarations(text):
            out += [f"{'###' + '#' * depth} {name} {{: data-toc-label='{name}' }}", "", "```cpp", head.strip() + ";" * (not is_type(head)), "```", "",
                    escape(said), ""]
    return "\n".join(out)
