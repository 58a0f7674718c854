"""Finds names in anonymous namespaces that collide when the files of a folder are compiled together (cmake/unity.cmake).

1. Definitions in anonymous namespaces, and using-declarations. Functions with different parameters and equal aliases do
   not collide.
2. Types in anonymous namespaces must also differ from the types that headers of the same main folder declare.

Only definitions that start at column 0 are read, as clang-format writes them.
"""
import collections
import re

NAMESPACE = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
DEFINITION = re.compile(r"^(?![ \t}#/]|template\b|namespace\b|TEST|RC_|INSTANTIATE)(.+)$", re.M)
DECLARATION = re.compile(r"^using ([\w:]+::(\w+));", re.M)
HEADER_TYPE = re.compile(r"^(?:struct|class|enum(?: class)?) (\w+)(?: : [^{\n]*)? \{", re.M)
ALIAS = re.compile(r"^using (\w+) = (.*)")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (\w+)")
CONSTANT = re.compile(r"^(?:inline |static )?(?:constexpr|const|thread_local|std::atomic)\b[^=({;]*[\s&*](\w+)(?:\[\w*\])*\s*[={;]")
NEXT_CONSTANT = re.compile(r", (\w+) = ")  # constexpr int a = 1, b = 2;
FUNCTION = re.compile(r"^[\w:<>,&*\s\[\]()]*?[\s&*](?<!::)(\w+)\(")
PARAMETER_NAME = re.compile(r"(?<=[\w>&*\]\s])\s*\b\w+$")


def split(text):
    """Splits at the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def parameter_types(text):
    types = []
    for parameter in split(text):
        declared = parameter.partition("=")[0].strip()
        types.append("".join(PARAMETER_NAME.sub("", declared).split()) if " " in declared else declared)
    return ", ".join(types)


def up_to_bracket(text, start):
    depth, end = 1, start
    while depth and end < len(text):
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    return text[start:end - 1]


def local_names(text):
    """Yields name and signature of each definition; the signature is None for types and constants."""
    for full, name in DECLARATION.findall(text):
        yield name, "= " + full
    for body in NAMESPACE.findall(text):
        for found in DEFINITION.finditer(body):
            line = found.group(1)
            if alias := ALIAS.match(line):
                yield alias.group(1), "= " + alias.group(2)
            elif type_name := TYPE.match(line):
                yield type_name.group(1), None
            elif constant := CONSTANT.match(line):
                yield constant.group(1), None
                for other in NEXT_CONSTANT.findall(line) if "(" not in line and "{" not in line else []:
                    yield other, None
            elif function := FUNCTION.match(line):
                yield function.group(1), parameter_types(up_to_bracket(body, found.start() + function.end()))


def collide(uses):
    """uses: signature → files that define the name with it."""
    if len({path for paths in uses.values() for path in paths}) < 2:
        return False
    if len(uses) == 1:
        return not next(iter(uses)) or not next(iter(uses)).startswith("= ")
    return any(signature is None or signature.startswith("= ") or len(paths) > 1 for signature, paths in uses.items())


def header_types(root):
    """Main folder, such as src/plan → name of a type → its header."""
    types = collections.defaultdict(dict)
    for path in sorted([*root.glob("src/**/*.h"), *root.glob("apps/**/*.h")]):
        for name in HEADER_TYPE.findall(path.read_text(encoding="utf-8")):
            types["/".join(path.relative_to(root).parts[:2])][name] = path.name
    return types


def check_local_names(root, is_test):
    """Test files and other files are different targets, and fuzz targets and benchmarks are never compiled together."""
    names = collections.defaultdict(lambda: collections.defaultdict(set))
    declared = header_types(root)
    problems = []
    for path in sorted([*root.glob("src/**/*.cc"), *root.glob("apps/**/*.cc")]):
        if path.stem.endswith(("_fuzz", "_benchmark")):
            continue
        main_folder = "/".join(path.relative_to(root).parts[:2])
        for name, signature in local_names(path.read_text(encoding="utf-8")):
            names[path.parent, is_test(path), name][signature].add(path)
            if signature is None and name in declared[main_folder]:
                problems.append(f"{path.relative_to(root)}: {name} is also a type of {declared[main_folder][name]}: rename it")
    for (folder, _, name), uses in names.items():
        if collide(uses):
            files = ", ".join(sorted({path.name for paths in uses.values() for path in paths}))
            problems.append(f"{folder.relative_to(root)}: {name} is defined by {files}, which may be compiled together: rename or share it")
    return sorted(problems)
