#!/usr/bin/env python3
"""Fails when a source includes a header that its layer may not depend on. Defines the layers and their order."""
import pathlib
import re
import subprocess
import sys

# Each folder may include itself and the folders in its list.
CORE = {
    "core/base": [],
    "core/hub": ["core/base"],
    "core/tensor": ["core/base"],
    "core/graph": ["core/base", "core/tensor"],
    "core/trace": ["core/base", "core/tensor", "core/graph"],
    "core/run": ["core/base", "core/tensor", "core/graph"],
    "core/attention": ["core/base", "core/tensor", "core/trace", "core/graph"],
    "core/text": ["core/base", "core/tensor", "core/trace", "core/graph", "core/attention"],
}
CORE["core/format"] = [*CORE["core/text"], "core/text"]
CORE["core/engine"] = [*CORE["core/text"], "core/text", "core/run"]
CORE["core/figure"] = [*CORE["core/text"], "core/text"]
CORE["core/checkpoint"] = [*CORE["core/engine"], "core/engine", "core/format", "core/hub"]
CORE["core/analysis"] = [*CORE["core/checkpoint"], "core/checkpoint"]
CORE["core/project"] = [*CORE["core/analysis"], "core/analysis"]
CORE["core/export"] = [*CORE["core/project"], "core/project"]
CORE["core/lesson"] = [*CORE["core/export"], "core/export"]
CORE["core/manual"] = [*CORE["core/lesson"], "core/lesson"]
CORE["core/course"] = [*CORE["core/manual"], "core/manual"]
ALL_CORE = list(CORE)
APP = {"app/state": ALL_CORE}
APP["app/commands"] = [*ALL_CORE, "app/state"]
APP["app/jobs"] = [*APP["app/commands"], "app/commands"]
APP["app/session"] = [*APP["app/jobs"], "app/jobs"]
APP["app/draw"] = [*APP["app/commands"], "app/commands"]
APP["app/views"] = [*APP["app/draw"], "app/draw", "app/session"]
APP["app/lesson"] = [*APP["app/draw"], "app/draw", "app/jobs"]
APP["app/shell"] = [*APP["app/views"], "app/views", "app/jobs", "app/lesson"]
APP["app/cli"] = [*APP["app/shell"], "app/shell"]
LAYERS = {**CORE, **APP}

# Third-party headers, and the only folders that may include them.
THIRD_PARTIES = [
    (r"imgui|imstb", ["app/views", "app/shell"]),
    (r"GLFW/|epoxy/|EGL/|GL/", ["app/shell"]),
    (r"Eigen/|core/tensor/views\.h", ["core/engine/cpu", "core/analysis", "core/checkpoint"]),
    (r"vulkan/", ["core/engine/vulkan"]),
    (r"CLI/", ["app/cli"]),
    (r"curl/", ["core/hub"]),
    (r"cairo|pango", ["core/figure"]),
    (r"onig", ["core/text"]),
    (r"sqlite3", ["core/format"]),
    (r"md4c|yaml-cpp", ["core/lesson"]),
    (r"utf8proc", ["core/text", "app/draw", "app/shell", "core/checkpoint"]),
]
# Headers of the program, and the only folder that may include them: everything after a family's graph asks the graph.
PRIVATE = [(r"core/checkpoint/(architecture|families)/", "core/checkpoint")]
HIDDEN_FROM_HEADERS = r"Eigen/|core/tensor/views\.h|vulkan/|nlohmann/json\.hpp|CLI/|curl/|cairo|pango|onig|sqlite3"
NAMES_EIGEN = "core/tensor/views.h"  # the only header that includes Eigen, for sources of the folders above
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def layer_of(path):
    matches = [folder for folder in LAYERS if path.startswith(folder + "/")]
    return max(matches, key=len, default=None)


def faults_of(path, text):
    layer = layer_of(path)
    for included in INCLUDE.findall(text):
        if path == NAMES_EIGEN and included.startswith("Eigen/"):
            continue
        target = layer_of(included)
        if target and layer and target != layer and target not in LAYERS[layer]:
            yield f"{path} includes {included}: {layer} may not look into {target}"
        if path.startswith("core/engine/cpu/") and included.startswith("core/engine/vulkan/") or (
            path.startswith("core/engine/vulkan/") and included.startswith("core/engine/cpu/")
        ):
            yield f"{path} includes {included}: the engines do not know each other"
        for pattern, folders in THIRD_PARTIES:
            if re.match(pattern, included) and not any(path.startswith(folder + "/") for folder in folders):
                yield f"{path} includes {included}: only {', '.join(folders)} may"
        for pattern, folder in PRIVATE:
            if re.match(pattern, included) and not path.startswith(folder + "/"):
                yield f"{path} includes {included}: only {folder} may"
        if path.endswith(".h") and re.match(HIDDEN_FROM_HEADERS, included):
            yield f"{path} includes {included}: it may not show in a header"


def main():
    names = subprocess.run(["git", "ls-files", "core", "app"], check=True, capture_output=True, text=True).stdout.split()
    sources = [name for name in names if name.endswith((".h", ".cpp")) and pathlib.Path(name).exists()]
    faults = [fault for name in sources for fault in faults_of(name, pathlib.Path(name).read_text(encoding="utf-8"))]
    print("\n".join(faults) if faults else f"layers: clean ({len(sources)} files)")
    return 1 if faults or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
