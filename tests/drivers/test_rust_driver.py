"""The Rust driver `scylla`, unmodified, from its registry: the program is in rust/. Skipped if it cannot be fetched."""
import os
import shutil

import pytest

from harness import BUILD, FEATURES, HERE, Results, build, examine

SOURCES = HERE / "rust"


@pytest.fixture(scope="module")
def found():
    results = Results("rust-scylla")
    results.need("cargo")
    folder = BUILD / "rust"
    shutil.copytree(SOURCES, folder / "source", dirs_exist_ok=True)  # cargo writes its lock file beside the manifest
    manifest = ["--manifest-path", str(folder / "source/Cargo.toml")]
    results.fetch(["cargo", "fetch", *manifest], folder, (SOURCES / "Cargo.toml").read_text(encoding="utf-8"))
    build(["cargo", "build", "--offline", *manifest], folder, env=dict(os.environ, CARGO_TARGET_DIR=str(folder / "target")))
    return examine(results, [str(folder / "target/debug/rust-client")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
