"""Checks what pip and PyPI read of the Python package: wheel.py WHEEL SDIST VERSION

The wheel is for every Python from 3.10 on (abi3) and, on Linux, for glibc from 2.17 on; it has the metadata, the licenses and the types.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from email.parser import Parser


def check(wheel: str, sdist: str, version: str) -> None:
    name = wheel.rsplit("/", 1)[-1]
    assert name.startswith(f"candor_privacy-{version}-cp310-abi3-"), name
    if sys.platform == "linux":
        # Two names of one platform, in either order.
        platforms = sorted(name.removesuffix(".whl").rsplit("-", 1)[-1].split("."))
        assert re.fullmatch(r"manylinux2014_\w+ manylinux_2_17_\w+", " ".join(platforms)), name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = f"candor_privacy-{version}.dist-info/"
        written = Parser().parsestr(archive.read(info + "METADATA").decode())
    expected = {
        "Name": "candor-privacy",
        "Version": version,
        "License-Expression": "MIT OR Apache-2.0",
        "Requires-Python": ">=3.10",
    }
    for field, value in expected.items():
        assert written[field] == value, f"{field} is {written[field]}, not {value}"
    assert written["Summary"] and "candor-privacy" in written.get_payload(), "no description"
    # Links into this repository lead nowhere on the page of PyPI.
    assert not re.search(r"\]\((?!https://)", written.get_payload()), "the description has relative links"
    assert sorted(written.get_all("License-File")) == ["LICENSE-APACHE", "LICENSE-MIT"], written.get_all("License-File")
    for file in ["candor/__init__.py", "candor/py.typed", "candor/_candor.pyi", info + "licenses/LICENSE-MIT"]:
        assert file in names, f"{file} is missing from {name}"
    boms = [file for file in names if file.startswith(info + "sboms/")]
    assert boms, "no SBOM"
    with tarfile.open(sdist) as archive:
        sources = {file.partition("/")[2] for file in archive.getnames()}
    for file in ["PKG-INFO", "python/Cargo.lock", "crates/candor-base/src/lib.rs"]:
        assert file in sources, f"{file} is missing from {sdist}"
    print(f"{name}: metadata, licenses, types and {', '.join(boms)}")


if __name__ == "__main__":
    check(*sys.argv[1:])
