"""What a package is made of: an SBOM (CycloneDX 1.5, JSON), or the licenses of everything in it with their texts.

dependencies.py sbom|licenses command|python|npm|r [TARGET]

Rust packages and their checksums come from Cargo, for the target triple of the build [default: of this machine]; the JavaScript that
candor-collect and the npm package hold from clients/javascript/noble.md. Licenses also name what the compiler adds.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# For each package: its name, the workspace it is built in, the crates that it is made of, and whether it holds the JavaScript client.
PACKAGES = {
    "command": ("candor", ".", ["candor-cli", "candor-collect", "candor-studio"], True),
    "python": ("candor-privacy", "python", ["candor-python"], False),
    "npm": ("candor-client", None, [], True),
    "r": ("candor", None, [], False),
}


def run(*command: str, folder: Path = ROOT) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def shipped(workspace: str, names: list[str], target: str) -> list[dict]:
    """The packages that are linked for the target: normal dependencies."""
    metadata = run("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target, folder=ROOT / workspace)
    data = json.loads(metadata)
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    left = [package["id"] for package in data["packages"] if package["name"] in names and package["source"] is None]
    if len(left) != len(names):
        sys.exit(f"unknown package among {', '.join(names)}")
    found = set(left)
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                left.append(dependency["pkg"])
    return sorted((packages[one] for one in found), key=lambda package: (package["name"], package["version"]))


def noble() -> list[tuple[str, str]]:
    """Names and versions of what noble.js was made of."""
    text = (ROOT / "clients/javascript/noble.md").read_text(encoding="utf-8")
    found = re.findall(r"(@noble/[a-z]+)@([0-9.]+)", text)
    if len(found) != 2:
        sys.exit("clients/javascript/noble.md does not say what noble.js is made of")
    return found


def checksums(workspace: str) -> dict[tuple[str, str], str]:
    text = (ROOT / workspace / "Cargo.lock").read_text(encoding="utf-8")
    entries = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', text)
    return {(name, version): checksum for name, version, checksum in entries}


def version() -> str:
    return re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]


def sbom(kind: str, packages: list[dict], has_javascript: bool) -> None:
    name, workspace, _, _ = PACKAGES[kind]
    known = checksums(workspace) if workspace else {}

    def crate(package: dict) -> dict:
        name, version = package["name"], package["version"]
        purl = f"pkg:cargo/{name}@{version}"
        one = {"type": "library", "bom-ref": purl, "name": name, "version": version}
        if package["license"]:
            one["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if (name, version) in known:
            one["hashes"] = [{"alg": "SHA-256", "content": known[name, version]}]
        return {**one, "purl": purl}

    def script(name: str, version: str) -> dict:
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        return {
            "type": "library", "bom-ref": purl, "name": name, "version": version,
            "licenses": [{"expression": "MIT"}], "purl": purl,
        }  # fmt: skip

    main = {"type": "library" if kind != "command" else "application", "bom-ref": "candor", "name": name, "version": version()}
    components = [crate(package) for package in packages]
    components += [script(*one) for one in noble()] if has_javascript else []
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": main}}
    print(json.dumps({**document, "components": components}, indent=1))


def texts(folder: Path) -> list[str]:
    """Licenses in a package, those of sources of others within it included."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name.upper().startswith(NAMED)]
    files = [file for file in files if file.suffix.lower() in ("", ".txt", ".md", ".html") or file.suffix.isupper() or "-" in file.name]
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in sorted(files)]


def licenses(packages: list[dict], has_javascript: bool, target: str) -> None:
    print("candor is made with the following packages, under the licenses named; their texts follow.\n")
    # The same text is written once, whatever its lines are broken at.
    users: dict[str, tuple[str, list[str]]] = {}

    def uses(name: str, text: str) -> None:
        names = users.setdefault(" ".join(text.split()), (text, []))[1]
        if name not in names:
            names.append(name)

    for package in packages:
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or 'see its license file'}")
        for text in texts(Path(package["manifest_path"]).parent):
            uses(name, text)
    added = []
    if has_javascript:
        added += [(f"{name} {version}", "MIT", ROOT / "clients/javascript/noble.md") for name, version in noble()]
    if packages:
        rust = run("rustc", "--version").split()[1]
        library = Path(run("rustc", "--print", "sysroot").strip()) / "share/doc/rust/COPYRIGHT-library.html"
        added.append((f"Rust standard library {rust}", "MIT OR Apache-2.0", library))
    if "musl" in target:
        added.append(("musl libc", "MIT", Path("/usr/share/doc/musl/copyright")))
    for name, license, file in added:
        print(f"{name}: {license}")
        if file.is_file():
            text = file.read_text(encoding="utf-8").strip()
            if file.suffix == ".html":
                text = re.sub(r"\n\s*\n+", "\n\n", html.unescape(re.sub(r"(?s)<style.*?</style>|<[^>]*>", "", text))).strip()
            uses(name, text)
    for text, names in users.values():
        print(f"\n{'-' * 80}\n{', '.join(names)}\n\n{text}")


if __name__ == "__main__":
    what, kind, *target = sys.argv[1:]
    _, workspace, crates, has_javascript = PACKAGES[kind]
    host = next(line.removeprefix("host: ") for line in run("rustc", "-vV").splitlines() if line.startswith("host: "))
    target = (target or [host])[0]
    packages = shipped(workspace, crates, target) if workspace else []
    sbom(kind, packages, has_javascript) if what == "sbom" else licenses(packages, has_javascript, target)
