"""What a binary is made of, from Cargo.lock: an SBOM (CycloneDX 1.5, JSON), or the licenses of everything in it with their texts.

dependencies.py sbom|licenses PACKAGE...
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def metadata() -> dict:
    version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = next(line.removeprefix("host: ") for line in version.splitlines() if line.startswith("host: "))
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def shipped(data: dict, names: list[str]) -> list[dict]:
    """The packages that are linked on this system: normal dependencies."""
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


def checksums() -> dict[tuple[str, str], str]:
    import re

    text = (ROOT / "Cargo.lock").read_text()
    entries = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', text)
    return {(name, version): checksum for name, version, checksum in entries}


def sbom(packages: list[dict], names: list[str]) -> None:
    known = checksums()

    def component(package: dict) -> dict:
        name, version = package["name"], package["version"]
        one = {"type": "library", "bom-ref": f"pkg:cargo/{name}@{version}", "name": name, "version": version}
        if package["license"]:
            one["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if (name, version) in known:
            one["hashes"] = [{"alg": "SHA-256", "content": known[name, version]}]
        return {**one, "purl": f"pkg:cargo/{name}@{version}"}

    version = next(package["version"] for package in packages if package["name"] == names[0])
    main = {"type": "application", "bom-ref": "candor", "name": "candor", "version": version}
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": main}}
    document["components"] = [component(package) for package in packages]
    print(json.dumps(document, indent=1))


def licenses(packages: list[dict]) -> None:
    print("candor is made with the following packages, under the licenses named; their texts follow.\n")
    texts: dict[str, list[str]] = {}
    for package in packages:
        print(f"{package['name']} {package['version']}: {package['license'] or 'see its license file'}")
        folder = Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")):
                text = file.read_text(encoding="utf-8", errors="replace").strip()
                texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
    for text, users in texts.items():
        print(f"\n{'-' * 80}\n{', '.join(users)}\n\n{text}")


if __name__ == "__main__":
    kind, *names = sys.argv[1:]
    packages = shipped(metadata(), names)
    sbom(packages, names) if kind == "sbom" else licenses(packages)
